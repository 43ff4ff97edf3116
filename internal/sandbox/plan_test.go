package sandbox

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// entriesOf builds Facts by hand: the value says what an entry is ("dir", "file",
// "link:target").
func entriesOf(entries map[string]string) map[string]Entry {
	out := map[string]Entry{}
	for path, kind := range entries {
		k, target, _ := strings.Cut(kind, ":")
		out[path] = Entry{Kind: k, Target: target}
	}
	return out
}

func basic(change func(*Input)) *ExecPolicy {
	in := Input{Root: "/repo", Home: "/home/u", Sandbox: true, GOOS: "linux", Environ: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Minute, Exists: func(string) bool { return false }}
	if change != nil {
		change(&in)
	}
	p, err := NewPolicy(in)
	if err != nil {
		panic(err)
	}
	return p
}

var plans = []struct {
	name   string
	policy func(*Input)
	facts  Facts
}{
	{"empty", nil, Facts{Entries: entriesOf(map[string]string{"/repo": "dir", "/tmp": "dir", "/home/u": "dir"})}},
	{"repository", nil, Facts{
		Entries: entriesOf(map[string]string{
			"/repo": "dir", "/repo/.git": "dir", "/repo/.git/hooks": "dir", "/repo/.git/config": "file", "/repo/.git/modules": "dir",
			"/repo/.claude": "dir", "/tmp": "dir", "/home/u/.cache": "dir", "/home/u/.ssh": "dir", "/home/u/.netrc": "file", "/home/u/.lictor/audit": "dir",
		}),
		Repos: []Repo{{Path: "/repo/.git", Kind: "dir", GitDir: "/repo/.git", CommonDir: "/repo/.git"}},
		Found: []string{"/repo/.claude"},
	}},
	{"strict", func(in *Input) { in.Strict = true }, Facts{
		Entries: entriesOf(map[string]string{"/repo": "dir", "/repo/.git": "dir", "/repo/.git/hooks": "dir", "/tmp": "dir"}),
		Repos:   []Repo{{Path: "/repo/.git", Kind: "dir", GitDir: "/repo/.git", CommonDir: "/repo/.git"}},
	}},
	{"plan mode", func(in *Input) { in.ReadOnlyRoot = true; in.WritePaths = []string{"build", "/data"} }, Facts{
		Entries: entriesOf(map[string]string{"/repo": "dir", "/repo/build": "dir", "/data": "dir", "/tmp": "dir"}),
	}},
	{"nested", nil, Facts{
		Entries: entriesOf(map[string]string{
			"/repo": "dir", "/repo/a": "dir", "/repo/a/b": "dir", "/repo/a/b/.git": "dir", "/repo/a/b/.git/config": "file", "/repo/a/b/.git/hooks": "dir",
			"/repo/s": "dir", "/repo/s/.git": "file", "/repo/x/.codex": "dir", "/repo/secret": "dir", "/repo/d/plan.txt": "file",
		}),
		Repos:  []Repo{{Path: "/repo/a/b/.git", Kind: "dir", GitDir: "/repo/a/b/.git", CommonDir: "/repo/a/b/.git"}, {Path: "/repo/s/.git", Kind: "file"}},
		Found:  []string{"/repo/x/.codex"},
		Denied: []string{"/repo/secret", "/repo/d/plan.txt"},
	}},
	{"links", func(in *Input) { in.DenyRead = []string{"~/dots"} }, Facts{
		Entries: entriesOf(map[string]string{
			"/repo": "dir", "/repo/.claude": "link:/repo/conf", "/repo/conf": "dir", "/repo/.codex": "link:/opt/shared", "/opt/shared": "dir",
			"/repo/.gemini": "link:", "/home/u/.ssh": "link:/home/u/keys", "/home/u/keys": "dir", "/home/u/.aws": "link:/repo/aws", "/repo/aws": "dir",
		}),
		Found: []string{"/repo/.claude", "/repo/.codex", "/repo/.gemini"},
	}},
	{"root in a temp folder", func(in *Input) { in.Root, in.Home = "/tmp/t/w", "/tmp/t/home" }, Facts{
		Entries: entriesOf(map[string]string{"/tmp/t/w": "dir", "/tmp": "dir", "/var/tmp": "dir", "/tmp/t": "dir", "/tmp/t/home/.ssh": "dir", "/tmp/t/home/.cache": "dir"}),
	}},
	{"aliases", nil, Facts{
		Entries: entriesOf(map[string]string{"/repo": "dir", "/home/u/.ssh": "dir", "/mnt/h/.ssh": "dir", "/repo/k": "file", "/repo/cl": "file", "/repo/.git/config": "file"}),
		Aliases: []Alias{
			{Of: "/home/u/.ssh", Path: "/mnt/h/.ssh", Why: "mount", Unreadable: true},
			{Of: "/home/u/.netrc", Path: "/repo/k", Why: "hard link", Unreadable: true},
			{Of: "/repo/.git/config", Path: "/repo/cl", Why: "hard link"},
		},
	}},
	{"path folder and holes", func(in *Input) {
		in.WritePaths = []string{"/home/u/.docker/cli", "/run/user/1/x"}
	}, Facts{
		Entries:  entriesOf(map[string]string{"/repo": "dir", "/repo/bin": "dir", "/home/u/.docker": "dir", "/home/u/.docker/cli": "dir", "/run/user/1/x": "dir", "/run/wrappers": "dir"}),
		PathDirs: []string{"/repo/bin", "/usr/bin"}, Run: []string{"/run/wrappers"},
	}},
	{"worktree", nil, Facts{
		Entries: entriesOf(map[string]string{
			"/repo": "dir", "/repo/.git": "file", "/main/.git": "dir", "/main/.git/config": "file", "/main/.git/hooks": "dir", "/main/.git/worktrees": "dir",
			"/main/.git/worktrees/repo": "dir", "/main/.git/worktrees/repo/commondir": "file", "/main/.git/worktrees/repo/gitdir": "file",
		}),
		Repos: []Repo{{Path: "/repo/.git", Kind: "file", GitDir: "/main/.git/worktrees/repo", CommonDir: "/main/.git"}},
	}},
}

func TestPlanGolden(t *testing.T) {
	for _, c := range plans {
		t.Run(c.name, func(t *testing.T) {
			p := basic(c.policy)
			if p.PrivateTemp != "" {
				p.PrivateTemp = "/tmp/lictor-0/project"
			}
			f := c.facts
			if f.Real == nil {
				f.Real = map[string]string{}
			}
			pl, err := MakePlan(p, &f)
			require.NoError(t, err)
			again, err := MakePlan(p, &f)
			require.NoError(t, err)
			assert.Equal(t, pl, again, "a plan is a function of its inputs")
			pl.Env = nil
			b, err := json.MarshalIndent(pl, "", "  ")
			require.NoError(t, err)
			golden(t, "plan-"+strings.ReplaceAll(c.name, " ", "-")+".json", string(b)+"\n")
			golden(t, "plan-"+strings.ReplaceAll(c.name, " ", "-")+".txt", pl.String())
			golden(t, "seatbelt-"+strings.ReplaceAll(c.name, " ", "-")+".sb", SeatbeltProfile(p, pl, 4128).Text)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, name)
}

// What must hold for every plan, whatever its inputs.
func TestPlanInvariants(t *testing.T) {
	for _, c := range plans {
		p := basic(c.policy)
		f := c.facts
		f.Real = map[string]string{}
		pl, err := MakePlan(p, &f)
		require.NoError(t, err)
		seen := map[string]bool{}
		for i, m := range pl.Mounts {
			assert.False(t, seen[m.Path], "%s: %s twice", c.name, m.Path)
			seen[m.Path] = true
			for _, o := range pl.Mounts[:i] {
				assert.False(t, within(o.Path, m.Path), "%s: %s comes after %s", c.name, m.Path, o.Path)
			}
			if m.Kind != Read && m.Kind != Mask {
				continue
			}
			for dir := filepath.Dir(m.Path); dir != "/"; dir = filepath.Dir(dir) {
				writer := pl.writerOf(m.Path)
				if writer == "" || len(dir) <= len(writer) {
					break
				}
				assert.True(t, seen[dir], "%s: %s can be moved aside with %s", c.name, m.Path, dir)
			}
		}
	}
}

// writerOf is the deepest writable mount above path.
func (pl *Plan) writerOf(path string) string {
	best := ""
	for _, m := range pl.Mounts {
		if m.Kind == Write && m.Source == "" && within(path, m.Path) && m.Path != path && len(m.Path) > len(best) {
			best = m.Path
		}
	}
	return best
}

// A folder that the settings name and that is missing is told; a cache is not.
func TestPlanTellsOfMissingWritePaths(t *testing.T) {
	pl, err := MakePlan(basic(func(in *Input) { in.WritePaths = []string{"/data", "/nodata"} }),
		&Facts{Entries: entriesOf(map[string]string{"/repo": "dir", "/data": "dir"}), Real: map[string]string{}})
	require.NoError(t, err)
	assert.Equal(t, []string{"sandbox.writePaths: /nodata does not exist, so commands cannot write there: make it first"}, pl.Notices)
}

func TestPlanErrors(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"relative root":    {Input{Root: "x", Home: "/home/u"}, "clean absolute"},
		"root is home":     {Input{Root: "/home/u", Home: "/home/u"}, "home folder"},
		"root is /":        {Input{Root: "/", Home: "/home/u"}, "home folder"},
		"write path home":  {Input{Root: "/r", Home: "/home/u", WritePaths: []string{"~"}}, "sandbox.writePaths"},
		"write path above": {Input{Root: "/r", Home: "/home/u", WritePaths: []string{"/home"}}, "sandbox.writePaths"},
		"deny the root":    {Input{Root: "/r/x", Home: "/home/u", DenyRead: []string{".."}}, "sandbox.denyRead"}, // srt #79
		"root in a secret": {Input{Root: "/home/u/.ssh/x", Home: "/home/u"}, "may not read"},
	} {
		c.in.Sandbox, c.in.Exists = true, func(string) bool { return false }
		_, err := NewPolicy(c.in)
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := MakePlan(basic(func(in *Input) { in.Root = "/dev/shm/x" }), &Facts{Entries: entriesOf(map[string]string{"/dev/shm/x": "dir"}), Real: map[string]string{}})
	assert.ErrorContains(t, err, "which a sandbox replaces")
	_, err = MakePlan(basic(nil), &Facts{Entries: map[string]Entry{}, Real: map[string]string{}})
	assert.ErrorContains(t, err, "not a folder")
}
