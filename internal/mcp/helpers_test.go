package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
)

// The test binary is also the MCP server behind the proxy.
func TestMain(m *testing.M) {
	if log := os.Getenv("LICTOR_TEST_SERVER"); log != "" {
		if err := toolServer(log).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type echoArgs struct {
	Text string `json:"text"`
}

// toolServer writes each call that reaches it to a file.
func toolServer(log string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "tools", Version: "1"}, nil)
	for _, name := range []string{"echo", "drop", "drop__all", "ask"} {
		sdk.AddTool(s, &sdk.Tool{Name: name}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArgs) (*sdk.CallToolResult, any, error) {
			f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintln(f, name, in.Text)
			f.Close()
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name + ": " + in.Text}}}, nil, nil
		})
	}
	s.AddPrompt(&sdk.Prompt{Name: "hello"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Description: "said by the server"}, nil
	})
	return s
}

// newEngine opens an engine for a project with these permissions of the user.
func newEngine(t testing.TB, permissions string, approver lictor.Approver) *lictor.Engine {
	t.Helper()
	base := t.TempDir()
	home, root := filepath.Join(base, "home"), filepath.Join(base, "work")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".lictor"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".lictor"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".lictor", "permissions.json"), []byte(`{"permissions":`+permissions+`}`), 0o600))
	engine, err := lictor.Open(context.Background(), lictor.Options{Root: root, Home: home, Approver: approver})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

// answers is an approver with one answer for everything.
type answers lictor.Decision

func (a answers) Ask(context.Context, lictor.Request) (lictor.Answer, error) {
	if a == "allow" {
		return lictor.AnswerOnce, nil
	}
	return lictor.AnswerDeny, nil
}

// waits is an approver that never answers.
type waits struct{ asked chan bool }

func (w waits) Ask(ctx context.Context, _ lictor.Request) (lictor.Answer, error) {
	w.asked <- true
	<-ctx.Done()
	return lictor.AnswerDeny, ctx.Err()
}

// proxied is a running proxy: its two ends and what the server got to do.
type proxied struct {
	in   io.WriteCloser
	out  io.ReadCloser
	log  string
	done chan error
}

func startProxy(t testing.TB, engine *lictor.Engine) *proxied {
	t.Helper()
	own, err := os.Executable()
	require.NoError(t, err)
	p := &proxied{log: filepath.Join(t.TempDir(), "calls"), done: make(chan error, 1)}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p.in, p.out = inW, outR
	run := func(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
		return RunPlain(ctx, append([]string{"/usr/bin/env", "LICTOR_TEST_SERVER=" + p.log}, argv...), stdin, stdout, stderr)
	}
	go func() {
		err := Proxy(context.Background(), engine, ProxyOptions{
			Server: "tools", Command: []string{own}, Run: run, Stdin: inR, Stdout: outW, Stderr: os.Stderr,
		})
		outW.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		select {
		case err := <-p.done:
			require.NoError(t, err)
		case <-time.After(30 * time.Second):
			t.Error("the proxy does not end")
		}
	})
	return p
}

// calls are the calls that reached the server.
func (p *proxied) calls(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// connect puts a real client in front of the proxy.
func (p *proxied) connect(t testing.TB) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &sdk.IOTransport{Reader: p.out, Writer: p.in}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

func textOf(t testing.TB, r *sdk.CallToolResult) string {
	t.Helper()
	require.Len(t, r.Content, 1)
	c, ok := r.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	return c.Text
}
