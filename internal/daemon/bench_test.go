//go:build unix

package daemon

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
)

// benchUser is a user with a daemon and rules.
func benchUser(b *testing.B, o Options) (*user, string) {
	b.Helper()
	u := newUser(b)
	u.settings(b, `{"permissions":{"deny":["bash(rm *)"],"ask":["bash(git push*)"]}}`)
	address := u.serve(b, o)
	u.decision(b, "git status")
	return u, address
}

// process runs a program once an iteration with the same input.
func process(b *testing.B, u *user, path string, args ...string) {
	b.Helper()
	in := u.bash("git status && go test ./...")
	env := append(os.Environ(), "HOME="+u.home)
	for b.Loop() {
		cmd := exec.Command(path, args...)
		cmd.Env, cmd.Dir = env, u.root
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout = bytes.NewReader(in), &out
		if err := cmd.Run(); err != nil || out.Len() == 0 {
			b.Fatal(err, out.String())
		}
	}
}

// BenchmarkEcho is the bare process that BenchmarkHookWarm is measured against.
func BenchmarkEcho(b *testing.B) {
	u, _ := benchUser(b, Options{})
	process(b, u, program(b, "echo"))
}

// BenchmarkHookWarm is a whole hook call with a warm daemon.
func BenchmarkHookWarm(b *testing.B) {
	u, _ := benchUser(b, Options{})
	process(b, u, program(b, "lictor-hook"), "claude-code")
}

// BenchmarkHookWarmPaired runs echo and lictor-hook in turns and reports the ratio
// of their medians: one after the other, a busy machine would decide it. An
// allowed call is compared; a denial or a question waits for the disk besides.
func BenchmarkHookWarmPaired(b *testing.B) {
	u, _ := benchUser(b, Options{})
	write(b, filepath.Join(u.home, ".lictor", "permissions.json"), `{"permissions":{"allow":["Bash(git status)"]}}`)
	time.Sleep(settled)
	for name, command := range map[string]string{"allowed": "git status", "asked": "make"} {
		b.Run(name, func(b *testing.B) {
			echo, hook := paired(b, u, command, program(b, "lictor-hook"))
			b.ReportMetric(float64(hook)/float64(echo), "x-echo")
		})
	}
}

// BenchmarkHookCold is a whole `lictor hook` without a daemon, in turns with echo:
// the policy is compiled, the files are read, one call is decided and recorded.
func BenchmarkHookCold(b *testing.B) {
	u := newUser(b)
	u.settings(b, `{"permissions":{"deny":["bash(rm *)"],"ask":["bash(git push*)"]}}`)
	released := filepath.Join(b.TempDir(), "lictor")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", released, "../../cmd/lictor")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(b, err, "%s", out)
	echo, hook := paired(b, u, "git status && go test ./...", released, "hook")
	b.ReportMetric(float64(hook), "p50-ns")
	b.ReportMetric(float64(hook)/float64(echo), "x-echo")
}

// paired runs echo and a hook of Claude Code in turns, with a call of a command
// as input, and returns the medians of their times.
func paired(b *testing.B, u *user, command, path string, args ...string) (echo, hook time.Duration) {
	b.Helper()
	in := u.bash(command)
	env := append(os.Environ(), "HOME="+u.home)
	once := func(path string, args ...string) time.Duration {
		cmd := exec.Command(path, args...)
		cmd.Env, cmd.Dir = env, u.root
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout = bytes.NewReader(in), &out
		start := time.Now()
		if err := cmd.Run(); err != nil || out.Len() == 0 {
			b.Fatal(err, out.String())
		}
		return time.Since(start)
	}
	var echoes, hooks []time.Duration
	for b.Loop() {
		echoes = append(echoes, once(program(b, "echo")))
		hooks = append(hooks, once(path, append(args, "claude-code")...))
	}
	slices.Sort(echoes)
	slices.Sort(hooks)
	return echoes[len(echoes)/2], hooks[len(hooks)/2]
}

// BenchmarkSocket is the round trip of one call.
func BenchmarkSocket(b *testing.B) {
	u, _ := benchUser(b, Options{})
	in := u.bash("git status && go test ./...")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.ask("claude-code", in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHTTP is the round trip of one call on a connection that stays open.
func BenchmarkHTTP(b *testing.B) {
	u, address := benchUser(b, Options{HTTP: "127.0.0.1:0"})
	key, err := token(u.home)
	require.NoError(b, err)
	in := string(u.bash("git status && go test ./..."))
	for b.Loop() {
		r, err := http.NewRequest(http.MethodPost, "http://"+address+"/hook/claude-code", strings.NewReader(in))
		require.NoError(b, err)
		r.Header.Set("Authorization", "Bearer "+key)
		out, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out.Body)
		out.Body.Close()
	}
}

// BenchmarkFresh is what it costs to know that no file has changed.
func BenchmarkFresh(b *testing.B) {
	u := newUser(b)
	var o Options
	o.Home = u.home
	require.NoError(b, o.fill())
	r := newRoots(o, &metrics{})
	defer r.close()
	e, err := r.acquire(u.root)
	require.NoError(b, err)
	defer r.release(e)
	v, err := e.fresh(context.Background(), r)
	require.NoError(b, err)
	settledView := view{stamps: v.stamps}
	b.ReportAllocs()
	for b.Loop() {
		if !e.current(&settledView) {
			b.Fatal("not fresh")
		}
	}
}

// BenchmarkCheck is the engine's part of a call.
func BenchmarkCheck(b *testing.B) {
	u, _ := benchUser(b, Options{})
	engine, err := lictor.Open(context.Background(), lictor.Options{Home: u.home, Root: u.root})
	require.NoError(b, err)
	defer engine.Close()
	call := lictor.Call{Tool: "Bash", Args: []byte(`{"command":"git status && go test ./..."}`), Cwd: u.root}
	for b.Loop() {
		if _, err := engine.Check(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}
