//go:build unix

package daemon

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/hook"
)

// pids are the daemons that were started for a user.
func (u *user) pids() []int {
	text, _ := os.ReadFile(filepath.Join(u.home, "starts"))
	var out []int
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

func (u *user) waitForDaemon(t *testing.T) *Health {
	t.Helper()
	var h *Health
	require.Eventually(t, func() bool {
		var err error
		h, err = AskHealth(u.home)
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)
	return h
}

// Without a daemon every call is decided all the same, and however many come at
// once, one daemon is started.
func TestStartedOnce(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
	program(t, "lictor")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r := u.run(t, u.bash("rm x"), "claude-code")
			decision, reason := decisionOf(t, []byte(r.stdout))
			assert.Equal(t, "deny", decision, "%+v", r)
			assert.Contains(t, reason, "bash(rm *)")
		})
	}
	all.Wait()
	h := u.waitForDaemon(t)
	assert.Equal(t, []int{h.PID}, u.pids())
	before := metric(t, u, `lictor_verdicts_total{decision="deny"}`)
	r := u.run(t, u.bash("rm x"), "claude-code")
	assert.Equal(t, 0, r.code)
	assert.Empty(t, r.stderr)
	assert.NotEqual(t, before, metric(t, u, `lictor_verdicts_total{decision="deny"}`), "the daemon decided")
	require.NoError(t, Stop(u.home))
}

// The daemon is killed again and again while calls are made: no call that must be
// denied is allowed, no call is refused, and the next one works.
func TestKilled(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
	program(t, "lictor")
	u.run(t, u.bash("rm x"), "claude-code")
	rounds := 6
	if os.Getenv("LICTOR_SOAK") != "" {
		rounds = 50
	}
	var calls atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := u.run(t, u.bash("rm x"), "claude-code")
				decision, reason := decisionOf(t, []byte(r.stdout))
				assert.Equal(t, "deny", decision, "%+v", r)
				assert.Contains(t, reason, "bash(rm *)", "%+v", r)
				calls.Add(1)
			}
		})
	}
	for range rounds {
		h := u.waitForDaemon(t)
		time.Sleep(time.Duration(h.PID%40) * time.Millisecond)
		require.NoError(t, syscall.Kill(h.PID, syscall.SIGKILL))
		r := u.run(t, u.bash("rm x"), "claude-code")
		decision, _ := decisionOf(t, []byte(r.stdout))
		require.Equal(t, "deny", decision, "%+v", r)
	}
	close(stop)
	all.Wait()
	t.Logf("%d calls, %d daemons", calls.Load(), len(u.pids()))
}

// A daemon that stopped answering costs time, not safety.
func TestHangs(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
	u.run(t, u.bash("rm x"), "claude-code")
	h := u.waitForDaemon(t)
	require.NoError(t, syscall.Kill(h.PID, syscall.SIGSTOP))
	defer syscall.Kill(h.PID, syscall.SIGKILL)
	start := time.Now()
	r := u.run(t, u.bash("rm x"), "claude-code")
	assert.Less(t, time.Since(start), hook.HostTimeout)
	decision, reason := decisionOf(t, []byte(r.stdout))
	assert.Equal(t, "deny", decision)
	// The rule, or on a machine that is too busy for both the client's own deadline.
	assert.Regexp(t, `bash\(rm \*\)|in time`, reason)
	assert.Contains(t, r.stdout+r.stderr, "in time")
}

// If nothing works, each agent gets its own refusal.
func TestNothingWorks(t *testing.T) {
	u := newUser(t)
	alone := filepath.Join(t.TempDir(), "lictor-hook")
	text, err := os.ReadFile(program(t, "lictor-hook"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(alone, text, 0o755))
	// A lictor on PATH is not the sibling.
	path := []string{"PATH=" + filepath.Dir(program(t, "lictor"))}
	for _, agent := range hook.Names() {
		d, err := hook.Find(agent)
		require.NoError(t, err)
		for what, r := range map[string]result{
			"no sibling":        u.command(t, alone, u.bash("ls"), path, agent),
			"no HOME":           u.command(t, alone, u.bash("ls"), []string{"HOME="}, agent),
			"a sibling crashes": u.command(t, program(t, "lictor-hook"), u.bash("ls"), []string{"LICTOR_TEST_COLD=crash", "HOME=relative"}, agent),
			"wrong arguments":   u.command(t, alone, u.bash("ls"), nil, agent, "--root", "/"),
		} {
			want := d.Block("x")
			assert.Equal(t, want.Code, r.code, "%s %s %+v", agent, what, r)
			assert.Contains(t, strings.ToLower(r.stdout), "deny", "%s %s", agent, what)
			assert.NotContains(t, r.stdout, `"allow"`)
		}
	}
	for _, args := range [][]string{nil, {"nobody"}, {""}, {"--ask"}} {
		r := u.command(t, alone, nil, nil, args...)
		assert.Equal(t, 2, r.code, "%v", args)
		assert.NotEmpty(t, r.stderr)
	}
}

// An input that does not end is refused before the agent gives up.
func TestInputDoesNotEnd(t *testing.T) {
	u := newUser(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	start := time.Now()
	p, err := os.StartProcess(program(t, "lictor-hook"), []string{"lictor-hook", "claude-code"}, &os.ProcAttr{
		Env: []string{"HOME=" + u.home}, Files: []*os.File{r, nil, nil},
	})
	require.NoError(t, err)
	r.Close()
	state, err := p.Wait()
	require.NoError(t, err)
	assert.Equal(t, 2, state.ExitCode())
	assert.Less(t, time.Since(start), hook.HostTimeout)
}

// An agent that went away gets the code that blocks, not a signal.
func TestBrokenPipe(t *testing.T) {
	u := newUser(t)
	in, inW, err := os.Pipe()
	require.NoError(t, err)
	outR, out, err := os.Pipe()
	require.NoError(t, err)
	outR.Close()
	p, err := os.StartProcess(program(t, "lictor-hook"), []string{"lictor-hook", "gemini"}, &os.ProcAttr{
		Env: []string{"HOME=" + u.home}, Files: []*os.File{in, out, nil},
	})
	require.NoError(t, err)
	in.Close()
	out.Close()
	inW.Close()
	state, err := p.Wait()
	require.NoError(t, err)
	assert.Equal(t, 2, state.ExitCode(), state.String())

	// Without a standard output the runtime opens the null device, where nothing fails.
	silent := exec.Command(program(t, "lictor-hook"), "claude-code")
	silent.Dir, silent.Env, silent.Stdin = u.root, []string{"HOME=" + u.home}, bytes.NewReader(u.bash("rm x"))
	assert.Error(t, silent.Run())
	assert.Equal(t, 2, silent.ProcessState.ExitCode())
}
