package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func gitProject(t *testing.T) *ExecPolicy {
	p := project(t, nil)
	cmd := exec.Command("bash", "-c", `git init -q . && git config user.name a && git config user.email a@b.c && echo a > a && git add a && git commit -q -m one`)
	cmd.Dir, cmd.Env = p.Root, append(os.Environ(), "HOME="+p.Home)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return p
}

// What a command leaves behind, and whether it may stay.
func TestPostcheck(t *testing.T) {
	for _, c := range []struct {
		name, script string
		found        []string // paths of violations
	}{
		{"ordinary work", "echo x > y; mkdir -p a/b; git add y; git commit -q -m two", nil},
		{"a new repository", "git init -q n; git -C n config user.name x", nil},
		{"a clone", "git clone -q . c", nil},
		{"a new repository with a hook", "git init -q n; echo x > n/.git/hooks/post-checkout", []string{"n/.git"}},
		{"a new repository with a program", "git init -q n; git -C n config alias.x '!evil'", []string{"n/.git"}},
		{"ext url", "git init -q n; git -C n config remote.o.url 'ext::sh -c evil'", []string{"n/.git"}},
		{"included configuration", "git init -q n; git -C n config include.path ../evil", []string{"n/.git"}},
		{"a .git file that leads nowhere", "mkdir s; echo 'gitdir: ../x' > s/.git", []string{"s/.git"}},
		{"a .git link", "mkdir s x; ln -s ../x s/.git", []string{"s/.git"}},
		{"a bare repository, sandy", "git init -q --bare b; git -C b config core.fsmonitor evil", []string{"b"}},
		{"HEAD removed", "rm .git/HEAD", []string{".git/HEAD"}},
		{"agent files at depth", "mkdir -p d/.claude d/.vscode; echo '{}' > d/.vscode/tasks.json; echo > d/.mcp.json", []string{"d/.claude", "d/.mcp.json", "d/.vscode/tasks.json"}},
		{"other letter case, CVE-2025-59944", "mkdir .Cursor; echo > .MCP.json", []string{".Cursor", ".MCP.json"}},
		{"a link to a protected name", "ln -s /etc d.x; mkdir q; ln -s ../d.x q/.claude", []string{"q/.claude"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := gitProject(t)
			res := mustRun(t, openExecutor(t, Native), p, sh(c.script))
			var got []string
			for _, v := range res.Violations {
				rel, _ := filepath.Rel(p.Root, v.Path)
				got = append(got, rel)
				if v.What == "appeared" {
					assert.NoFileExists(t, v.Path)
					assert.NotEmpty(t, v.Quarantine, v)
				}
			}
			assert.ElementsMatch(t, c.found, got, "%v %s", res.Violations, res.Stderr.Text)
			assert.Equal(t, len(c.found) > 0, len(res.Violations) > 0 && res.Failed())
			assert.FileExists(t, filepath.Join(p.Root, ".git", "HEAD"))
		})
	}
}

// The user's own git config during a run replaces the file, which takes the mount
// away in the sandbox: a harmless change stays, a harmful one does not.
func TestHostChangesDuringARun(t *testing.T) {
	p := gitProject(t)
	s := openExecutor(t, Native)
	during := func(host func(), script string) *Result {
		time.AfterFunc(300*time.Millisecond, host)
		return mustRun(t, s, p, sh(script))
	}
	git := func(args ...string) func() {
		return func() { assert.NoError(t, exec.Command("git", append([]string{"-C", p.Root}, args...)...).Run()) }
	}
	res := during(git("config", "user.name", "other"), "sleep 1")
	assert.Empty(t, res.Violations)
	res = during(git("config", "user.name", "third"), "sleep 1; echo '[core] fsmonitor = evil' >> .git/config")
	b, err := os.ReadFile(filepath.Join(p.Root, ".git/config"))
	require.NoError(t, err)
	assert.NotContains(t, string(b), "evil")
	if len(res.Violations) > 0 { // the kernel let the command write: then it was found
		assert.Equal(t, "changed", res.Violations[0].What)
	}
	res = during(func() {
		assert.NoError(t, os.Mkdir(filepath.Join(p.Root, ".vscode"), 0o755))
	}, "sleep 1")
	assert.Empty(t, res.Violations, "a folder alone is no settings file")
}

func TestLandlockFindsAfterwards(t *testing.T) {
	p := gitProject(t)
	res := mustRun(t, openExecutor(t, Landlock), p, sh("echo evil > .git/hooks/post-commit; git config core.fsmonitor evil; mkdir .claude"))
	assert.Len(t, res.Violations, 3, "%v", res.Violations)
	out, _ := exec.Command("grep", "-rl", "evil", p.Root).Output()
	assert.Empty(t, string(out))
	assert.Equal(t, "degraded", res.Isolation)
	assert.Contains(t, strings.Join(res.Notices, "\n"), "not protected while a command runs")
}

// A second mount of a secret's file system, and a hard link in the root.
func TestAliases(t *testing.T) {
	p := project(t, nil)
	key := filepath.Join(p.Home, ".ssh", "id_rsa")
	require.NoError(t, os.MkdirAll(filepath.Dir(key), 0o700))
	require.NoError(t, os.WriteFile(key, []byte("PRIVKEY"), 0o600))
	require.NoError(t, os.Link(key, filepath.Join(p.Root, "innocent.txt")))
	res := mustRun(t, openExecutor(t, Native), p, sh("cat innocent.txt; mv innocent.txt x; cat x"))
	assert.NotContains(t, res.Stdout.Text, "PRIVKEY")
	require.NoError(t, os.Link(key, filepath.Join(filepath.Dir(p.Root), "backup")))
	res = mustRun(t, openExecutor(t, Native), p, sh("true"))
	assert.Contains(t, strings.Join(res.Notices, "\n"), "hard links")
	strict := *p
	strict.Strict = true
	_, err := openExecutor(t, Native).Run(context.Background(), &strict, sh("true"))
	assert.ErrorContains(t, err, "strict profile")

	if os.Getuid() != 0 {
		t.Log("BIND MOUNT ALIAS NOT TESTED: needs root")
		return
	}
	alias := filepath.Join(filepath.Dir(p.Root), "alias")
	require.NoError(t, os.Mkdir(alias, 0o755))
	require.NoError(t, exec.Command("mount", "--bind", p.Home, alias).Run())
	defer func() { _ = exec.Command("umount", alias).Run() }()
	for _, e := range []Executor{Native, Bubblewrap} {
		res = mustRun(t, openExecutor(t, e), p, sh("cat "+alias+"/.ssh/id_rsa"))
		assert.NotContains(t, res.Stdout.Text, "PRIVKEY", e)
	}
}

// A writable folder inside a hidden one (a grant by name) is reachable; the rest is
// not even listed.
func TestHoleInAMask(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		p := project(t, func(in *Input) { in.WritePaths = []string{"~/.docker/buildx/x"} })
		require.NoError(t, os.MkdirAll(filepath.Join(p.Home, ".docker/buildx/x"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(p.Home, ".docker/config.json"), []byte("SECRET"), 0o600))
		res := mustRun(t, openExecutor(t, e), p, sh("echo ok > ~/.docker/buildx/x/f && cat ~/.docker/buildx/x/f; cat ~/.docker/config.json; echo no > ~/.docker/new && echo bad"))
		assert.Equal(t, "ok\n", res.Stdout.Text, "%s: %s", e, res.Stderr.Text)
	}
}

func TestUnixSocketsOnRequest(t *testing.T) {
	p := project(t, nil)
	script := `python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("s"); print("bound")'`
	s := openExecutor(t, Native)
	assert.NotContains(t, mustRun(t, s, p, sh(script)).Stdout.Text, "bound")
	p.UnixSockets = true
	assert.Contains(t, mustRun(t, s, p, sh(script)).Stdout.Text, "bound")
}

// A home folder and a root reached through links.
func TestLinkedRoot(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(base, "real/w"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(base, "real/home/.ssh"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(base, "real/home/.ssh/k"), []byte("PRIVKEY"), 0o644))
	require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
	p, err := NewPolicy(Input{Root: filepath.Join(base, "link/w"), Home: filepath.Join(base, "link/home"), Sandbox: true, Timeout: time.Minute})
	require.NoError(t, err)
	for _, e := range []Executor{Native, Bubblewrap} {
		res := mustRun(t, openExecutor(t, e), p, sh(fmt.Sprintf("echo a > f && cat f; cat %s/*/home/.ssh/k ~/.ssh/k; mkdir .claude", base)))
		assert.Equal(t, "a\n", res.Stdout.Text, "%s %s", e, res.Stderr.Text)
		assert.Empty(t, res.Violations)
	}
}
