package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyday are commands that must work inside; need is a program without which the
// row does not apply on a machine (it is then skipped by name).
var everyday = []struct{ name, need, script string }{
	{"git clone", "git", `git status --short && git log --oneline && echo x > n.txt && git add n.txt && git commit -q -m two && git checkout -q -b side && git stash list && test $(git rev-list --count HEAD) = 2`},
	{"git rebase and gc", "git", `for i in 1 2 3; do echo $i >> r.txt; git add r.txt; git commit -q -m r$i; done; git rebase -q HEAD~2 && git gc -q && git tag v1 && git branch -d nothing 2>/dev/null; git fsck`},
	{"git init inside", "git", `mkdir fresh && cd fresh && git init -q . && echo a > a && git add a && git commit -q -m one && git log --oneline`},
	{"local clone inside", "git", `git clone -q . copy && git -C copy log --oneline`},
	{"go build and test", "go", `cd gomod && GOFLAGS=-mod=mod GOPROXY=off go build -o /dev/null . && GOPROXY=off go test ./... && GOPROXY=off go vet ./...`},
	{"python", "python3", `python3 -c 'import multiprocessing as m, tempfile, os
if __name__ == "__main__":
    with m.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]
    with tempfile.NamedTemporaryFile() as f: f.write(b"x")
    open("py.txt", "w").write("ok")' && cat py.txt`},
	{"python venv", "python3", `python3 -m venv --without-pip venv && ./venv/bin/python -c 'print(1)'`},
	{"node", "node", `node -e 'const h=require("http"),c=require("child_process"); const s=h.createServer((q,r)=>r.end("hi")).listen(0,"127.0.0.1",()=>h.get({port:s.address().port},r=>r.on("data",d=>{console.log(""+d); s.close()}))); console.log(c.execSync("echo child")+"")'`},
	{"npm script", "npm", `npm run --silent hello && npm pack --silent --pack-destination . >/dev/null && ls *.tgz`},
	{"make", "make", `printf 'all: a.o\na.o:\n\techo made > a.o\n' > Makefile && make -s && cat a.o`},
	{"cc", "gcc", `printf 'int main(void){return 0;}' > m.c && gcc m.c -o m && ./m`},
	{"localhost", "python3", `python3 -c '
import socket, threading
s=socket.create_server(("127.0.0.1",0)); p=s.getsockname()[1]
threading.Thread(target=lambda: s.accept()[0].sendall(b"pong")).start()
assert socket.create_connection(("localhost",p)).recv(4)==b"pong"'`},
	{"pty program", "script", `script -qec 'test -t 0 && echo in-a-pty' /dev/null`},
	{"here documents and temp files", "bash", `cat <<EOT > h.txt
$(date +%Y)
EOT
t=$(mktemp -d) && echo a > $t/a && cp $t/a b && rm -r $t && cat b; echo x > /dev/stderr; echo y > /dev/stdout; diff <(echo 1) <(echo 1)`},
	{"tar and links", "tar", `mkdir d && echo 1 > d/a && ln d/a d/b && ln -s a d/c && tar cf d.tar d && rm -r d && tar xf d.tar && cat d/c && mv d e && rm -rf e`},
	{"file locks", "flock", `flock lock -c 'echo locked'`},
	{"shared memory", "python3", `python3 -c '
from multiprocessing import shared_memory as s
m=s.SharedMemory(create=True,size=4096); m.buf[0]=1; m.close(); m.unlink()'`},
}

func everydayProject(t *testing.T, uid int) *ExecPolicy {
	p := project(t, nil)
	script := `set -e
git config --global user.name a; git config --global user.email a@example.com; git config --global init.defaultBranch main
git init -q . ; mkdir gomod; cd gomod
printf 'module example.com/m\n\ngo 1.21\n' > go.mod
printf 'package main\n\nfunc main() { println(add(1, 2)) }\n\nfunc add(a, b int) int { return a + b }\n' > main.go
printf 'package main\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n' > main_test.go
cd ..; printf '{"name":"m","version":"1.0.0","scripts":{"hello":"node -e 1"}}' > package.json
touch go.mod.marker; git add . ; git commit -q -m one`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = p.Root, append(os.Environ(), "HOME="+p.Home)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	q, err := NewPolicy(Input{Root: p.Root, Home: p.Home, Sandbox: true, Timeout: 2 * time.Minute})
	require.NoError(t, err)
	_ = uid
	return q
}

func TestEverydayWork(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			s := openExecutor(t, e)
			p := everydayProject(t, os.Getuid())
			for _, w := range everyday {
				t.Run(w.name, func(t *testing.T) {
					if _, err := exec.LookPath(w.need); err != nil {
						t.Skipf("PROGRAM %s NOT INSTALLED", w.need)
					}
					res := mustRun(t, s, p, sh(w.script))
					assert.Zero(t, res.ExitCode, res.Stdout.Text+res.Stderr.Text)
					assert.Empty(t, res.Violations)
				})
			}
			assertNoPlaceholders(t, p)
		})
	}
}

// A linked work tree's git folder lies outside of the root; commits must work, and
// hooks and configuration stay protected there too (codex #27418).
func TestWorktree(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			p := everydayProject(t, 0)
			tree := filepath.Join(filepath.Dir(p.Root), "tree")
			cmd := exec.Command("git", "worktree", "add", "-q", tree)
			cmd.Dir, cmd.Env = p.Root, append(os.Environ(), "HOME="+p.Home)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			q, err := NewPolicy(Input{Root: tree, Home: p.Home, Sandbox: true, Timeout: time.Minute})
			require.NoError(t, err)
			s := openExecutor(t, e)
			res := mustRun(t, s, q, sh(`echo w > w.txt && git add w.txt && git commit -q -m tree && git log --oneline && git status --short`))
			assert.Zero(t, res.ExitCode, res.Stderr.Text)
			res = mustRun(t, s, q, sh(`g=$(git rev-parse --git-common-dir); d=$(git rev-parse --git-dir)
echo evil > $g/hooks/post-commit; echo evil >> $g/config; echo evil > $d/commondir; echo evil > $d/gitdir; rm .git; echo evil > .git; mv $g/hooks $g/h2; mkdir $g/worktrees/new; echo evil > ../w/a`))
			got, _ := exec.Command("grep", "-rl", "evil", filepath.Dir(p.Root)).Output()
			assert.Empty(t, string(got), res.Stderr.Text)
			assert.Empty(t, res.Violations)
		})
	}
}

// A .git file that came with an archive must not open another folder.
func TestForgedGitFile(t *testing.T) {
	p := project(t, nil)
	victim := filepath.Join(filepath.Dir(p.Root), "victim")
	require.NoError(t, os.MkdirAll(filepath.Join(victim, "objects"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(victim, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.Root, ".git"), []byte("gitdir: "+victim+"\n"), 0o644))
	res := mustRun(t, openExecutor(t, Native), p, sh("echo evil > ../victim/x"))
	assert.NotZero(t, res.ExitCode)
	assert.NoFileExists(t, filepath.Join(victim, "x"))
}
