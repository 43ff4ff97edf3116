//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const permissions = `{"allow":["MCP(tools/echo)"],"deny":["MCP(tools/drop)","mcp__tools__drop__all(*)"]}`

// A real client and a real server with the proxy between them.
func TestProxy(t *testing.T) {
	ctx := context.Background()
	p := startProxy(t, newEngine(t, permissions, answers("deny")))
	session := p.connect(t)
	tools, err := session.ListTools(ctx, nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	assert.ElementsMatch(t, []string{"echo", "ask"}, names, "what can never be allowed is not shown")

	r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi <&>"}})
	require.NoError(t, err)
	assert.False(t, r.IsError)
	assert.Equal(t, "echo: hi <&>", textOf(t, r))
	for name, reason := range map[string]string{"drop": "denied by the deny rule", "drop__all": "denied by the deny rule", "ask": "lictor: "} {
		r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: map[string]any{"text": "x"}})
		require.NoError(t, err)
		assert.True(t, r.IsError, name)
		assert.Contains(t, textOf(t, r), reason)
	}
	assert.Equal(t, []string{"echo hi <&>"}, p.calls(t))
	// Everything else is the server's.
	prompt, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: "hello"})
	require.NoError(t, err)
	assert.Equal(t, "said by the server", prompt.Description)
	require.NoError(t, session.Ping(ctx, nil))
	_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "unknown"})
	require.NoError(t, err, "asked about and denied")
}

func TestProxyAsks(t *testing.T) {
	p := startProxy(t, newEngine(t, permissions, answers("allow")))
	session := p.connect(t)
	r, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"text": "x"}})
	require.NoError(t, err)
	assert.Equal(t, "ask: x", textOf(t, r))
}

// A question keeps no other message waiting, and a call that is taken back while
// it is asked about is never made.
func TestProxyCancel(t *testing.T) {
	w := waits{make(chan bool, 1)}
	p := startProxy(t, newEngine(t, permissions, w))
	session := p.connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"text": "x"}})
		failed <- err
	}()
	<-w.asked
	r, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "y"}})
	require.NoError(t, err)
	assert.False(t, r.IsError)
	cancel()
	assert.ErrorIs(t, <-failed, context.Canceled)
	require.NoError(t, session.Ping(context.Background(), nil))
	assert.Equal(t, []string{"echo y"}, p.calls(t))
}

// loop is a server that answers nothing and keeps what it gets.
type loop struct {
	got  bytes.Buffer
	says string
}

func (l *loop) run(_ context.Context, _ []string, stdin io.Reader, stdout, _ io.Writer) error {
	if _, err := io.WriteString(stdout, l.says); err != nil {
		return err
	}
	_, err := io.Copy(&l.got, stdin)
	return err
}

// through sends lines through a proxy and returns what each side got.
func through(t *testing.T, lines, says string) (server, client string) {
	t.Helper()
	l := &loop{says: says}
	var out bytes.Buffer
	require.NoError(t, Proxy(context.Background(), newEngine(t, permissions, nil), ProxyOptions{
		Server: "tools", Command: []string{"x"}, Run: l.run, Stdin: strings.NewReader(lines), Stdout: &out,
	}))
	return l.got.String(), out.String()
}

// What is no tools/call passes byte for byte, in both directions.
func TestProxyPassesThrough(t *testing.T) {
	lines := `{ "jsonrpc":"2.0", "id":1,"method":"initialize","params":{"x": 1.0e3, "é":"\u00e9"}, "more":[ ] }` + "\n" +
		`{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"n":12345678901234567890, "text":"x"}}}` + "\n"
	says := "no JSON\n" + `{"jsonrpc":"2.0", "id":9,"method":"sampling/createMessage","params":{}}` + "\n"
	server, client := through(t, lines, says)
	assert.Equal(t, lines, server)
	assert.Equal(t, says, client)
}

// What two readers could read differently does not reach the server.
func TestProxyStrict(t *testing.T) {
	for what, line := range map[string]string{
		"two methods":            `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"drop"}}`,
		"another letter case":    `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"drop"}}`,
		"only another case":      `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"drop"}}`,
		"params in another":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"drop"}}`,
		"two names":              `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"drop"}}`,
		"two names exactly":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"drop"}}`,
		"arguments twice":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","text":"b"}}}`,
		"a batch":                `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}]`,
		"two documents":          `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"drop"}}`,
		"no JSON":                `tools/call`,
		"no name":                `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`,
		"no params":              `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"a list of arguments":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}`,
		"an id that is none":     `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"echo"}}`,
		"an escaped denied name": `{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"dr\u006fp"}}`,
	} {
		t.Run(what, func(t *testing.T) {
			server, client := through(t, line+"\n", "")
			assert.Empty(t, server)
			var reply struct {
				Error  *struct{ Message string }
				Result *struct{ IsError bool }
			}
			require.NoError(t, json.Unmarshal([]byte(client), &reply), client)
			assert.True(t, reply.Error != nil || reply.Result != nil && reply.Result.IsError, client)
		})
	}
	server, client := through(t, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"drop"}}`+"\n", "")
	assert.Empty(t, server, "a denied notification")
	assert.Empty(t, client, "has no answer")
}

func TestProxyLongMessage(t *testing.T) {
	l := &loop{}
	err := Proxy(context.Background(), newEngine(t, permissions, nil), ProxyOptions{
		Server: "tools", Command: []string{"x"}, Run: l.run, Stdout: io.Discard,
		Stdin: io.LimitReader(zeros{}, maxLine+10),
	})
	assert.ErrorContains(t, err, "longer than")
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestProxyServerEnds(t *testing.T) {
	engine := newEngine(t, permissions, nil)
	in, w := io.Pipe()
	defer w.Close()
	for what, run := range map[string]Runner{
		"ended":    func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return nil },
		"an error": func(context.Context, []string, io.Reader, io.Writer, io.Writer) error { return errors.New("boom") },
		"no such":  RunPlain,
		// The end of the output is seen before the end of the program.
		"output first": func(_ context.Context, _ []string, _ io.Reader, out, _ io.Writer) error {
			_ = out.(io.Closer).Close()
			time.Sleep(50 * time.Millisecond)
			return errors.New("boom")
		},
	} {
		err := Proxy(context.Background(), engine, ProxyOptions{
			Server: "tools", Command: []string{"/nonexistent/server"}, Run: run, Stdin: in, Stdout: io.Discard,
		})
		assert.Error(t, err, what)
	}
	// Nor is the error of a server lost if the client went at once.
	gone := strings.NewReader("")
	assert.Error(t, Proxy(context.Background(), engine, ProxyOptions{
		Server: "tools", Command: []string{"/nonexistent/server"}, Run: RunPlain, Stdin: gone, Stdout: io.Discard,
	}))
	assert.NoError(t, Proxy(context.Background(), engine, ProxyOptions{
		Server: "tools", Command: []string{"cat"}, Run: RunPlain, Stdin: gone, Stdout: io.Discard,
	}))
	// A server that does not end when the proxy must is ended.
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.NoError(t, Proxy(ctx, engine, ProxyOptions{Server: "tools", Command: []string{"sleep", "60"}, Stdin: in, Stdout: io.Discard}))
	assert.Less(t, time.Since(start), 10*time.Second)
}

func TestServerNames(t *testing.T) {
	for _, good := range []string{"tools", "my-server", "a.b", "a_b_c", "X1"} {
		assert.NoError(t, CheckServerName(good), good)
	}
	for _, bad := range []string{"", "a__b", "a_", "_a", "a/b", "a b", "ä", "a\n", "*"} {
		assert.Error(t, CheckServerName(bad), bad)
	}
}

// Lines end where they end, with or without a newline at the very end.
func TestLines(t *testing.T) {
	var got []string
	long := strings.Repeat("x", 200_000)
	require.NoError(t, lines(bufio.NewReader(strings.NewReader("a\n"+long+"\nb")), func(line []byte) error {
		got = append(got, string(line))
		return nil
	}))
	assert.Equal(t, []string{"a\n", long + "\n", "b\n"}, got)
}

// A message that passes is one that every reader reads alike.
func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
	f.Add([]byte(`{"id":"1","METHOD":"ping","method":"tools/call"}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parseMessage(line)
		if err != nil {
			return
		}
		var loose struct{ Method string }
		require.NoError(t, json.Unmarshal(line, &loose))
		require.Equal(t, m.method, loose.Method)
		if m.id != nil {
			require.NotEmpty(t, m.key())
		}
	})
}
