//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/daemon/client"
	"github.com/lictor-policy/lictor/internal/hook"
)

// What the daemon says is, to the byte, what the same call gets without it.
func TestWarmIsCold(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"],"ask":["bash(git push*)"],"allow":["bash(make)"]}}`)
	write(t, filepath.Join(u.home, ".lictor", "permissions.json"), `{"permissions":{"allow":["Bash(ls)","Read(src/**)"]}}`)
	sub := filepath.Join(u.root, "src")
	require.NoError(t, os.Mkdir(sub, 0o755))
	u.serve(t, Options{})
	var inputs [][]byte
	for _, command := range []string{"ls", "rm x", "git push", "make", "cat .env", "echo > ../x", ""} {
		inputs = append(inputs, u.bash(command))
	}
	inputs = append(inputs,
		event(sub, "Read", map[string]any{"file_path": filepath.Join(sub, "a.go")}),
		event(sub, "Read", map[string]any{"file_path": "../.env"}),
		event(sub, "mcp__x__y", map[string]any{"a": 1}),
		event("/", "Bash", map[string]any{"command": "ls"}),
		event("", "Bash", map[string]any{"command": "ls"}),
		event("relative", "Bash", map[string]any{"command": "ls"}),
		[]byte(`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"`+u.root+`"}`),
		[]byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm x"},"cwd":"`+u.root+`"}`),
		[]byte(`{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"},"cwd":"`+u.root+`"}`),
		[]byte(`{"hook_event_name":"beforeShellExecution","command":"ls","cwd":"","workspace_roots":["`+u.root+`"]}`),
		[]byte(`{"hook_event_name":"beforeReadFile","file_path":"`+u.root+`/src/a","attachments":[{"file_path":"`+u.root+`/.env"}],"workspace_roots":["`+u.root+`"]}`),
		[]byte(`{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}","cwd":"`+u.root+`"}`),
		[]byte(`{"event":"tool.execute.before","tool":"bash","args":{"command":"rm x"},"cwd":"`+u.root+`","project":"`+u.root+`"}`),
		nil, []byte("x"), []byte(`{"hook_event_name":"PreToolUse"}`), []byte(`{"a":1,"a":2}`),
	)
	for _, agent := range append(hook.Names(), "nobody") {
		for _, in := range inputs {
			for _, ask := range []bool{false, true} {
				cold := Once(context.Background(), &Call{
					Agent: agent, Ask: ask, Cwd: u.root, Getenv: func(string) string { return "" }, Stdin: in,
				}, lictor.Options{Home: u.home})
				warm, err := client.Ask(u.home, &client.Request{
					Kind: client.KindHook, Agent: agent, Ask: ask, Home: u.home, Space: client.Space(),
					Cwd: u.root, Stdin: in, Limit: hook.Deadline,
				}, time.Now().Add(20*time.Second))
				require.NoError(t, err)
				what := fmt.Sprintf("%s %s", agent, in)
				assert.Equal(t, client.StatusAnswer, warm.Status, what)
				assert.Equal(t, string(cold.Stdout), string(warm.Stdout), what)
				assert.Equal(t, string(cold.Stderr), string(warm.Stderr), what)
				assert.Equal(t, cold.Code, warm.Code, what)
			}
		}
	}
}

// A changed file is seen by the very next call, however it was written, and also
// where neither size nor modification time tell.
func TestNextCallSeesTheChange(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	settings := filepath.Join(u.root, ".lictor", "settings.json")
	deny, ask := `{"permissions":{"deny":["bash(make *)"]}}`, `{"permissions":{"deny":["bash(rm   *)"]}}`
	require.Len(t, ask, len(deny))
	for i := range 60 {
		text, want := deny, "deny"
		if i%2 == 1 {
			text, want = ask, "ask"
		}
		switch i % 3 {
		case 0:
			write(t, settings, text)
		case 1:
			require.NoError(t, os.WriteFile(settings, []byte(text), 0o600))
		case 2:
			require.NoError(t, os.WriteFile(settings, []byte(text), 0o600))
			past := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(settings, past, past))
		}
		got, reason := u.decision(t, "make all")
		require.Equal(t, want, got, "%d: %s", i, reason)
	}
	for _, file := range []string{filepath.Join(u.home, ".lictor", "permissions.json"), filepath.Join(u.root, ".lictor", "permissions.local.json")} {
		write(t, file, `{"permissions":{"deny":["Bash(ls)"]}}`)
		got, _ := u.decision(t, "ls")
		assert.Equal(t, "deny", got, file)
		require.NoError(t, os.Remove(file))
		got, _ = u.decision(t, "ls")
		assert.NotEqual(t, "deny", got, file)
	}
	// Another folder in the place of the root.
	require.NoError(t, os.Rename(u.root, u.root+".old"))
	write(t, settings, `{"permissions":{"deny":["bash(ls)"]}}`)
	got, _ := u.decision(t, "ls")
	assert.Equal(t, "deny", got)
}

// The configuration of package managers counts where a project's network.allow
// has presets, and managed bundles always do.
func TestNextCallSeesOtherFiles(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"network":{"allow":["npm"]}}`)
	u.serve(t, Options{})
	u.decision(t, "ls")
	time.Sleep(settled + 200*time.Millisecond)
	u.decision(t, "ls") // the files are settled now
	u.decision(t, "ls")
	for what, change := range map[string]func(){
		"a registry": func() { write(t, filepath.Join(u.home, ".npmrc"), "registry=https://npm.corp.example/\n") },
		"a bundle":   func() { write(t, filepath.Join(u.home, ".lictor", "bundles", "x", "policy.json"), `{}`) },
	} {
		before := metric(t, u, "lictor_reloads_total")
		u.decision(t, "ls")
		require.Equal(t, before, metric(t, u, "lictor_reloads_total"), what)
		change()
		u.decision(t, "ls")
		assert.NotEqual(t, before, metric(t, u, "lictor_reloads_total"), what)
		u.decision(t, "ls")
		time.Sleep(settled + 200*time.Millisecond)
		u.decision(t, "ls")
	}
}

// Files that cannot be read leave the last good rules in force, and every answer
// says so until they can.
func TestLastGood(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(make *)"]}}`)
	u.serve(t, Options{})
	got, _ := u.decision(t, "make all")
	require.Equal(t, "deny", got)
	u.settings(t, `{"permissions":{"deny":[`)
	for range 3 {
		r, err := u.ask("claude-code", u.bash("make all"))
		require.NoError(t, err)
		got, reason := decisionOf(t, r.Stdout)
		assert.Equal(t, "deny", got)
		assert.Contains(t, reason, "last good rules")
		assert.Contains(t, reason, "settings.json")
		assert.Contains(t, string(r.Stderr), "lictor: notice: decided by the last good rules")
	}
	u.settings(t, `{}`)
	got, reason := u.decision(t, "make all")
	assert.Equal(t, "ask", got)
	assert.NotContains(t, reason, "last good")
	// There is no last good for a project that was never read.
	other := &user{u.home, filepath.Join(filepath.Dir(u.root), "other")}
	other.settings(t, `{`)
	got, reason = other.decision(t, "ls")
	assert.Equal(t, "deny", got)
	assert.Contains(t, reason, "settings.json")
}

// rewriting changes the rules of make between deny and ask until stop is called,
// which returns how often.
func (u *user) rewriting(t *testing.T) (stop func() int) {
	t.Helper()
	revisions := []string{`{"permissions":{"deny":["bash(make *)"]}}`, `{"permissions":{"ask":["bash(make *)"]}}`}
	u.settings(t, revisions[0])
	end, done := make(chan struct{}), make(chan int)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-end:
				done <- n
				return
			case <-time.After(time.Millisecond):
				u.settings(t, revisions[n%2])
			}
		}
	}()
	return func() int { close(end); return <-done }
}

// ofOneRevision checks that an answer is the verdict of one of the two revisions.
func ofOneRevision(t *testing.T, r result) {
	t.Helper()
	decision, reason := decisionOf(t, []byte(r.stdout))
	assert.Zero(t, r.code, reason)
	assert.Empty(t, r.stderr)
	switch decision {
	case "deny":
		assert.Contains(t, reason, "denied by the deny rule bash(make *)")
	case "ask":
		assert.Contains(t, reason, "asked by the ask rule bash(make *)")
	default:
		assert.Fail(t, "wrong verdict", "%s %s", decision, reason)
	}
}

// A thousand calls at once while the rules change: each verdict is that of one
// of the two revisions, none is an error.
func TestRewrites(t *testing.T) {
	u := newUser(t)
	stop := u.rewriting(t)
	u.serve(t, Options{})
	const calls = 1000
	var took [calls]time.Duration
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			start := time.Now()
			r, err := u.ask("claude-code", u.bash("make all"))
			took[i] = time.Since(start)
			if assert.NoError(t, err) && assert.Equal(t, client.StatusAnswer, r.Status, "%s", r.Stderr) {
				ofOneRevision(t, result{string(r.Stdout), string(r.Stderr), r.Code})
			}
		})
	}
	all.Wait()
	p50, p99 := percentiles(took[:])
	t.Logf("%d calls, %d rewrites, p50 %s, p99 %s", calls, stop(), p50, p99)
}

// The same with a process for each call: those for which the daemon has no time
// are decided the cold way, by one of the two revisions too.
func TestRewritesProcesses(t *testing.T) {
	u := newUser(t)
	stop := u.rewriting(t)
	program(t, "lictor")
	u.serve(t, Options{})
	u.decision(t, "make all")
	calls := 200
	if os.Getenv("LICTOR_SOAK") != "" {
		calls = 1000
	}
	took := make([]time.Duration, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			start := time.Now()
			r := u.run(t, u.bash("make all"), "claude-code")
			took[i] = time.Since(start)
			if strings.HasSuffix(r.stderr, "decided without the daemon\n") {
				r.stderr = ""
			}
			ofOneRevision(t, r)
		})
	}
	all.Wait()
	p50, p99 := percentiles(took)
	t.Logf("%d processes, %d rewrites, p50 %s, p99 %s, %s cold", calls, stop(), p50, p99, metric(t, u, "lictor_cold_total"))
}

// Calls of many projects: the number of engines stays bounded, and none is
// closed under a call.
func TestManyRoots(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{MaxRoots: 2})
	var all sync.WaitGroup
	for i := range 6 {
		other := &user{u.home, filepath.Join(filepath.Dir(u.root), fmt.Sprint("p", i))}
		rule := fmt.Sprintf(`{"permissions":{"deny":["bash(make %d)"]}}`, i)
		other.settings(t, rule)
		all.Go(func() {
			for range 10 {
				got, reason := other.decision(t, fmt.Sprint("make ", i))
				assert.Equal(t, "deny", got, reason)
				got, reason = other.decision(t, fmt.Sprint("make ", i+1))
				assert.Equal(t, "ask", got, reason)
			}
		})
	}
	all.Wait()
	h, err := AskHealth(u.home)
	require.NoError(t, err)
	assert.LessOrEqual(t, h.Engines, 2)
	assert.True(t, h.OK)
}

func TestOneDaemon(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	assert.ErrorIs(t, Serve(context.Background(), Options{Home: u.home}), ErrRunning)
	_, err := AskHealth(u.home)
	require.NoError(t, err)
}

func TestEnds(t *testing.T) {
	for what, end := range map[string]func(*user){
		"a client says so": func(u *user) { require.NoError(t, Stop(u.home)) },
		"nobody calls":     func(*user) {},
		"its folder goes":  func(u *user) { require.NoError(t, os.RemoveAll(client.Dir(u.home))) },
	} {
		t.Run(what, func(t *testing.T) {
			u := newUser(t)
			o := Options{Home: u.home, Idle: -1}
			switch what {
			case "nobody calls":
				o.Idle = 50 * time.Millisecond
			case "its folder goes":
				o.Idle = time.Minute // looked at in this rhythm, at most every 10 seconds
			}
			ready, done := make(chan bool, 1), make(chan error, 1)
			o.Ready = func(string, string) { ready <- true }
			go func() { done <- Serve(context.Background(), o) }()
			<-ready
			end(u)
			select {
			case err := <-done:
				require.NoError(t, err)
			case <-time.After(20 * time.Second):
				t.Fatal("it does not end")
			}
			_, err := u.ask("claude-code", u.bash("ls"))
			assert.ErrorIs(t, err, client.ErrNoDaemon)
			assert.NoError(t, Stop(u.home), "there is none")
		})
	}
}

// SIGHUP reads everything again.
func TestHangup(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	u.decision(t, "ls")
	before := metric(t, u, "lictor_reloads_total")
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool {
		u.decision(t, "ls")
		return metric(t, u, "lictor_reloads_total") != before
	}, 10*time.Second, 10*time.Millisecond)
}

// A daemon that would read other files leaves the call to the cold path.
func TestUnfit(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	for what, change := range map[string]func(*client.Request){
		"home":  func(r *client.Request) { r.Home += "x" },
		"space": func(r *client.Request) { r.Space = "mnt:[1]" },
	} {
		r := client.NewRequest("claude-code", false, u.bash("ls"))
		r.Home, r.Limit = u.home, time.Second
		change(r)
		out, err := client.Ask(u.home, r, time.Now().Add(5*time.Second))
		require.NoError(t, err)
		assert.Equal(t, client.StatusCold, out.Status, what)
	}
}

// Another version of the program is noticed.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lictor")
	require.NoError(t, os.WriteFile(path, []byte("1"), 0o755))
	x := identify(path)
	assert.False(t, x.replaced())
	write(t, path, "2")
	assert.True(t, x.replaced())
	x.stamp = stampOf(path, true, false)
	require.NoError(t, os.Remove(path))
	assert.True(t, x.replaced())
}

// Secrets of a client's environment are not in the record, although the daemon's
// own environment does not have them.
func TestSecretsOfClients(t *testing.T) {
	u := newUser(t)
	u.serve(t, Options{})
	r := client.NewRequest("claude-code", false, u.bash("curl -H x:zq81kkd7ah22 https://x.example"))
	r.Home, r.Limit, r.Vars = u.home, 8*time.Second, []string{"MY_SERVICE_KEY=zq81kkd7ah22"}
	out, err := client.Ask(u.home, r, time.Now().Add(20*time.Second))
	require.NoError(t, err)
	require.Equal(t, client.StatusAnswer, out.Status)
	var lines strings.Builder
	require.NoError(t, filepath.WalkDir(filepath.Join(u.home, ".lictor", "audit"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			lines.Write(text)
		}
		return err
	}))
	assert.Contains(t, lines.String(), "curl")
	assert.NotContains(t, lines.String(), "zq81kkd7ah22")
}

func metric(t testing.TB, u *user, name string) string {
	t.Helper()
	text, err := AskMetrics(u.home)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no metric %s in %s", name, text)
	return ""
}

func TestMetrics(t *testing.T) {
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"]}}`)
	u.serve(t, Options{})
	u.decision(t, "rm x")
	u.decision(t, "make")
	assert.Equal(t, "1", metric(t, u, `lictor_verdicts_total{decision="deny"}`))
	assert.Equal(t, "1", metric(t, u, `lictor_verdicts_total{decision="ask"}`))
	assert.Equal(t, "2", metric(t, u, "lictor_call_seconds_count"))
	assert.Equal(t, "1", metric(t, u, "lictor_engines"))
	h, err := AskHealth(u.home)
	require.NoError(t, err)
	text, err := json.Marshal(h)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"ok":true`)
}

// The daemon's memory does not grow with the calls.
func TestMemoryFlat(t *testing.T) {
	calls := 50_000
	if n := os.Getenv("LICTOR_SOAK"); n != "" {
		calls = 1_000_000
	}
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"],"ask":["bash(git push*)"]}}`)
	u.serve(t, Options{})
	load := func(n int) {
		var next atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					r, err := u.ask("claude-code", u.bash(fmt.Sprintf("make target%d && git status && cat src/%d.go", i, i%97)))
					if err != nil || r.Status != client.StatusAnswer {
						t.Errorf("%v %+v", err, r)
						return
					}
				}
			})
		}
		all.Wait()
	}
	load(calls / 5)
	before := liveHeap()
	start := time.Now()
	load(calls)
	after := liveHeap()
	t.Logf("%d calls in %s (%s each); heap %d kB before, %d kB after", calls, time.Since(start).Round(time.Millisecond),
		(time.Since(start) / time.Duration(calls)).Round(time.Microsecond), before>>10, after>>10)
	assert.Less(t, after, before+4<<20)
	assert.Less(t, after, uint64(80<<20))
}
