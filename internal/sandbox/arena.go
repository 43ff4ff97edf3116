package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// arena is the throw-away world that Verify attacks.
type arena struct {
	dir     string
	victim  *exec.Cmd
	dead    chan struct{}
	cleanup []func()
	port    int
}

// Secrets that must not appear in an attack's output.
var arenaSecrets = []string{"LICTOR-VERIFY-KEY", "LICTOR-VERIFY-CLOUD", "LICTOR-VERIFY-TRUST", "LICTOR-VERIFY-ENV", "ESCAPED"}

func newArena(base string) (*arena, error) {
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		base = cache
		if err := os.MkdirAll(base, 0o700); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	dir, err := os.MkdirTemp(base, "lictor-verify-")
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	a := &arena{dir: dir, dead: make(chan struct{})}
	a.cleanup = append(a.cleanup, func() { _ = os.RemoveAll(dir) })
	if err := a.build(); err != nil {
		a.close()
		return nil, fmt.Errorf("verify: %w", err)
	}
	return a, nil
}

func (a *arena) build() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	probe := filepath.Join(a.dir, "bin", "probe.bin")
	files := []struct {
		path, text string
		mode       os.FileMode
	}{
		{"bin/probe.bin", string(program), 0o755},
		{"bin/probe", "#!/bin/sh\nLICTOR_BOOT=probe exec '" + strings.ReplaceAll(probe, "'", `'\''`) + "' \"$@\"\n", 0o755},
		{"home/.ssh/id_rsa", "LICTOR-VERIFY-KEY\n", 0o600},
		{"home/.aws/credentials", "LICTOR-VERIFY-CLOUD\n", 0o600},
		{"home/.lictor/trust.json", "LICTOR-VERIFY-TRUST\n", 0o600},
		{"home/.profile", "# profile\n", 0o644},
		{"outside/o.txt", "outside\n", 0o644},
		{"w/src/a.txt", "a\n", 0o644},
		{"w/.git/HEAD", "ref: refs/heads/main\n", 0o644},
		{"w/.git/config", "[core]\n\trepositoryformatversion = 0\n", 0o644},
		{"w/.git/hooks/pre-commit.sample", "#!/bin/sh\n", 0o644},
		{"w/.git/objects/info/.keep", "", 0o644},
		{"w/.git/refs/heads/.keep", "", 0o644},
		{"run/.keep", "", 0o644},
	}
	for _, f := range files {
		path := filepath.Join(a.dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			return err
		}
	}
	return a.host()
}

// host starts the host's side: a process, sockets, shared memory.
func (a *arena) host() error {
	a.victim = exec.Command("sleep", "3600")
	a.victim.Env = []string{"SECRET=LICTOR-VERIFY-ENV"}
	if err := a.victim.Start(); err != nil {
		return err
	}
	go func() { _ = a.victim.Wait(); close(a.dead) }()
	a.cleanup = append(a.cleanup, func() { _ = a.victim.Process.Kill(); <-a.dead })
	for _, addr := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", filepath.Join(a.dir, "run/host.sock")}, {"unix", "@lictor-verify"}} {
		l, err := net.Listen(addr[0], addr[1])
		if err != nil {
			continue // the name is taken, or too long: the attack then finds nothing
		}
		if t, ok := l.Addr().(*net.TCPAddr); ok {
			a.port = t.Port
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
		a.cleanup = append(a.cleanup, func() { _ = l.Close() })
	}
	if f, err := os.CreateTemp("/dev/shm", "lictor-verify-"); err == nil {
		_ = f.Close()
		a.cleanup = append(a.cleanup, func() { _ = os.Remove(f.Name()) })
	}
	return nil
}

func (a *arena) close() {
	for i := len(a.cleanup) - 1; i >= 0; i-- {
		a.cleanup[i]()
	}
}

// try makes one attack and asks the oracle.
func (a *arena) try(ctx context.Context, s *Sandbox, v verifyAttack) (Check, error) {
	home := filepath.Join(a.dir, "home")
	p, err := NewPolicy(Input{
		Root: filepath.Join(a.dir, "w"), Home: home, Sandbox: true, Timeout: verifyTimeout,
		Environ: []string{"PATH=" + defaultPath, "SECRET=LICTOR-VERIFY-ENV"},
	})
	if err != nil {
		return Check{}, err
	}
	p.Env = append(p.Env, "F="+a.dir, fmt.Sprintf("VPID=%d", a.victim.Process.Pid), fmt.Sprintf("PORT=%d", a.port), "P="+filepath.Join(a.dir, "bin/probe"))
	before, _ := os.ReadFile(filepath.Join(a.dir, v.file))
	res, err := s.Run(ctx, p, Command{Argv: []string{"/bin/sh", "-c", v.command}})
	if err != nil {
		return Check{}, err
	}
	c := Check{Name: v.name, What: v.what, Result: "blocked", Detail: fmt.Sprintf("exit code %d: %s%s", res.ExitCode, res.Stdout.Text, res.Stderr.Text)}
	if v.control {
		c.Result = "works"
		if res.ExitCode != 0 {
			c.Result = "failed"
		}
		return c, nil
	}
	if a.escaped(v, res, before) {
		c.Result = "ESCAPED"
	}
	return c, nil
}

func (a *arena) escaped(v verifyAttack, res *Result, before []byte) bool {
	select {
	case <-a.dead:
		return true
	default:
	}
	if v.file != "" && !v.gone {
		after, _ := os.ReadFile(filepath.Join(a.dir, v.file))
		return bytes.Contains(after, []byte("evil")) && !bytes.Equal(before, after)
	}
	for _, secret := range arenaSecrets {
		if strings.Contains(res.Stdout.Text, secret) || strings.Contains(res.Stderr.Text, secret) {
			return true
		}
	}
	return false
}
