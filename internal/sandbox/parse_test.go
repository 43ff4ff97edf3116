package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

func TestParseGitConfig(t *testing.T) {
	got := parseGitConfig("; c\n[core]\n\tbare = false # x\n\thooksPath = \"a b\" ; y\n[remote \"o.x\"]\nurl = ../x\\\\y\n[Alias] st = !sh\nflag\n[broken\nkey with space = 1\n[include] path = a\\\n  b\n")
	assert.Equal(t, []gitSetting{
		{"core.bare", "false"},
		{"core.hookspath", "a b"},
		{"remote.o.x.url", `../x\y`},
		{"alias.st", "!sh"},
		{"alias.flag", "true"},
		{"?", ""},
		{"?", ""},
		{"include.path", "ab"},
	}, got)
	bad, ok := harmlessGitConfig(parseGitConfig("[core]\nbare=false\n[remote \"x\"]\nurl=https://h/r\n"))
	assert.True(t, ok, bad)
	for _, text := range []string{"[core]\nfsmonitor=x", "[include]\npath=x", "[filter \"x\"]\nclean=x", "[broken", "[remote \"x\"]\nurl=ext::sh", "[url \"x\"]\ninsteadof=y"} {
		_, ok := harmlessGitConfig(parseGitConfig(text))
		assert.False(t, ok, text)
	}
	assert.Equal(t, []string{"/w/.githooks", "/w/tools/watch", "/w/.git/inc", "/home/u/x"},
		gitPrograms(parseGitConfig("[core]\nhooksPath=.githooks\nfsmonitor=tools/watch -x\neditor=vim\n[include]\npath=inc\n[includeIf \"a\"]\npath=~/x"), "/w/.git", "/w", "/home/u"))
}

func FuzzGitConfig(f *testing.F) {
	f.Add("[core]\n\thooksPath = x\\\n y\n[a \"b]\"]\nc")
	f.Add("[a]b=\"\\\"\n\ufeff[c")
	f.Fuzz(func(t *testing.T, text string) {
		s := parseGitConfig(text)
		_, _ = harmlessGitConfig(s)
		_ = gitPrograms(s, "/w/.git", "/w", "/h")
	})
}

func TestMountAliases(t *testing.T) {
	m := parseMountinfo(`27 1 254:0 / / rw - ext4 /dev/vda rw
40 27 254:0 /home/u /mnt/h rw - ext4 /dev/vda rw
41 27 254:0 /home/u/.ssh/keys /srv/a\040b rw - ext4 /dev/vda rw
42 27 0:9 / /proc rw - proc proc rw
short line
`)
	assert.Equal(t, []string{"/mnt/h/.ssh", "/srv/a b"}, mountAliasesOf("/home/u/.ssh", m))
	assert.Equal(t, []string{"/home/u/.ssh"}, mountAliasesOf("/mnt/h/.ssh", m)[:1])
	assert.Empty(t, mountAliasesOf("/proc/1", m))
	assert.Empty(t, mountAliasesOf("/x", nil))
}

func FuzzMountinfo(f *testing.F) {
	f.Add("27 1 254:0 / / rw\n40 27 254:0 /a\\040b /mnt rw", "/a b/c")
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, a := range mountAliasesOf(filepath.Join("/", path), parseMountinfo(text)) {
			_ = a
		}
	})
}

func FuzzProgram(f *testing.F) {
	p := &helper.Program{
		Flags: 3, Cwd: "/w", Argv: []string{"a"}, Env: []string{"A=b"}, Ops: []helper.Op{{Code: 1, Path: "/x", Dirs: []string{"d"}}},
		Rules: []helper.Rule{{Path: "/", Access: 7}}, Limits: []helper.Limit{{Resource: 1, Value: 2}}, Filter: []byte("12345678"),
	}
	f.Add(p.Encode())
	f.Add([]byte("lictor sandbox 1\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := helper.Decode(b)
		if err == nil {
			assert.Equal(t, b, q.Encode())
		}
	})
}

func TestProgramRoundTrip(t *testing.T) {
	p := &helper.Program{
		Flags: 9, ProxyPort: 3128, KeepCaps: 1 << 40, HandledFS: 1, HandledNet: 2, Scoped: 3, Cwd: "/w", Umask: 19, Argv: []string{"a", ""}, Env: []string{"A=b"},
		Ops:   []helper.Op{{Code: 1, Attr: 2, Mode: 3, Size: 4, Path: "/x", Source: "/y", Dirs: []string{"d"}, Files: []string{"f"}}},
		Rules: []helper.Rule{{Path: "/", Access: 7}}, Limits: []helper.Limit{{Resource: 1, Value: 2}}, Filter: []byte("12345678"),
	}
	q, err := helper.Decode(p.Encode())
	require.NoError(t, err)
	assert.Equal(t, p, q)
	for n := range len(p.Encode()) {
		_, err := helper.Decode(p.Encode()[:n])
		assert.ErrorIs(t, err, helper.ErrProgram)
	}
}

func TestScan(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"a/b/.claude/x", "a/.vscode/tasks.json", ".vscode/other.json", "n/.git/config", "node_modules/p/.git/x", "bare/HEAD", "bare/objects/x", "bare/refs/x", "deep/1/2/3/.MCP.JSON"} {
		path := filepath.Join(root, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	require.NoError(t, os.Symlink("..", filepath.Join(root, "a/loop")))
	old := time.Now().Add(-time.Hour)
	for range 2 { // from the disk, then from the cache
		s := &scanner{ctx: context.Background(), root: root, names: newNameSet(protectedNames)}
		require.NoError(t, s.walk(root, ""))
		assert.ElementsMatch(t, []string{root + "/a/b/.claude", root + "/a/.vscode/tasks.json", root + "/deep/1/2/3/.MCP.JSON"}, s.found)
		assert.ElementsMatch(t, []string{root + "/n/.git", root + "/bare"}, s.gits)
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, _ error) error {
			if d.IsDir() {
				_ = os.Chtimes(path, old, old)
			}
			return nil
		})
	}
	got, err := ExpandDeny(context.Background(), root, func(rel string, _ bool) bool {
		return strings.HasSuffix(rel, "config") || rel == "node_modules/p/.git/x"
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{root + "/n/.git/config", root + "/node_modules/p/.git/x"}, got)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = ExpandDeny(ctx, root, func(string, bool) bool { return false })
	assert.ErrorIs(t, err, context.Canceled)
	over := t.TempDir()
	for i := range MaxDenied + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(over, fmt.Sprint(i)), nil, 0o600))
	}
	_, err = ExpandDeny(context.Background(), over, func(string, bool) bool { return true })
	var oe *PathsOverflowError
	require.ErrorAs(t, err, &oe)
	require.NoError(t, os.Remove(filepath.Join(over, "0")))
	got, err = ExpandDeny(context.Background(), over, func(string, bool) bool { return true })
	require.NoError(t, err)
	assert.Len(t, got, MaxDenied)
}

func TestCapture(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 7, 10, 1000} {
		for _, chunk := range []int{1, 3, 8, 64} {
			var want strings.Builder
			c := &capture{limit: limit}
			for i := 0; i < 300; i += chunk {
				b := make([]byte, chunk)
				for j := range b {
					b[j] = byte('a' + (i+j)%26)
				}
				want.Write(b)
				n, err := c.Write(b)
				require.NoError(t, err)
				require.Equal(t, chunk, n)
			}
			o, w := c.output(), want.String()
			assert.EqualValues(t, len(w), o.Total)
			if limit == 0 || limit >= len(w) {
				assert.Equal(t, w, o.Text)
				continue
			}
			head, tail := w[:(limit+1)/2], w[len(w)-limit/2:]
			assert.Equal(t, fmt.Sprintf("%s\n[… %d bytes cut …]\n%s", head, len(w)-limit, tail), o.Text)
		}
	}
}

func TestToolchains(t *testing.T) {
	root := t.TempDir()
	in := Input{Root: root, Home: "/home/u", Sandbox: true, GOOS: "linux", Environ: []string{"PATH=:/bin:.", "GOFLAGS=-x", "GOPATH=/data/go", "GOCACHE=/data/cache", "CARGO_HOME=/c"}}
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600))
	p, err := NewPolicy(in)
	require.NoError(t, err)
	for _, w := range []string{"/home/u/go/pkg", "/home/u/.cache/go-build", "/data/go/pkg", "/data/cache"} {
		assert.Contains(t, p.Write, w)
	}
	assert.NotContains(t, p.Write, "/home/u/.cargo/registry")
	env := lookup(p.Env)
	assert.Equal(t, "-x", env["GOFLAGS"])
	assert.NotContains(t, env, "CARGO_HOME")
	assert.Equal(t, "/bin", env["PATH"], "no empty and no relative folder")
}
