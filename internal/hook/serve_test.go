package hook

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// calls are a call of each dialect.
var calls = map[string]string{
	"claude-code": `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
	"codex":       `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
	"copilot":     `{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`,
	"cursor":      `{"hook_event_name":"beforeShellExecution","command":"ls"}`,
	"droid":       `{"hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"ls"}}`,
	"gemini":      `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`,
	"opencode":    `{"event":"tool.execute.before","tool":"bash","args":{"command":"ls"}}`,
	"vscode":      `{"hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":"ls"}}`,
}

// TestFailuresBlock: whatever fails on the way, the agent reads a refusal.
func TestFailuresBlock(t *testing.T) {
	allow := model.Verdict{Decision: model.Allow}
	for _, name := range Names() {
		d, err := Find(name)
		require.NoError(t, err)
		decide := func(f func(ctx context.Context) (model.Verdict, error)) Serving {
			return Serving{Limit: 200 * time.Millisecond, Decide: func(ctx context.Context, _ *Event, _ model.Call) (model.Verdict, error) { return f(ctx) }}
		}
		for what, c := range map[string]struct {
			in   io.Reader
			s    Serving
			want string
		}{
			"panic": {nil, decide(func(context.Context) (model.Verdict, error) { panic("boom\x1b[2J") }), "internal error: boom"},
			"panic with nothing": {nil, decide(func(context.Context) (model.Verdict, error) {
				panic(nil) //nolint:govet // that is what is tested
			}), "internal error"},
			"goexit": {nil, decide(func(context.Context) (model.Verdict, error) { runtime.Goexit(); return allow, nil }), "without a decision"},
			"error":  {nil, decide(func(context.Context) (model.Verdict, error) { return allow, errors.New("engine broken") }), "engine broken"},
			"slow": {nil, decide(func(ctx context.Context) (model.Verdict, error) {
				time.Sleep(5 * time.Second)
				return allow, nil
			}), "no decision within"},
			"no verdict": {nil, decide(func(context.Context) (model.Verdict, error) { return model.Verdict{}, nil }), "no decision"},
			"nobody":     {nil, Serving{}, "nobody decides"},
			// An agent that keeps the pipe open must not keep lictor beyond the host's time.
			"endless input": {blocking{}, decide(func(context.Context) (model.Verdict, error) { return allow, nil }), "no decision within"},
			"broken input":  {failing{}, decide(func(context.Context) (model.Verdict, error) { return allow, nil }), "reading the hook's input"},
			"sandbox": {nil, Serving{
				Decide:  func(context.Context, *Event, model.Call) (model.Verdict, error) { return allow, nil },
				Replace: func(context.Context, *Event, *model.Verdict) (string, error) { return "", errors.New("no sandbox") },
			}, "no sandbox"},
		} {
			if c.in == nil {
				c.in = strings.NewReader(calls[name])
			}
			r := Serve(context.Background(), d, c.in, c.s)
			blocks(t, name, r, name+" "+what)
			assert.Contains(t, string(r.Stdout), c.want, name+" "+what)
		}
		r := Serve(context.Background(), d, strings.NewReader(calls[name]), decide(func(context.Context) (model.Verdict, error) { return allow, nil }))
		assert.Zero(t, r.Code, name)
		assert.NotContains(t, string(r.Stdout), "deny", name)
	}
}

type blocking struct{}

func (blocking) Read([]byte) (int, error) { time.Sleep(time.Hour); return 0, io.EOF }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("torn") }

// TestDeadlineIsBelowTheHosts: what comes after the host's is taken for a hook that
// did not object.
func TestDeadlineIsBelowTheHosts(t *testing.T) {
	assert.Less(t, Deadline, HostTimeout)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := WithDeadline(ctx, time.Second, func(why string) Reply { return Reply{Stdout: []byte(why)} }, func(context.Context) Reply {
		time.Sleep(time.Minute)
		return Reply{}
	})
	assert.Equal(t, "the check was interrupted", string(r.Stdout))
}

// TestStrictestDecides: an event that stands for several calls is allowed only if
// all of them are.
func TestStrictestDecides(t *testing.T) {
	d, _ := Find("cursor")
	in := `{"hook_event_name":"beforeReadFile","file_path":"/a","attachments":[{"file_path":"/b"},{"file_path":"/c"}]}`
	for _, c := range []struct {
		verdicts []model.Decision
		want     string
	}{
		{[]model.Decision{model.Allow, model.Allow, model.Allow}, `"permission":"allow"`},
		{[]model.Decision{model.Allow, model.Allow, model.Deny}, `"permission":"deny"`},
		{[]model.Decision{model.Allow, model.Ask, model.Allow}, `"permission":"deny"`},
	} {
		n := 0
		r := Serve(context.Background(), d, strings.NewReader(in), Serving{Decide: func(context.Context, *Event, model.Call) (model.Verdict, error) {
			n++
			return model.Verdict{Decision: c.verdicts[n-1]}, nil
		}})
		assert.Contains(t, string(r.Stdout), c.want)
		assert.Equal(t, 3, n)
	}
}

// TestObserve: events that only tell go to Observe and stop nothing.
func TestObserve(t *testing.T) {
	d, _ := Find("claude-code")
	in := `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_response":{"x":1}}`
	var got *Event
	r := Serve(context.Background(), d, strings.NewReader(in), Serving{Observe: func(_ context.Context, e *Event) error { got = e; return nil }})
	assert.Equal(t, Reply{}, r)
	assert.JSONEq(t, `{"x":1}`, string(got.Response))
	r = Serve(context.Background(), d, strings.NewReader(in), Serving{Observe: func(context.Context, *Event) error { return errors.New("full") }})
	assert.Equal(t, 1, r.Code)
}

// TestBrokenPipe: an answer that the agent did not read must not end in a signal,
// which most agents take for a hook that did not object.
func TestBrokenPipe(t *testing.T) {
	if os.Getenv("LICTOR_TEST_EMIT") != "" {
		d, _ := Find("gemini")
		time.Sleep(300 * time.Millisecond)
		os.Exit(Emit(d.Encode(&model.Verdict{Decision: model.Allow}), os.Stdout, os.Stderr))
	}
	var stderr strings.Builder
	assert.Equal(t, 2, Emit(Reply{Stdout: []byte("x")}, torn{}, &stderr))
	assert.Contains(t, stderr.String(), "cannot be written")

	// A program that is started without standard output writes into the null device.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	stderr.Reset()
	assert.Equal(t, 2, Emit(Reply{Stdout: []byte("x")}, null, &stderr))
	assert.Contains(t, stderr.String(), "standard output is closed")
	assert.Equal(t, 0, Emit(Reply{}, null, &stderr), "silence needs nobody who reads it")

	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestBrokenPipe$")
	cmd.Env = append(os.Environ(), "LICTOR_TEST_EMIT=1")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	var errText strings.Builder
	cmd.Stdout, cmd.Stderr = write, &errText
	require.NoError(t, cmd.Start())
	write.Close()
	read.Close()
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 2, exit.ExitCode(), "%v", exit)
	assert.Contains(t, errText.String(), "cannot be written")
}

type torn struct{}

func (torn) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzDecode: whatever an agent sends, no dialect panics, and what is not read is
// refused.
func FuzzDecode(f *testing.F) {
	for _, in := range calls {
		f.Add(in)
	}
	f.Add(`{"hook_event_name":"beforeMCPExecution","tool_name":"t","tool_input":"{\"a\":1}","url":"u"}`)
	f.Add(`{"hook_event_name":"beforeReadFile","file_path":"/a","attachments":[{"file_path":"/b"}]}`)
	f.Add(`{"hook_event_name":"","toolName":"a-b","toolArgs":"\"x\""}`)
	f.Fuzz(func(t *testing.T, in string) {
		for _, d := range dialects {
			e, err := d.Decode([]byte(in))
			if err != nil {
				if e == nil || e.Kind.Decides() {
					blocks(t, d.Name(), d.Refuse(e, err.Error()), in)
				}
				continue
			}
			if e.Kind.Decides() && e.Call.Tool == "" {
				t.Fatalf("%s: a call without a tool: %q", d.Name(), in)
			}
		}
	})
}
