//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/daemon/client"
)

type webUser struct {
	*user
	address, token string
}

func newWebUser(t *testing.T) *webUser {
	t.Helper()
	u := newUser(t)
	u.settings(t, `{"permissions":{"deny":["bash(rm *)"],"ask":["bash(git push*)"]}}`)
	address := u.serve(t, Options{HTTP: "127.0.0.1:0"})
	key, err := token(u.home)
	require.NoError(t, err)
	return &webUser{u, address, key}
}

func (w *webUser) send(t *testing.T, method, path, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+w.address+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+w.token)
	if change != nil {
		change(r)
	}
	out, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	return out.StatusCode, string(text)
}

func TestHTTPHook(t *testing.T) {
	w := newWebUser(t)
	for command, want := range map[string]string{"rm x": "deny", "git push": "ask", "make": "ask"} {
		code, body := w.send(t, "POST", "/hook/claude-code", string(w.bash(command)), nil)
		assert.Equal(t, 200, code)
		decision, _ := decisionOf(t, []byte(body))
		assert.Equal(t, want, decision, command)
	}
	// Whatever is wrong with a request to a hook, its answer is a denial with 200:
	// agents take any other status for no objection.
	for what, body := range map[string]string{"no JSON": "x", "empty": "", "too long": `{"a":"` + strings.Repeat("x", maxBody) + `"}`, "much too long": strings.Repeat("x", 2*maxBody)} {
		code, text := w.send(t, "POST", "/hook/claude-code", body, nil)
		assert.Equal(t, 200, code, what)
		decision, _ := decisionOf(t, []byte(text))
		assert.Equal(t, "deny", decision, what)
	}
	for what, header := range map[string]string{"no token": "", "another": "Bearer x", "its beginning": "Bearer " + w.token[:10], "another scheme": "Basic " + w.token} {
		code, text := w.send(t, "POST", "/hook/claude-code", string(w.bash("make")), func(r *http.Request) { r.Header.Set("Authorization", header) })
		assert.Equal(t, 200, code, what)
		decision, reason := decisionOf(t, []byte(text))
		assert.Equal(t, "deny", decision, what)
		assert.Contains(t, reason, "token", what)
		code, text = w.send(t, "POST", "/hook/claude-code", strings.Repeat("x", maxBody), func(r *http.Request) { r.Header.Set("Authorization", header) })
		assert.Equal(t, 200, code, what)
		assert.Contains(t, text, "token", what)
	}
	// The agent's project folder comes with a header.
	sub := w.root + "/sub"
	require.NoError(t, os.MkdirAll(sub+"/.lictor", 0o700))
	_, text := w.send(t, "POST", "/hook/claude-code", string(event(sub, "Bash", map[string]any{"command": "rm x"})), nil)
	decision, _ := decisionOf(t, []byte(text))
	assert.Equal(t, "ask", decision)
	_, text = w.send(t, "POST", "/hook/claude-code", string(event(sub, "Bash", map[string]any{"command": "rm x"})),
		func(r *http.Request) { r.Header.Set(projectHeader, w.root) })
	decision, _ = decisionOf(t, []byte(text))
	assert.Equal(t, "deny", decision)
}

func TestHTTPGuard(t *testing.T) {
	w := newWebUser(t)
	for what, row := range map[string]struct {
		method, path string
		code         int
		change       func(*http.Request)
	}{
		"fine":                   {"GET", "/health", 200, nil},
		"metrics":                {"GET", "/metrics", 200, nil},
		"no token":               {"GET", "/health", 401, func(r *http.Request) { r.Header.Del("Authorization") }},
		"no token for a verdict": {"POST", "/v1/data/lictor/verdict", 401, func(r *http.Request) { r.Header.Del("Authorization") }},
		"another host":           {"GET", "/health", 403, func(r *http.Request) { r.Host = "evil.example" }},
		"another port":           {"GET", "/health", 403, func(r *http.Request) { r.Host = "127.0.0.1:1" }},
		"a name that leads here": {"POST", "/hook/claude-code", 403, func(r *http.Request) { r.Host = strings.Replace(w.address, "127.0.0.1", "127.0.0.1.nip.example", 1) }},
		"localhost":              {"GET", "/health", 200, func(r *http.Request) { r.Host = strings.Replace(w.address, "127.0.0.1", "LocalHost", 1) }},
		"a page in a browser":    {"POST", "/hook/claude-code", 403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"an unknown agent":       {"POST", "/hook/nobody", 404, nil},
		"an unknown path":        {"POST", "/v1/data/other", 404, nil},
		"another method":         {"GET", "/hook/claude-code", 405, nil},
	} {
		t.Run(what, func(t *testing.T) {
			code, body := w.send(t, row.method, row.path, "", row.change)
			assert.Equal(t, row.code, code, body)
			assert.NotContains(t, body, w.token)
		})
	}
	info, err := os.Stat(TokenFile(w.home))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	require.NoError(t, os.Chmod(TokenFile(w.home), 0o640))
	_, err = token(w.home)
	assert.ErrorContains(t, err, "open to others")
}

func TestHTTPAddress(t *testing.T) {
	u := newUser(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "localhost:0", "x"} {
		err := Serve(context.Background(), Options{Home: u.home, HTTP: address})
		assert.ErrorContains(t, err, "address for HTTP", address)
		_, err = u.ask("claude-code", nil)
		assert.ErrorIs(t, err, client.ErrNoDaemon, "nothing is left behind")
	}
}

func TestHTTPVerdict(t *testing.T) {
	w := newWebUser(t)
	verdict := func(input string) (int, lictor.Verdict, string) {
		code, body := w.send(t, "POST", "/v1/data/lictor/verdict", input, nil)
		var out struct {
			Result lictor.Verdict `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &out), body)
		return code, out.Result, body
	}
	call := func(command string) string {
		return `{"tool":"bash","args":{"command":"` + command + `"},"root":"` + w.root + `"}`
	}
	for command, want := range map[string]lictor.Decision{"rm x": lictor.Deny, "git push": lictor.Ask} {
		code, v, body := verdict(`{"input":` + call(command) + `}`)
		assert.Equal(t, 200, code)
		assert.Equal(t, want, v.Decision, body)
		assert.Equal(t, "rule", v.By)
	}
	// The same as a whole document: the outcome for its facts.
	engine, err := lictor.Open(context.Background(), lictor.Options{Home: w.home, Root: w.root})
	require.NoError(t, err)
	defer engine.Close()
	document, err := engine.Input(context.Background(), lictor.Call{Tool: "bash", Args: []byte(`{"command":"rm x"}`)})
	require.NoError(t, err)
	text, err := json.Marshal(document)
	require.NoError(t, err)
	code, v, body := verdict(`{"input":` + string(text) + `}`)
	assert.Equal(t, 200, code, body)
	assert.Equal(t, lictor.Deny, v.Decision)
	assert.Equal(t, "3", v.Step)

	for what, row := range map[string]struct {
		body string
		code int
	}{
		"no input":        {`{}`, 400},
		"no object":       {`{"input":[]}`, 400},
		"no JSON":         {`x`, 400},
		"a key twice":     {`{"input":{"tool":"bash","tool":"ls","root":"` + w.root + `"}}`, 400},
		"an unknown key":  {`{"input":{"tool":"bash","roots":"` + w.root + `"}}`, 400},
		"no root":         {`{"input":{"tool":"bash","args":{"command":"ls"}}}`, 400},
		"an unknown fact": {`{"input":{"facts":{"nonsense":true}}}`, 400},
		"too long":        {`{"input":{"tool":"` + strings.Repeat("x", maxBody) + `"}}`, 413},
	} {
		code, _, body := verdict(row.body)
		assert.Equal(t, row.code, code, "%s: %s", what, body)
	}
	// A root that is none is a denial, not an error of the request.
	_, v, _ = verdict(`{"input":{"tool":"bash","args":{"command":"ls"},"root":"/"}}`)
	assert.Equal(t, lictor.Deny, v.Decision)
	assert.Equal(t, "error", v.By)
	code, v, _ = verdict(`{"input":{"tool":"bash","args":{"command":""},"root":"` + w.root + `"}}`)
	assert.Equal(t, 200, code)
	assert.Equal(t, lictor.Deny, v.Decision)
	assert.Equal(t, "input", v.By)
}
