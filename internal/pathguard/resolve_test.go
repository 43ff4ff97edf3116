//go:build unix

package pathguard

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// world builds a root, an outside folder and a home, and links of every kind.
func world(t testing.TB) (root, outside, home string) {
	base := realTemp(t)
	root, outside, home = filepath.Join(base, "root"), filepath.Join(base, "out"), filepath.Join(base, "home")
	tree(t, home, "notes.txt", ".config/")
	tree(t, outside, "private.txt", "deep/er/", "back -> ../root/src")
	tree(t, root,
		"src/a.ts", "src/deep/b.ts", "README.md", ".env", ".git/hooks/", "~odd",
		"in -> src", "in-file -> src/a.ts", "in-abs -> "+root+"/src",
		"up -> src/deep", "env-link.txt -> .env",
		"out-dir -> ../out", "out-abs -> "+outside, "out-deep -> ../out/deep/er",
		"dangling -> ../out/new.txt", "dangling-in -> new/file.txt", "dangling-far -> ../nowhere/x/../y",
		"loop -> loop", "loop-a -> loop-b", "loop-b -> loop-a",
		"chain1 -> chain2", "chain2 -> chain3", "chain3 -> src/a.ts",
		"round -> ../out/back", "top -> /", "dot -> .", "slash -> src/", "file-slash -> src/a.ts/",
		"git -> .git", ".git/hooks/pre-commit -> ../../src/a.ts",
		"self-abs -> "+root,
	)
	return root, outside, home
}

// want is the expected path; <root>, <out>, <home> stand for the folders.
type want struct {
	rel, real string // real: relative to the root if inside, else absolute
	inside    bool
	realIn    bool
	moved     bool
	place     string
}

func TestResolve(t *testing.T) {
	root, outside, home := world(t)
	g := newGuard(t, root, WithHome(home), WithFold(false))
	fill := strings.NewReplacer("<root>", root, "<out>", outside, "<home>", home)
	in := func(rel string) want { return want{rel: rel, real: rel, inside: true, realIn: true} }
	to := func(rel, real string) want {
		return want{rel: rel, real: real, inside: true, realIn: true, moved: true}
	}
	away := func(rel, real string) want { return want{rel: rel, real: real, inside: true, moved: true} }
	out := func(p string) want { return want{rel: p, real: p} }

	for _, c := range []struct {
		path, cwd string
		want      want
	}{
		{"", "", in(".")},
		{".", "", in(".")},
		{"./", "", in(".")},
		{"<root>", "", in(".")},
		{"<root>/", "", in(".")},
		{"src/a.ts", "", in("src/a.ts")},
		{"./src//a.ts", "", in("src/a.ts")},
		{"src/a.ts/", "", in("src/a.ts")},
		{"<root>/src/a.ts", "", in("src/a.ts")},
		{"a.ts", "src", in("src/a.ts")},
		{"a.ts", "<root>/src", in("src/a.ts")},
		{"", "src", in("src")},
		{"../README.md", "src", in("README.md")},
		{"src/../README.md", "", in("README.md")},
		{"new/dir/file.ts", "", in("new/dir/file.ts")},
		{"new/../src/a.ts", "", in("src/a.ts")},
		{"new/../in/a.ts", "", to("in/a.ts", "src/a.ts")},
		{"new/x/../../out-dir/y", "", away("out-dir/y", "<out>/y")},
		{"src/a.ts/below-a-file", "", in("src/a.ts/below-a-file")},
		{"a\nb", "", in("a\nb")},
		{"a\\b", "", in("a\\b")},
		{"...", "", in("...")},

		// links
		{"in", "", to("in", "src")},
		{"in/", "", to("in", "src")},
		{"in/a.ts", "", to("in/a.ts", "src/a.ts")},
		{"in-abs/new.ts", "", to("in-abs/new.ts", "src/new.ts")},
		{"chain1", "", to("chain1", "src/a.ts")},
		{"env-link.txt", "", to("env-link.txt", ".env")},
		{"dot/dot/dot/src", "", to("dot/dot/dot/src", "src")},
		{"slash/a.ts", "", to("slash/a.ts", "src/a.ts")},
		{"file-slash", "", to("file-slash", "src/a.ts")},
		{"round/a.ts", "", to("round/a.ts", "src/a.ts")},
		{"top" + root + "/src/a.ts", "", to("top"+root+"/src/a.ts", "src/a.ts")},
		{"self-abs/src", "", to("self-abs/src", "src")},
		{"out-dir/private.txt", "", away("out-dir/private.txt", "<out>/private.txt")},
		{"out-abs/new/file", "", away("out-abs/new/file", "<out>/new/file")},
		{"top", "", away("top", "/")},
		{"private.txt", "out-dir", away("out-dir/private.txt", "<out>/private.txt")},

		// dangling links lead to where a write creates the file
		{"dangling", "", away("dangling", "<out>/new.txt")},
		{"dangling-in", "", to("dangling-in", "new/file.txt")},
		{"dangling-far", "", away("dangling-far", filepath.Dir(root)+"/nowhere/y")},

		// ".." after a link: the text says inside, the kernel goes elsewhere
		{"out-dir/../root/src/a.ts", "", to("root/src/a.ts", "src/a.ts")},
		{"out-dir/..", "", away(".", filepath.Dir(root))},
		{"out-deep/../../private.txt", "", away("../private.txt", "")},
		{"out-deep/../x", "", away("x", "<out>/deep/x")},
		{"up/../a.ts", "", to("a.ts", "src/a.ts")},
		{"../a.ts", "up", to("a.ts", "src/a.ts")},
		{"src/../in/a.ts", "", to("in/a.ts", "src/a.ts")},

		// outside as written
		{"..", "", out(filepath.Dir(root))},
		{"../out/private.txt", "", out("<out>/private.txt")},
		{"/etc/../etc//hostname-none", "", out("/etc/hostname-none")},
		{"<root>-sibling/x", "", out("<root>-sibling/x")},
		{"<root>/../rootx", "", out(filepath.Dir(root) + "/rootx")},
		{"../out/back/a.ts", "", want{rel: "<out>/back/a.ts", real: "src/a.ts", realIn: true, moved: true}},
		{"/", "", out("/")},
		{"/../..", "", out("/")},

		// home
		{"~", "", out("<home>")},
		{"~/", "", out("<home>")},
		{"~/notes.txt", "src", out("<home>/notes.txt")},
		{"~/../root/src", "", in("src")},
		{"~odd", "", in("~odd")},
		{"~$doc.docx", "", in("~$doc.docx")},
		{"./~nobody/x", "", in("~nobody/x")},
		{"src/~", "", in("src/~")},

		// the entry itself lies in a protected folder, which only Place shows
		{"git/hooks/pre-commit", "", want{rel: "git/hooks/pre-commit", real: "src/a.ts", inside: true, realIn: true, moved: true, place: ".git/hooks/pre-commit"}},
	} {
		t.Run(c.cwd+"|"+c.path, func(t *testing.T) {
			text := fill.Replace(c.path)
			p, err := g.Resolve(text, fill.Replace(c.cwd))
			require.NoError(t, err)
			rel, real := fill.Replace(c.want.rel), fill.Replace(c.want.real)
			if c.path == "out-deep/../../private.txt" { // leaves the root as text, too
				rel, real = filepath.Dir(root)+"/private.txt", outside+"/private.txt"
				c.want.inside = false
			}
			w := model.Path{
				Text: text, Rel: rel, Abs: filepath.Join(root, rel), Real: filepath.Join(root, real), RealRel: real,
				Inside: c.want.inside, RealInside: c.want.realIn, Moved: c.want.moved, Place: c.want.place,
			}
			if !w.Inside {
				w.Abs = rel
			}
			if !w.RealInside {
				w.Real = real
			}
			assert.Equal(t, w, p)
		})
	}
}

func TestResolveErrors(t *testing.T) {
	root, _, home := world(t)
	tree(t, root, "secret-link -> .env", "other/deep/", "d -> other/deep", "other/secret-link")
	g := newGuard(t, root, WithHome(home))
	for _, c := range []struct {
		path, cwd string
		is        error
	}{
		{"loop", "", syscall.ELOOP},
		{"loop/x", "", syscall.ELOOP},
		{"loop-a", "", syscall.ELOOP},
		{"loop/../src/a.ts", "", syscall.ELOOP},
		{"x", "loop", syscall.ELOOP},
		{strings.Repeat("n", 256), "", syscall.ENAMETOOLONG},
		{strings.Repeat("a/", 9000), "", syscall.ENAMETOOLONG},
		{"x", strings.Repeat("a/", 9000), syscall.ENAMETOOLONG},
		{"d/../secret-link", "", ErrAmbiguous},
		{"d/../in/a.ts", "", ErrAmbiguous},
		{"d/../loop", "", syscall.ELOOP},
	} {
		p, err := g.Resolve(c.path, c.cwd)
		var e *ResolveError
		require.ErrorAs(t, err, &e, c.path)
		assert.ErrorIs(t, err, c.is, c.path)
		assert.False(t, p.RealInside, c.path)
		assert.Less(t, len(err.Error()), 2000)
		_, err = g.MustInside(c.path, c.cwd)
		assert.ErrorAs(t, err, &e, c.path)
	}
	for _, c := range [][2]string{{"a\x00b", ""}, {"\x00", ""}, {"a", "b\x00"}, {"~nobody/x", ""}, {"~root", ""}} {
		_, err := g.Resolve(c[0], c[1])
		var e *InputError
		assert.ErrorAs(t, err, &e, "%q", c)
	}
	_, err := newGuard(t, root).Resolve("~/x", "")
	assert.ErrorAs(t, err, new(*InputError))
	assert.Contains(t, err.Error(), "home")
}

func TestLinkLimit(t *testing.T) {
	root := realTemp(t)
	tree(t, root, "l0")
	for i := 1; i <= maxLinks+1; i++ {
		tree(t, root, "l"+string(rune('A'+i))+" -> "+map[bool]string{true: "l0", false: "l" + string(rune('A'+i-1))}[i == 1])
	}
	g := newGuard(t, root)
	for i, ok := range map[int]bool{maxLinks: true, maxLinks + 1: false} {
		name := "l" + string(rune('A'+i))
		p, err := g.Resolve(name, "")
		_, kernel := os.Stat(filepath.Join(root, name))
		assert.Equal(t, ok, err == nil, "%d links", i)
		if p.RealInside {
			assert.NoError(t, kernel)
		}
	}
}

func TestRootIsLink(t *testing.T) {
	base := realTemp(t)
	tree(t, base, "real/src/a.ts", "link -> real", "elsewhere/x")
	tree(t, filepath.Join(base, "real"), "out -> ../elsewhere")
	g := newGuard(t, filepath.Join(base, "link"))
	assert.Equal(t, base+"/link", g.Root())
	assert.Equal(t, base+"/real", g.RealRoot())

	for _, text := range []string{"src/a.ts", base + "/link/src/a.ts", base + "/real/src/a.ts"} {
		p, err := g.Resolve(text, "")
		require.NoError(t, err)
		assert.True(t, p.Inside && p.RealInside && !p.Moved, "%+v", p)
		assert.Equal(t, "src/a.ts", p.Rel)
		assert.Equal(t, "src/a.ts", p.RealRel)
	}
	p, err := g.Resolve("..", "")
	require.NoError(t, err)
	assert.False(t, p.Inside || p.RealInside)
	p, err = g.Resolve("out/x", "")
	require.NoError(t, err)
	assert.True(t, p.Inside && !p.RealInside && p.Moved)
}

// A root that becomes a link after the start leads out of the root.
func TestRootSwapped(t *testing.T) {
	base := realTemp(t)
	tree(t, base, "root/a", "evil/a")
	g := newGuard(t, base+"/root")
	require.NoError(t, os.Rename(base+"/root", base+"/old"))
	require.NoError(t, os.Symlink("evil", base+"/root"))
	p, err := g.Resolve("a", "")
	require.NoError(t, err)
	assert.False(t, p.RealInside, "%+v", p)
	assert.Equal(t, base+"/evil/a", p.Real)
}

func TestSpecialFiles(t *testing.T) {
	root := realTemp(t)
	require.NoError(t, syscall.Mkfifo(root+"/fifo", 0o600))
	tree(t, root, "to-fifo -> fifo", "null -> /dev/null")
	g := newGuard(t, root)
	p, err := g.Resolve("to-fifo", "") // must not open it: that would hang
	require.NoError(t, err)
	assert.Equal(t, "fifo", p.RealRel)
	p, err = g.Resolve("null", "")
	require.NoError(t, err)
	assert.False(t, p.RealInside)
	p, err = g.Resolve("fifo/x", "")
	require.NoError(t, err)
	assert.Equal(t, "fifo/x", p.RealRel)
}

func TestNewRefuses(t *testing.T) {
	base := realTemp(t)
	tree(t, base, "file", "home/u/", "gone -> nowhere", "loop -> loop", "home-link -> home/u")
	home := base + "/home/u"
	for _, root := range []string{"", "\x00", base + "/none", base + "/file", base + "/gone", base + "/loop", "/", "/..", home, base + "/home", base + "/home-link", base} {
		_, err := New(root, WithHome(home))
		var e *RootError
		assert.ErrorAs(t, err, &e, "%q", root)
	}
	_, err := New(base+"/home", WithHome("relative"))
	assert.Error(t, err)
	_, err = New(base+"/home/u", WithHome(base+"/not-there"))
	assert.NoError(t, err)
}

func TestFold(t *testing.T) {
	base := realTemp(t)
	tree(t, base, "Root/a.ts", "Café/x")
	// The disk of the test may tell letter case apart; one that does not would
	// say that these are the root.
	g := newGuard(t, base+"/Root", WithFold(true))
	g.same = func(string) bool { return true }
	for text, rel := range map[string]string{base + "/ROOT/A.ts": "A.ts", base + "/root": ".", base + "/rooT/b": "b"} {
		p, err := g.Resolve(text, "")
		require.NoError(t, err)
		assert.True(t, p.Inside && p.RealInside, text)
		assert.Equal(t, rel, p.Rel)
	}
	p, err := g.Resolve(base+"/rootx", "")
	require.NoError(t, err)
	assert.False(t, p.Inside)
	// The two normal forms of é.
	g = newGuard(t, base+"/Café", WithFold(true))
	g.same = func(string) bool { return true }
	p, err = g.Resolve(base+"/CAFE\u0301/x", "")
	require.NoError(t, err)
	assert.True(t, p.Inside)

	// A sibling that differs only in letter case is another folder.
	tree(t, base, "Sib/a", "sIB/a")
	if entries, err := os.ReadDir(base); err == nil && len(entries) == 4 {
		p, err = newGuard(t, base+"/Sib", WithFold(true)).Resolve("../sIB/a", "")
		require.NoError(t, err)
		assert.False(t, p.Inside || p.RealInside)
	}

	g = newGuard(t, base+"/Root", WithFold(false))
	p, err = g.Resolve(base+"/ROOT/a.ts", "")
	require.NoError(t, err)
	assert.False(t, p.Inside)
}

func TestFilter(t *testing.T) {
	root, _, _ := world(t)
	g := newGuard(t, root)
	got := g.Filter([]string{"src/a.ts", "out-dir/private.txt", "loop", ".env", "env-link.txt", "in/a.ts", "../out/private.txt", "a\x00", "README.md", "new"},
		func(p model.Path) bool { return Sensitive(p.Rel, false) || Sensitive(p.RealRel, false) })
	assert.Equal(t, []string{"src/a.ts", "in/a.ts", "README.md", "new"}, got)
	assert.Equal(t, []string{".env"}, g.Filter([]string{".env", "top"}, nil))
	assert.Empty(t, g.Filter(nil, nil))
}

func TestDisplay(t *testing.T) {
	root, _, home := world(t)
	g := newGuard(t, root, WithHome(home))
	for text, want := range map[string]string{
		"src/a.ts": "src/a.ts", "": ".", "~": "~", "~/notes.txt": "~/notes.txt", "/etc/passwd": "/etc/passwd", home + "x": home + "x",
		"a\x1b[31mb": `a\x1b[31mb`, "a\nb\\c": `a\nb\\c`, `a\b`: `a\b`, "x\u202etxt.exe": `x\u202etxt.exe`, "a\u200bb": `a\u200bb`,
		"bad\xffutf": `bad\xffutf`, "grün/日本": "grün/日本", "a\u00a0b": `a\u00a0b`, "t\tr\r": `t\tr\r`, "\U000e0041": `\U000e0041`, "\u3164": `\u3164`,
	} {
		p, err := g.Resolve(text, "")
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, g.Display(p))
	}
	p, err := g.Resolve("env-link.txt", "")
	require.NoError(t, err)
	assert.Equal(t, ".env", g.DisplayReal(p))
	p, err = g.Resolve("dangling", "")
	require.NoError(t, err)
	assert.Equal(t, p.Real, g.DisplayReal(p))
}

// Walks share pooled buffers; concurrent ones must not see each other.
func TestConcurrent(t *testing.T) {
	root, _, home := world(t)
	g := newGuard(t, root, WithHome(home))
	var wg sync.WaitGroup
	for _, c := range [][2]string{{"src/a.ts", "src/a.ts"}, {"in/new", "src/new"}, {"chain1", "src/a.ts"}, {"dangling-in", "new/file.txt"}, {"round/x", "src/x"}} {
		wg.Go(func() {
			for range 500 {
				p, err := g.Resolve(c[0], "")
				if !assert.NoError(t, err) || !assert.Equal(t, c[1], p.RealRel) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestResolveAllocations(t *testing.T) {
	root, _, _ := world(t)
	g := newGuard(t, root, WithFold(false))
	got := testing.AllocsPerRun(200, func() {
		if p, err := g.Resolve("src/deep/b.ts", ""); err != nil || Sensitive(p.Rel, false) || Protected(p.Rel, false) {
			t.Error(p, err)
		}
	})
	assert.LessOrEqual(t, got, 4.0) // the joined path, the look at the root; two to spare for the race detector
}
