//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/daemon/client"
	"github.com/lictor-policy/lictor/internal/hook"
)

// The test binary is also the program `lictor`, under that name, and the other
// user of the tests about users.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "lictor" {
		os.Exit(lictorProgram(os.Args[1:]))
	}
	switch os.Getenv("LICTOR_TEST_ROLE") {
	case "listen":
		os.Exit(roleListen(os.Getenv("LICTOR_TEST_SOCKET")))
	case "dial":
		os.Exit(roleDial(os.Getenv("LICTOR_TEST_SOCKET")))
	}
	code := m.Run()
	if programsDir != "" {
		os.RemoveAll(programsDir)
	}
	os.Exit(code)
}

// programsDir is where programs are built, "" if none are.
var programsDir string

// lictorProgram is what `lictor hook` and `lictor serve` do.
func lictorProgram(args []string) int {
	if len(args) > 0 && args[0] == "serve" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err := Serve(ctx, Options{Ready: func(string, string) {
			// Where it is counted how many daemons were started.
			f, err := os.OpenFile(filepath.Join(os.Getenv("HOME"), "starts"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err == nil {
				fmt.Fprintln(f, os.Getpid())
				f.Close()
			}
		}})
		if err != nil {
			return 1
		}
		return 0
	}
	if len(args) < 2 || args[0] != "hook" {
		return 3
	}
	if os.Getenv("LICTOR_TEST_COLD") == "crash" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	cwd, _ := os.Getwd()
	in, _ := io.ReadAll(os.Stdin)
	return hook.Emit(Once(context.Background(), &Call{
		Agent: args[1], Ask: len(args) > 2, Cwd: cwd, Getenv: os.Getenv, Stdin: in,
	}, lictor.Options{}), os.Stdout, os.Stderr)
}

func roleListen(path string) int {
	l, err := net.Listen("unix", path)
	if err != nil {
		return 1
	}
	_ = os.Chmod(path, 0o777)
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		// Whatever is asked, it is allowed.
		_, _ = client.ReadRequest(c)
		_, _ = c.Write(client.EncodeResponse(&client.Response{Status: client.StatusAnswer, Stdout: []byte("FORGED")}))
		c.Close()
	}
}

func roleDial(path string) int {
	c, err := net.Dial("unix", path)
	if err != nil {
		return 3
	}
	frame, _ := client.EncodeRequest(&client.Request{Kind: client.KindHealth})
	_, _ = c.Write(frame)
	got, _ := io.ReadAll(c)
	if len(got) > 0 {
		return 4
	}
	return 0
}

// project is one user with one project.
type user struct{ home, root string }

func newUser(t testing.TB) *user {
	t.Helper()
	// Names of sockets are short, names of tests are not.
	base, err := os.MkdirTemp("", "lictor")
	require.NoError(t, err)
	t.Cleanup(func() { stopStarted(t, filepath.Join(base, "home")); os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	require.NoError(t, err)
	u := &user{filepath.Join(base, "home"), filepath.Join(base, "work")}
	for _, dir := range []string{filepath.Join(u.home, ".lictor"), filepath.Join(u.root, ".lictor")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	return u
}

// stopStarted ends a daemon that a client started, also one that is still about to
// listen: it holds the lock of the start until it ends.
func stopStarted(t testing.TB, home string) {
	lock, err := os.Open(filepath.Join(client.Dir(home), "start.lock"))
	if err != nil {
		return
	}
	defer lock.Close()
	for end := time.Now().Add(20 * time.Second); syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("a daemon is left behind")
			return
		}
		_ = Stop(home)
	}
}

// write replaces a file at once, as careful programs do.
func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

func (u *user) settings(t testing.TB, text string) {
	t.Helper()
	write(t, filepath.Join(u.root, ".lictor", "settings.json"), text)
}

// serve runs a daemon in this process until the test ends.
func (u *user) serve(t testing.TB, o Options) (http string) {
	t.Helper()
	o.Home = u.home
	ready := make(chan string, 1)
	o.Ready = func(_, http string) { ready <- http }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	select {
	case http = <-ready:
	case err := <-done:
		done <- err
		require.NoError(t, err, "the daemon ended")
	}
	return http
}

// bash is a Claude Code event about a command.
func (u *user) bash(command string) []byte {
	return event(u.root, "Bash", map[string]any{"command": command})
}

func event(cwd, tool string, input map[string]any) []byte {
	out, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "cwd": cwd, "permission_mode": "default",
		"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1",
	})
	if err != nil {
		panic(err)
	}
	return out
}

// ask sends one call to the daemon.
func (u *user) ask(agent string, stdin []byte) (*client.Response, error) {
	r := client.NewRequest(agent, false, stdin)
	r.Home, r.Cwd, r.Limit = u.home, u.root, 8*time.Second
	return client.Ask(u.home, r, time.Now().Add(30*time.Second))
}

// decision asks about a Claude Code command and returns the decision and reason.
func (u *user) decision(t testing.TB, command string) (string, string) {
	t.Helper()
	r, err := u.ask("claude-code", u.bash(command))
	require.NoError(t, err)
	require.Equal(t, client.StatusAnswer, r.Status, "%s", r.Stderr)
	return decisionOf(t, r.Stdout)
}

func decisionOf(t testing.TB, stdout []byte) (string, string) {
	t.Helper()
	var out struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	require.NoError(t, json.Unmarshal(stdout, &out), "%s", stdout)
	return out.Output.Decision, out.Output.Reason
}

// programs is a folder with lictor-hook, echo, and the test binary as lictor.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lictor-programs")
	if err != nil {
		return "", err
	}
	programsDir = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	for name, pkg := range map[string]string{"lictor-hook": "../../cmd/lictor-hook", "echo": "./testdata/echo"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(own)
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "lictor"), text, 0o755)
})

func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

// result is what a process said.
type result struct {
	stdout, stderr string
	code           int
}

// run runs lictor-hook for an agent.
func (u *user) run(t testing.TB, stdin []byte, args ...string) result {
	t.Helper()
	return u.command(t, program(t, "lictor-hook"), stdin, nil, args...)
}

func (u *user) command(t testing.TB, path string, stdin []byte, env []string, args ...string) result {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir = u.root
	cmd.Env = append([]string{"HOME=" + u.home, "PATH=/nonexistent"}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Errorf("%s: %v", path, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}
