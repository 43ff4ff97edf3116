package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// attack is one line of attacks.txt.
type attack struct{ name, command, check string }

// loadAttacks reads the format of attacks.txt strictly: three fields, split at the
// first two bars that no backslash precedes.
func loadAttacks(t testing.TB, file string) []attack {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []attack
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		var fields []string
		rest := line
		for i := 0; i < len(rest) && len(fields) < 2; i++ {
			if rest[i] == '|' && (i == 0 || rest[i-1] != '\\') {
				fields = append(fields, rest[:i])
				rest, i = rest[i+1:], -1
			}
		}
		require.Len(t, fields, 2, line)
		out = append(out, attack{fields[0], strings.ReplaceAll(fields[1], `\|`, "|"), rest})
	}
	return out
}

// fixture is the world that attacks.txt describes.
type fixture struct {
	t       *testing.T
	dir     string
	uid     int
	victim  *exec.Cmd
	closers []func()
	env     []string
}

const testUID = 1000

func (f *fixture) path(s string) string { return filepath.Join(f.dir, s) }

func newFixture(t *testing.T, dir string) *fixture {
	f := &fixture{t: t, dir: dir, uid: os.Getuid()}
	require.NoError(t, os.MkdirAll(f.path("run"), 0o755))
	require.NoError(t, os.MkdirAll(f.path("bin"), 0o755))
	self, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(f.path("bin/sbx.bin"), b, 0o755))
	require.NoError(t, os.WriteFile(f.path("bin/sbx"), []byte("#!/bin/sh\nLICTOR_BOOT=probe exec "+f.path("bin/sbx.bin")+" \"$@\"\n"), 0o755))
	f.template()
	f.network()
	f.victim = exec.Command("sleep", "100000")
	f.victim.Env = []string{"VICTIMSECRET=victim"}
	require.NoError(t, f.victim.Start())
	f.closers = append(f.closers, func() { _ = f.victim.Process.Kill(); _ = f.victim.Wait() })
	require.NoError(t, os.WriteFile("/dev/shm/sbxhost", []byte("x"), 0o666))
	id, _, e := syscall.Syscall(unix.SYS_SHMGET, 0x5bc5bc5, 4096, 0o1666)
	require.Zero(t, e)
	f.closers = append(f.closers, func() {
		_ = os.Remove("/dev/shm/sbxhost")
		_, _, _ = syscall.Syscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
	})
	t.Setenv("HOSTSECRET", "HOSTSECRET")
	f.env = append(os.Environ(), "HOME="+f.path("home"), "F="+f.dir, "SBX="+f.path("bin/sbx"), fmt.Sprintf("VPID=%d", f.victim.Process.Pid),
		"OUT="+f.path("out"), "PATH="+f.path("w/bin")+":/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1")
	t.Cleanup(func() {
		for _, c := range slices.Backward(f.closers) {
			c()
		}
	})
	return f
}

// template builds w, home and outside once; reset copies it.
func (f *fixture) template() {
	script := `set -e
mkdir -p T/w/src T/w/bin T/w/.githooks T/w/gem T/w/secret T/home/.ssh T/home/.aws T/home/.agent T/home/.lictor/audit T/home/.lictor/skills T/outside
cd T
echo PRIVKEY > home/.ssh/id_rsa; chmod 600 home/.ssh/id_rsa
echo AWSSECRET > home/.aws/credentials
echo ok > home/.agent/config.toml
echo TRUSTSTORE > home/.lictor/trust.json; echo x > home/.lictor/audit/log; echo SKILL > home/.lictor/skills/SKILL.md
printf '[user]\n\tname = a\n\temail = a@example.com\n' > home/.gitconfig
echo o > outside/o.txt
cd w
export HOME=$PWD/../home
git init -q .
git config core.hooksPath .githooks
echo hi > a.txt; echo tool > bin/tool; echo PLANTEXT > secret/plan.txt; echo SIBLING > secret.txt
ln -s gem .gemini
git init -q nested
git add a.txt && git commit -q -m first`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	require.NoError(f.t, err, string(out))
}

// reset makes w, home and outside anew.
func (f *fixture) reset() {
	cmd := exec.Command("bash", "-c", `chmod -R u+rwx w home outside 2>/dev/null; rm -rf w home outside out udp.log esc.txt; cp -a T/w T/home T/outside . && ln home/.ssh/id_rsa w/alias.txt`)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	require.NoError(f.t, err, string(out))
	l, err := net.Listen("unix", f.path("w/host.sock"))
	require.NoError(f.t, err)
	go accept(l)
	f.closers = append(f.closers, func() { _ = l.Close() })
}

func accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.Close()
	}
}

// network opens the host's sockets.
func (f *fixture) network() {
	for _, a := range [][2]string{{"tcp", "127.0.0.1:45555"}, {"tcp", "[::1]:45556"}, {"unix", f.path("run/host.sock")}, {"unix", "@sbxtest"}, {"unix", "/run/sbxtest.sock"}} {
		l, err := net.Listen(a[0], a[1])
		if err != nil {
			f.t.Logf("no host socket %s: %v", a[1], err)
			continue
		}
		if a[0] == "unix" && a[1][0] == '/' {
			_ = os.Chmod(a[1], 0o777)
		}
		go accept(l)
		f.closers = append(f.closers, func() { _ = l.Close() })
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:53530")
	require.NoError(f.t, err)
	go func() {
		b := make([]byte, 64)
		for {
			if _, _, err := u.ReadFrom(b); err != nil {
				return
			}
			_ = os.WriteFile(f.path("udp.log"), []byte("HIT"), 0o600)
		}
	}()
	f.closers = append(f.closers, func() { _ = u.Close() })
}

// escaped asks the oracle, outside.
func (f *fixture) escaped(a attack, out string) bool {
	require.NoError(f.t, os.WriteFile(f.path("out"), []byte(out), 0o644))
	cmd := exec.Command("bash", "-c", a.check)
	cmd.Env, cmd.Dir = f.env, f.dir
	return cmd.Run() == nil
}

// plain runs an attack without a sandbox: the positive control. Mounts stay in a
// namespace of their own.
func (f *fixture) plain(a attack) bool {
	f.reset()
	argv := []string{"bash", "-c", a.command}
	if f.uid == 0 {
		argv = append([]string{"unshare", "-m", "--propagation", "private"}, argv...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = f.env, f.path("w")
	cmd.WaitDelay = time.Second
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	key, err := os.Open(f.path("home/.ssh/id_rsa"))
	require.NoError(f.t, err)
	defer key.Close()
	for range 7 { // the last of them becomes descriptor 9
		cmd.ExtraFiles = append(cmd.ExtraFiles, key)
	}
	_ = cmd.Run()
	got := f.escaped(a, b.String())
	_ = os.Remove("/sys/fs/cgroup/pids/sbxt")
	return got
}

// policy is that of the fixture's root, with a team policy that denies secret/**.
func (f *fixture) policy() *ExecPolicy {
	p, err := NewPolicy(Input{
		Root: f.path("w"), Home: f.path("home"), Sandbox: true, Environ: f.env, EnvAllow: []string{"F", "SBX", "VPID", "GIT_CONFIG_NOSYSTEM"},
		Timeout: 20 * time.Second, Protected: []string{f.path("home/.agent")},
		Deny: func(rel string, _ bool) bool { return rel == "secret/plan.txt" },
	})
	require.NoError(f.t, err)
	return p
}

// confined runs an attack in a sandbox.
func (f *fixture) confined(s *Sandbox, a attack) (escaped bool, out string) {
	f.reset()
	res, err := s.Run(context.Background(), f.policy(), Command{Argv: []string{"bash", "-c", a.command}})
	require.NoError(f.t, err, a.name)
	text := res.Stdout.Text + res.Stderr.Text
	return f.escaped(a, text), fmt.Sprintf("exit %d %v\n%s", res.ExitCode, res.Violations, text)
}

// neverPlain are attacks that would hit the machine itself without a sandbox.
var neverPlain = map[string]string{
	"kill-all":     "it would end every process of the user",
	"kill-pid1":    "it would signal the machine's init",
	"core-pattern": "it would change the machine's core_pattern",
	"proc-exe":     "it would write to the machine's init",
	"sysrq":        "it would press the machine's SysRq key",
}

func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("attacks take a minute; run without -short")
	}
	if base := os.Getenv("LICTOR_TEST_BASE"); base != "" {
		attackSuite(t, base)
		return
	}
	if os.Getuid() != 0 {
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		base, err := os.MkdirTemp(home, "lictor-attacks-")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(base) })
		attackSuite(t, base)
		return
	}
	t.Run("root", func(t *testing.T) { attackSuite(t, testBase(t, 0)) })
	t.Run("user", func(t *testing.T) { asUser(t, "^TestAttacks$") })
	t.Run("root in a temp folder", func(t *testing.T) { attackSuite(t, t.TempDir()) })
}

// testBase is a folder outside of every temp folder.
func testBase(t *testing.T, uid int) string {
	base, err := os.MkdirTemp("/srv", "lictor-attacks-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	require.NoError(t, os.Chmod(base, 0o755))
	require.NoError(t, os.Chown(base, uid, uid))
	return base
}

// asUser runs a test of this binary as an ordinary user.
func asUser(t *testing.T, pattern string) {
	base := testBase(t, testUID)
	id, err := os.ReadFile("/usr/bin/id")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(base+"/suidid", id, 0o755))
	require.NoError(t, os.Chmod(base+"/suidid", 0o755|os.ModeSetuid))
	l, err := net.Listen("unix", "/run/sbxtest.sock")
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Chmod("/run/sbxtest.sock", 0o777))
	go accept(l)
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	bin := filepath.Join(base, "sandbox.test")
	require.NoError(t, os.WriteFile(bin, self, 0o755))
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, exec.Command("cp", "-r", wd+"/testdata", base+"/testdata").Run())
	require.NoError(t, os.MkdirAll(base+"/tmp", 0o700))
	require.NoError(t, exec.Command("chown", "-R", "1000:1000", base+"/tmp", base+"/testdata", bin).Run())
	cmd := exec.Command(bin, "-test.run", pattern, "-test.v", "-test.timeout", "10m")
	cmd.Dir = base
	cmd.Env = append(os.Environ(), "LICTOR_TEST_BASE="+base, "HOME="+base, "USER=user", "TMPDIR="+base+"/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: testUID, Gid: testUID}}
	out, err := cmd.CombinedOutput()
	t.Log(string(out))
	require.NoError(t, err)
}

func attackSuite(t *testing.T, base string) {
	f := newFixture(t, base)
	if f.uid == 0 {
		require.NoError(t, exec.Command("cp", "/usr/bin/id", f.path("suidid")).Run())
	}
	attacks := append(loadAttacks(t, "testdata/attacks.txt"), loadAttacks(t, "testdata/more_attacks.txt")...)
	var control []attack
	var without []string
	for _, a := range attacks {
		_, never := neverPlain[a.name]
		switch {
		case a.name == "setuid-exec" && f.uid == 0:
			without = append(without, a.name+" (meaningless for root)")
			continue
		case never:
			without = append(without, a.name+" ("+neverPlain[a.name]+"; only tried inside)")
		case !f.plain(a):
			without = append(without, a.name+" (does not work on this machine; tried inside all the same)")
		}
		control = append(control, a)
	}
	t.Logf("positive control: %d of %d attacks work without a sandbox; not applicable: %s", len(attacks)-len(without), len(attacks), strings.Join(without, ", "))
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			s := openExecutor(t, e)
			holdDescriptor(t, f.path("T/home/.ssh/id_rsa"))
			// The control inside: the probe runs there, so that "blocked" means something.
			inside, out := f.confined(s, attack{"control", "$SBX probe nothing && cat a.txt secret.txt", "grep -q ESCAPED $OUT && grep -q SIBLING $OUT"})
			require.True(t, inside, out)
			blocked := 0
			for _, a := range control {
				bad, out := f.confined(s, a)
				if assert.False(t, bad, "%s ESCAPED from %s: %s", a.name, e, out) {
					blocked++
				}
			}
			t.Logf("%s, uid %d: %d of %d blocked", e, f.uid, blocked, len(control))
			if out, err := exec.Command("kill", "-0", fmt.Sprint(f.victim.Process.Pid)).CombinedOutput(); err != nil {
				t.Errorf("the victim is dead: %s", out)
			}
		})
	}
}

// openExecutor opens one executor; bubblewrap may be missing, which is said by name.
func openExecutor(t testing.TB, e Executor) *Sandbox {
	t.Helper()
	if e == Bubblewrap {
		if err := checkBwrap(); err != nil {
			t.Skipf("EXECUTOR bwrap NOT TESTED: %v", err)
		}
	}
	s, err := Open(Selection{Setting: string(e)})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// holdDescriptor leaves descriptor 9 open, as a shell that started lictor may have.
func holdDescriptor(t *testing.T, path string) {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	require.NoError(t, err)
	saved, errSaved := unix.FcntlInt(9, unix.F_DUPFD_CLOEXEC, 100)
	require.NoError(t, unix.Dup3(fd, 9, 0))
	_ = unix.Close(fd)
	t.Cleanup(func() {
		if errSaved == nil {
			_ = unix.Dup3(saved, 9, unix.O_CLOEXEC)
			_ = unix.Close(saved)
		} else {
			_ = unix.Close(9)
		}
	})
}
