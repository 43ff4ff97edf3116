package rules

import (
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

func TestStringGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text    string
		permission, want bool
	}{
		{"*", "", true, true},
		{"*", "a\nb", true, true},
		{"go *", "go", true, true},
		{"go *", "go test", true, true},
		{"go *", "gofmt", true, false},
		{"go*", "gofmt", true, true},
		{"* *", "", true, true}, // "* *" also matches what "*" matches
		{"a*a", "a", true, false},
		{"a*a", "aa", true, true},
		{"*ab*ab", "abab", true, true},
		{"*ab*ab", "abxab", true, true},
		{"*ab*ab", "ab", true, false},
		{"a?c", "aéc", true, true},
		{"a?c", "a?c", false, true},
		{"a?c", "abc", false, false},
		{"?*?", "a", true, false},
		{"?*?", "ab", true, true},
		{"*?b*", "ab", true, true},
		{"", "", true, true},
		{"", "a", true, false},
		{"git push *--force*", "git push origin main --force", true, true},
		{"a\nb *", "a\nb", true, true},
	} {
		assert.Equal(t, c.want, newStringGlob(c.pattern, c.permission).match(c.text), "%q on %q", c.pattern, c.text)
	}
}

// FuzzStringGlob compares the glob with a regular expression.
func FuzzStringGlob(f *testing.F) {
	f.Add("go *", "go test", true)
	f.Add("*a?b*", "xaab", true)
	f.Add("a * b *", "a  b", false)
	f.Fuzz(func(t *testing.T, pattern, text string, question bool) {
		if len(pattern) > 60 || len(text) > 200 || !asciiOnly(pattern+text) {
			return
		}
		got := newStringGlob(pattern, question).match(text)
		match := func(p string) bool {
			p = regexp.QuoteMeta(p)
			p = strings.ReplaceAll(p, `\*`, `.*`)
			if question {
				p = strings.ReplaceAll(p, `\?`, `.`)
			}
			return regexp.MustCompile(`(?s)^` + p + `$`).MatchString(text)
		}
		want := match(pattern)
		if head, ok := strings.CutSuffix(pattern, " *"); ok {
			want = want || match(head)
		}
		if got != want {
			t.Fatalf("%q on %q: %v, the regular expression says %v", pattern, text, got, want)
		}
		prefix, suffix := newStringGlob(pattern, question).keys()
		if got && (!strings.HasPrefix(text, prefix) || !strings.HasSuffix(text, suffix)) {
			t.Fatalf("%q matches %q, but its keys %q and %q do not", pattern, text, prefix, suffix)
		}
	})
}

func asciiOnly(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e })
}

func TestSettingsPathGlob(t *testing.T) {
	env := Env{Root: "/srv/root", Home: "/home/me"}
	for _, c := range []struct {
		pattern, path string
		allow, deny   bool
	}{
		{"*", "a/b", true, true},
		{".env", ".env", true, true},
		{".env", "a/b/.env", true, true},
		{".env", ".env/x", false, false},
		{"*.pem", "deep/er/k.pem", true, true},
		{"/.env", "a/.env", false, false},
		{"/.env", ".env", true, true},
		{"./a", "a", true, true},
		{"src/**", "src/a/b", true, true},
		{"src/**", "src", false, true},
		{"src/**", "src2/a", false, false},
		{"src/**.ts", "src/a/b.ts", true, true},
		{"src/**.ts", "src/b.ts", true, true},
		{"a**b", "x/a/c/b", true, true},
		{"src/*", "src/a/b", false, false},
		{"src/a?c", "src/abc", true, true},
		{"src/[ab]", "src/[ab]", true, true},
		{"src/[ab]", "src/a", false, false},
		{"src/{a}", "src/{a}", true, true},
		{"src/", "src/a", false, true},
		{"src/", "src", true, true},
		{"**", ".", true, true},
		{"**", "a", true, true},
		{"a/../b", "b", true, true},
		{"/etc/x", "etc/x", true, true},
		{"secret/**", "secret/a\nb", true, true},
	} {
		for _, wide := range []bool{false, true} {
			globs, err := newPaths(env).settings(c.pattern, wide)
			require.NoError(t, err)
			rel := c.path
			if rel == "." {
				rel = ""
			}
			want := c.allow
			if wide {
				want = c.deny
			}
			assert.Equal(t, want, anyHits(globs, &form{in: true, rel: rel, abs: "srv/root/" + rel}, wide), "%q on %q, wide %v", c.pattern, c.path, wide)
		}
	}
}

func TestSettingsPathGlobOutside(t *testing.T) {
	env := Env{Root: "/srv/root", Home: "/home/me"}
	for _, c := range []struct {
		pattern, abs string
		allow, deny  bool
	}{
		{"/etc/x", "etc/x", false, true}, // anchored at the root; a prohibition is read both ways
		{"//etc/x", "etc/x", true, true},
		{"~/notes/**", "home/me/notes/a", true, true},
		{".env", "other/.env", false, true},
		{"**", "other/x", false, true},
		{"src/**", "other/src/x", false, false},
		{"../sib/**", "srv/sib/x", true, true},
	} {
		for _, wide := range []bool{false, true} {
			globs, err := newPaths(env).settings(c.pattern, wide)
			require.NoError(t, err)
			want := c.allow
			if wide {
				want = c.deny
			}
			assert.Equal(t, want, anyHits(globs, &form{abs: c.abs}, wide), "%q on %q, wide %v", c.pattern, c.abs, wide)
		}
	}
}

func TestPermissionPathGlob(t *testing.T) {
	p := newPaths(Env{Root: "/srv/[root]", Home: "/home/me"})
	for _, c := range []struct {
		pattern string
		f       form
		want    bool
	}{
		{"dir/**", form{in: true, rel: "dir"}, true},
		{"dir/**", form{in: true, rel: "dir/a/b"}, true},
		{"./dir/", form{in: true, rel: "dir"}, true},
		{"*.go", form{in: true, rel: "a/b.go"}, false},
		{"**/*.go", form{in: true, rel: "b.go"}, true},
		{"{a,b/**}/c", form{in: true, rel: "b/x/y/c"}, true},
		{"{a,b/**}/c", form{in: true, rel: "b/c"}, true},
		{"[a-c]x", form{in: true, rel: "bx"}, true},
		{"[!a-c]x", form{in: true, rel: "bx"}, false},
		{`\*`, form{in: true, rel: "*"}, true},
		{`\*`, form{in: true, rel: "x"}, false},
		{"/srv/[root]/**", form{in: true, rel: "a"}, true},
		{`/srv/\[root\]/**`, form{in: true, rel: ""}, true},
		{"/srv/*/**", form{in: true, rel: "a", abs: "srv/[root]/a"}, true},
		{"~/x/**", form{abs: "home/me/x/y"}, true},
		{"~/x/**", form{in: true, rel: "~/x/y", abs: "srv/[root]/~/x/y"}, false},
		{"../sib/**", form{abs: "srv/sib/k"}, true},
		{"..secret", form{in: true, rel: "..secret"}, true},
		{"/etc/**", form{abs: "etc"}, true},
		{"a/**/b", form{in: true, rel: "a/b"}, true},
		{"a**b", form{in: true, rel: "axyb"}, true},
		{"a**b", form{in: true, rel: "a/b"}, false},
	} {
		globs, err := p.permission(c.pattern)
		require.NoError(t, err)
		assert.Equal(t, c.want, anyHits(globs, &c.f, false), "%q on %+v", c.pattern, c.f)
	}
	for _, bad := range []string{"a[", "a{b", "a}", `a\`, "[]", "a[b-"} {
		_, err := p.permission(bad)
		assert.ErrorIs(t, err, errBadGlob, bad)
	}
	_, err := p.permission(strings.Repeat("{a,b}", 12))
	assert.ErrorContains(t, err, "more than 256 patterns")
}

// FuzzPathGlob compares permission-file patterns with doublestar.
func FuzzPathGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"dir/**", "dir"},
		{"**/*.go", "a/b.go"},
		{"{a,b/**}/c", "b/x/c"},
		{"[a-c]?x", "bbx"},
		{"a*/**/b*", "aa/x/b"},
		{`\*x`, "*x"},
		{"**/a/**", "x/a"},
		{"{,a}b", "ab"},
		{"[^x]", "y"},
		{"{a*,**/b}", "x/b"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) { comparePathGlob(t, pattern, name) })
}

// comparePathGlob compares one pattern on one clean relative path. Two readings
// differ on purpose: a class never matches a slash, and repeated stars are one; and
// `a*/**` matches `a` too, as `dir/**` matches `dir`.
func comparePathGlob(t *testing.T, pattern, name string) {
	t.Helper()
	if len(pattern) > 80 || len(name) > 200 || !asciiOnly(pattern+name) || strings.ContainsAny(pattern, "~") {
		return
	}
	if name = path.Clean(name); name == "." || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") {
		return
	}
	globs, err := newPaths(Env{}).permission(pattern)
	if err != nil {
		if err == errBadGlob && doublestar.ValidatePattern(pattern) {
			t.Fatalf("%q is refused", pattern)
		}
		return
	}
	got := anyHits(globs, &form{in: true, rel: name}, false)
	for _, g := range globs {
		prefix, suffix := g.keys()
		if !g.absolute && g.match(name) && (!strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, suffix)) {
			t.Fatalf("%q matches %q, but its keys %q and %q do not", pattern, name, prefix, suffix)
		}
	}
	texts, err := expandBraces(pattern)
	if err != nil {
		return
	}
	want := false
	for _, text := range texts {
		clean := path.Clean(strings.ReplaceAll(text, `\/`, "/"))
		if strings.Contains(clean, "**/**") || strings.Contains(clean, "***") || strings.HasSuffix(clean, "*/**") || strings.Contains(clean, "[") || strings.HasPrefix(clean, "/") || strings.HasPrefix(clean, "..") || text == "" || strings.TrimSpace(text) == "" {
			return
		}
		want = want || doublestar.MatchUnvalidated(clean, name)
	}
	if got != want {
		t.Fatalf("%q on %q: %v, doublestar says %v", pattern, name, got, want)
	}
}

func TestPathGlobAgreesWithDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bits := []string{"a", "b", "/", "/", "*", "**", "?", "{a,b}", "{,a/}", `\*`, "**/", "/**", "{a,**}"}
	names := []string{"a", "b", "/", "/", "ab", "*"}
	build := func(from []string, n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	for range 60000 {
		comparePathGlob(t, build(bits, 7), build(names, 8))
	}
}

func TestNoPatternIsSlow(t *testing.T) {
	long := strings.Repeat("a", 4000)
	deep := strings.Repeat("a/", 2000) + "b"
	start := time.Now()
	assert.False(t, newStringGlob(strings.Repeat("*a", 400)+"*b", true).match(long))
	assert.False(t, newStringGlob(strings.Repeat("*a?", 400)+"*b", true).match(long))
	p := newPaths(Env{Root: "/r"})
	for _, pattern := range []string{
		strings.Repeat("*a", 100) + "*b",
		strings.Repeat("**/a/", 100) + "**/c",
		strings.Repeat("**/*a*/", 100) + "c",
		"{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}*b",
	} {
		globs, err := p.permission(pattern)
		require.NoError(t, err)
		assert.False(t, anyHits(globs, &form{in: true, rel: long}, true))
		assert.False(t, anyHits(globs, &form{in: true, rel: deep + "/x"}, true))
		globs, err = p.settings(strings.NewReplacer("{a,a}", "a").Replace(pattern), true)
		require.NoError(t, err)
		assert.False(t, anyHits(globs, &form{in: true, rel: deep + "/x"}, true))
	}
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestBracesFillNoMemory(t *testing.T) {
	var rules []model.Rule
	for range 4000 {
		r, err := Parse("Read("+strings.Repeat("{a,b}", 8)+")", model.SyntaxPermissions, model.EffectDeny, "big.json")
		require.NoError(t, err)
		rules = append(rules, r)
	}
	_, _, err := Compile(rules, Env{Root: "/r"})
	require.ErrorIs(t, err, errTooMany)
	assert.ErrorContains(t, err, "big.json")
}

func TestFoldInto(t *testing.T) {
	var buf []byte
	assert.Equal(t, "ab", foldInto(&buf, "AB"))
	assert.Equal(t, pathguard.FoldName("ÄB"), foldInto(&buf, "ÄB"))
}
