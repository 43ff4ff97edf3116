package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var allExecutors = []Executor{Native, Bubblewrap, Landlock, Host}

// project is a root with a home folder beside it.
func project(t testing.TB, change func(*Input)) *ExecPolicy {
	t.Helper()
	base := t.TempDir()
	in := Input{Root: filepath.Join(base, "w"), Home: filepath.Join(base, "home"), Sandbox: true, Timeout: 30 * time.Second}
	require.NoError(t, os.MkdirAll(in.Root, 0o755))
	require.NoError(t, os.MkdirAll(in.Home, 0o755))
	if change != nil {
		change(&in)
	}
	p, err := NewPolicy(in)
	require.NoError(t, err)
	if p.PrivateTemp != "" {
		t.Cleanup(func() { _ = os.RemoveAll(p.PrivateTemp) })
	}
	return p
}

func sh(script string) Command { return Command{Argv: []string{"bash", "-c", script}} }

func mustRun(t testing.TB, s *Sandbox, p *ExecPolicy, c Command) *Result {
	t.Helper()
	res, err := s.Run(context.Background(), p, c)
	require.NoError(t, err)
	return res
}

// each runs a test for every executor.
func each(t *testing.T, list []Executor, f func(t *testing.T, s *Sandbox, p *ExecPolicy)) {
	for _, e := range list {
		t.Run(string(e), func(t *testing.T) {
			s := openExecutor(t, e)
			f(t, s, project(t, func(in *Input) { in.Sandbox = e != Host }))
		})
	}
}

func TestContract(t *testing.T) {
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		res := mustRun(t, s, p, sh("echo out; echo err >&2; exit 3"))
		assert.Equal(t, []any{3, "out\n", "err\n", 0}, []any{res.ExitCode, res.Stdout.Text, res.Stderr.Text, res.Signal})
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGINT, syscall.SIGHUP} {
			res = mustRun(t, s, p, sh(fmt.Sprintf("kill -%d $$; sleep 5", sig)))
			assert.Equal(t, []int{128 + int(sig), int(sig)}, []int{res.ExitCode, res.Signal}, sig.String())
		}
		res = mustRun(t, s, p, sh("exit 137"))
		assert.Equal(t, []int{137, 0}, []int{res.ExitCode, res.Signal}, "an exit code is no signal")

		res, err := s.Run(context.Background(), p, Command{Argv: []string{"no-such-program"}})
		var ce *CommandError
		require.ErrorAs(t, err, &ce)
		assert.Equal(t, 127, res.ExitCode)
		require.NoError(t, os.WriteFile(filepath.Join(p.Root, "plain"), []byte("x"), 0o644))
		res, err = s.Run(context.Background(), p, Command{Argv: []string{"./plain"}})
		require.ErrorAs(t, err, &ce)
		assert.Equal(t, 126, res.ExitCode)

		c := sh("cat; pwd")
		c.Stdin, c.Dir = strings.NewReader("typed\n"), "sub"
		require.NoError(t, os.Mkdir(filepath.Join(p.Root, "sub"), 0o755))
		res = mustRun(t, s, p, c)
		assert.Equal(t, "typed\n"+filepath.Join(p.Root, "sub")+"\n", res.Stdout.Text)
		res = mustRun(t, s, p, sh("cat; echo done"))
		assert.Equal(t, "done\n", res.Stdout.Text, "no input is the end of input")
		_, err = s.Run(context.Background(), p, Command{Argv: []string{"true"}, Dir: ".."})
		assert.ErrorContains(t, err, "outside the root")
		_, err = s.Run(context.Background(), p, Command{})
		assert.Error(t, err)
	})
}

func TestBackgroundChildEnds(t *testing.T) {
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		began := time.Now()
		mark := fmt.Sprintf("30%d.5", os.Getpid())
		res := mustRun(t, s, p, sh("sleep "+mark+" & setsid -f sleep "+mark+"; (trap '' TERM HUP; setsid sleep "+mark+" &) ; echo started"))
		assert.Equal(t, "started\n", res.Stdout.Text)
		assert.Less(t, time.Since(began), 5*time.Second)
		assertGone(t, mark)
	})
}

// assertGone checks that no process with this argument is left.
func assertGone(t testing.TB, mark string) {
	t.Helper()
	assert.Eventually(t, func() bool {
		out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output()
		return len(bytes.TrimSpace(out)) == 0
	}, 3*time.Second, 20*time.Millisecond, "a process is left")
}

func TestTimeoutAndCancelEndEverything(t *testing.T) {
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		mark := fmt.Sprintf("31%d.5", os.Getpid())
		script := "trap '' TERM INT HUP; (setsid sleep " + mark + " &); setsid -f sleep " + mark + "; echo on; sleep " + mark
		q := *p
		q.Timeout = 500 * time.Millisecond
		began := time.Now()
		res := mustRun(t, s, &q, sh(script))
		assert.True(t, res.TimedOut)
		assert.Equal(t, []int{137, 9}, []int{res.ExitCode, res.Signal})
		assert.Equal(t, "on\n", res.Stdout.Text, "what it said before is kept")
		assert.Less(t, time.Since(began), 5*time.Second)
		assertGone(t, mark)

		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(300*time.Millisecond, cancel)
		res, err := s.Run(ctx, p, sh(script))
		require.NoError(t, err)
		assert.True(t, res.Canceled && !res.TimedOut)
		assertGone(t, mark)
	})
}

func TestCloseEndsOnlyItsOwn(t *testing.T) {
	p := project(t, nil)
	a, b := openExecutor(t, Native), openExecutor(t, Native)
	var wg sync.WaitGroup
	var mine, other *Result
	wg.Add(2)
	go func() { defer wg.Done(); mine, _ = a.Run(context.Background(), p, sh("sleep 20")) }()
	go func() { defer wg.Done(); other, _ = b.Run(context.Background(), p, sh("sleep 1; echo fine")) }()
	time.Sleep(300 * time.Millisecond)
	a.Close()
	wg.Wait()
	require.NotNil(t, mine)
	require.NotNil(t, other)
	assert.True(t, mine.Canceled)
	assert.Equal(t, "fine\n", other.Stdout.Text)
	_, err := a.Run(context.Background(), p, sh("true"))
	assert.ErrorIs(t, err, ErrClosed)
}

func TestOutputCap(t *testing.T) {
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		q := *p
		q.MaxOutput = 1000
		res := mustRun(t, s, &q, sh("seq 1 5000; seq 1 5 >&2"))
		assert.True(t, res.Stdout.Truncated())
		assert.True(t, strings.HasPrefix(res.Stdout.Text, "1\n2\n"))
		assert.True(t, strings.HasSuffix(res.Stdout.Text, "4999\n5000\n"))
		assert.Equal(t, res.Stdout.Total-1000, res.Stdout.Cut)
		assert.Equal(t, "1\n2\n3\n4\n5\n", res.Stderr.Text)
		size := int64(64 << 20)
		if os.Getenv("LICTOR_SOAK") != "" {
			size = 2 << 30
		}
		var seen countWriter
		c := sh(fmt.Sprintf("head -c %d /dev/zero", size))
		c.Stdout = &seen
		res = mustRun(t, s, p, c)
		assert.Equal(t, size, res.Stdout.Total)
		assert.Equal(t, size, int64(seen))
		assert.Less(t, len(res.Stdout.Text), DefaultMaxOutput+100)
	})
}

type countWriter int64

func (c *countWriter) Write(b []byte) (int, error) { *c += countWriter(len(b)); return len(b), nil }

func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("NODE_ENV", "test")
	t.Setenv("LD_PRELOAD", "")
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		q := *p
		in := Input{Root: p.Root, Home: p.Home, Sandbox: p.Sandbox, EnvAllow: []string{"NODE_ENV"}}
		r, err := NewPolicy(in)
		require.NoError(t, err)
		q.Env = r.Env
		res := mustRun(t, s, &q, Command{Argv: []string{"env"}})
		assert.Contains(t, res.Stdout.Text, "NODE_ENV=test\n")
		for _, not := range []string{"ANTHROPIC", "LICTOR_BOOT", "GOMAXPROCS", "GOGC"} {
			assert.NotContains(t, res.Stdout.Text, not)
		}
	})
}

func TestPlanModeRootIsReadOnly(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap, Landlock} {
		t.Run(string(e), func(t *testing.T) {
			p := project(t, func(in *Input) { in.ReadOnlyRoot = true })
			require.NoError(t, os.WriteFile(filepath.Join(p.Root, "f"), []byte("x"), 0o644))
			s := openExecutor(t, e)
			res := mustRun(t, s, p, sh(`d=$(mktemp) && echo a > $d && cat $d && rm $d`))
			assert.Zero(t, res.ExitCode, res.Stderr.Text)
			res = mustRun(t, s, p, sh(`cat f && echo y > f`))
			assert.NotZero(t, res.ExitCode)
			b, _ := os.ReadFile(filepath.Join(p.Root, "f"))
			assert.Equal(t, "x", string(b))
			list, err := os.ReadDir(p.Root)
			require.NoError(t, err)
			assert.Len(t, list, 1, "no placeholder is made in a root that nobody can write to")
		})
	}
}

func TestLimits(t *testing.T) {
	p := project(t, nil)
	p.Limits = Limits{Pids: 60, FileSize: 1 << 20, OpenFiles: 64, CPU: 2 * time.Second, Memory: 256 << 20}
	s := openExecutor(t, Native)
	res := mustRun(t, s, p, sh("head -c 3000000 /dev/zero > big; stat -c %s big; ulimit -n; ulimit -c"))
	assert.Equal(t, "1048576\n64\n0\n", res.Stdout.Text)
	q := *p
	q.Timeout = 3 * time.Second
	mark := fmt.Sprintf("32%d.5", os.Getpid())
	most := make(chan int)
	go func() {
		n := 0
		for range 20 {
			time.Sleep(100 * time.Millisecond)
			out, _ := exec.Command("pgrep", "-fc", "^sleep "+mark).Output()
			k, _ := strconv.Atoi(strings.TrimSpace(string(out)))
			n = max(n, k)
		}
		most <- n
	}()
	res = mustRun(t, s, &q, sh("for i in $(seq 300); do sleep "+mark+" & done 2>/dev/null"))
	n := <-most
	assert.True(t, n > 30 && n <= 60, "a fork bomb is stopped at 60, got %d: %v", n, res.Notices)
	assertGone(t, mark)
	res = mustRun(t, s, p, sh("while :; do :; done"))
	assert.NotZero(t, res.Signal, "processor time ends")
	assert.False(t, res.TimedOut)
}

func TestProxyListener(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			p := project(t, func(in *Input) { in.Proxy = true })
			s := openExecutor(t, e)
			c := sh(`exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://x/ HTTP/1.0\r\n\r\n' >&3; cat <&3; env | grep -i proxy; echo > /dev/tcp/1.1.1.1/80`)
			c.ProxyListener = func(l net.Listener) {
				go func() {
					_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "proxied %s", r.URL) }))
				}()
			}
			res := mustRun(t, s, p, c)
			assert.Contains(t, res.Stdout.Text, "proxied http://x/")
			assert.Contains(t, res.Stdout.Text, "HTTPS_PROXY=http://127.0.0.1:3128")
			assert.Contains(t, res.Stderr.Text, "unreachable")
			_, err := s.Run(context.Background(), p, sh("true"))
			assert.ErrorContains(t, err, "nobody serves it")
		})
	}
	p := project(t, func(in *Input) { in.Proxy = true })
	_, err := openExecutor(t, Landlock).Run(context.Background(), p, Command{Argv: []string{"true"}, ProxyListener: func(net.Listener) {}})
	var se *SetupError
	assert.ErrorAs(t, err, &se)
}

func TestTerminal(t *testing.T) {
	each(t, allExecutors, func(t *testing.T, s *Sandbox, p *ExecPolicy) {
		in, typed, err := os.Pipe()
		require.NoError(t, err)
		out, shown, err := os.Pipe()
		require.NoError(t, err)
		var screen bytes.Buffer
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); _, _ = io.Copy(&screen, out) }()
		_, _ = typed.WriteString("echo $((20+22))\nsleep 1 &\njobs\ntest -t 0 && echo is-a-terminal\nexit 5\n")
		c := Command{Argv: []string{"bash", "--norc", "-i"}, Terminal: &Terminal{In: in, Out: shown}}
		res := mustRun(t, s, p, c)
		_ = shown.Close()
		wg.Wait()
		assert.Equal(t, 5, res.ExitCode)
		assert.Contains(t, res.Stdout.Text, "42")
		assert.Contains(t, screen.String(), "is-a-terminal")
		assert.NotContains(t, screen.String(), "no job control")
		assert.Contains(t, screen.String(), "Running", "jobs knows the background job")
		_ = typed.Close()
		_ = in.Close()
	})
}

func TestConcurrentSandboxesOnOneRoot(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			p := project(t, nil)
			s := openExecutor(t, e)
			var wg sync.WaitGroup
			for i := range 12 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					res, err := s.Run(context.Background(), p, sh(fmt.Sprintf("echo %d > f%d; sleep 0.%d; mkdir .claude/x 2>/dev/null && echo ESCAPED; mkdir .lictor 2>/dev/null && echo ESCAPED; cat f%d", i, i, i%4, i)))
					if assert.NoError(t, err) {
						assert.Equal(t, fmt.Sprintf("%d\n", i), res.Stdout.Text, res.Stderr.Text)
						assert.Empty(t, res.Violations)
					}
				}()
			}
			wg.Wait()
			assertNoPlaceholders(t, p)
		})
	}
}

func assertNoPlaceholders(t testing.TB, p *ExecPolicy) {
	t.Helper()
	for _, n := range reservedNames {
		assert.NoFileExists(t, filepath.Join(p.Root, n))
		assert.NoDirExists(t, filepath.Join(p.Root, n))
	}
}

func TestSetupErrorsAreNotTheCommands(t *testing.T) {
	p := project(t, nil)
	s := openExecutor(t, Native)
	q := *p
	q.Root = filepath.Join(p.Root, "missing")
	_, err := s.Run(context.Background(), &q, sh("true"))
	assert.ErrorContains(t, err, "root")
	e := &SetupError{Executor: Native, Stage: "create the namespaces", Err: syscall.EPERM, Fix: fixes("create the namespaces", syscall.ENOSPC)}
	assert.ErrorIs(t, e, syscall.EPERM)
	assert.Contains(t, e.Error(), "max_user_namespaces")
	assert.Contains(t, fixes("mount file system proc for", syscall.EPERM)+fixes("create file system proc for", syscall.EPERM), "systempaths=unconfined")
	assert.False(t, errors.Is(e, ErrClosed))
}

// A command may signal process 1 as it likes: it is deaf, and nothing of that is
// left in the command's own signal actions.
func TestHelperIsDeaf(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			s, p := openExecutor(t, e), project(t, nil)
			for range 20 {
				res := mustRun(t, s, p, sh(`for i in $(seq 31) $(seq 35 64); do kill -$i 1; done 2>/dev/null; grep -E 'SigIgn|SigBlk' /proc/self/status`))
				assert.Zero(t, res.ExitCode)
				assert.Equal(t, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", res.Stdout.Text)
			}
		})
	}
}
