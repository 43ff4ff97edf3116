package mcp

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
)

// session is a real client of NewServer.
func session(t *testing.T, permissions string, approver lictor.Approver) *sdk.ClientSession {
	t.Helper()
	ctx := context.Background()
	one, two := sdk.NewInMemoryTransports()
	_, err := NewServer(newEngine(t, permissions, approver), "1.2.3").Connect(ctx, one, nil)
	require.NoError(t, err)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, two, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func call(t *testing.T, s *sdk.ClientSession, tool, args string, out any) {
	t.Helper()
	r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	require.NoError(t, err)
	require.False(t, r.IsError)
	require.NoError(t, json.Unmarshal([]byte(textOf(t, r)), out))
}

func TestServerTools(t *testing.T) {
	s := session(t, `{"deny":["Bash(rm *)"],"allow":["Bash(ls)"]}`, nil)
	tools, err := s.ListTools(context.Background(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 3)
	for args, want := range map[string]lictor.Decision{
		`{"tool":"bash","args":{"command":"rm x"}}`: lictor.Deny,
		`{"tool":"bash","args":{"command":"ls"}}`:   lictor.Allow,
		`{"tool":"bash","args":{"command":"make"}}`: lictor.Ask,
		`{"tool":"bash","args":{}}`:                 lictor.Deny,
		`{"tool":"bash","root":"/"}`:                lictor.Deny,
		`{"tool":""}`:                               lictor.Deny,
		`{}`:                                        lictor.Deny,
	} {
		var v lictor.Verdict
		call(t, s, "check", args, &v)
		assert.Equal(t, want, v.Decision, args)
		var e lictor.Explanation
		call(t, s, "explain", args, &e)
		assert.Equal(t, want, e.Verdict.Decision, args)
	}
}

// The answer of the permission prompt is the agent's contract, and it allows
// exactly the arguments that were decided.
func TestApprovePrompt(t *testing.T) {
	rules := `{"deny":["Bash(rm *)"],"allow":["Bash(ls)"]}`
	for _, row := range []struct {
		what, args string
		approver   lictor.Approver
		behavior   string
	}{
		{"denied", `{"tool_name":"Bash","input":{"command":"rm x"},"tool_use_id":"t"}`, answers("allow"), "deny"},
		{"allowed", `{"tool_name":"Bash","input":{"command":"ls"}}`, nil, "allow"},
		{"asked, yes", `{"tool_name":"Bash","input":{"command":"make"},"permission_suggestions":[]}`, answers("allow"), "allow"},
		{"asked, no", `{"tool_name":"Bash","input":{"command":"make"}}`, answers("deny"), "deny"},
		{"asked, nobody", `{"tool_name":"Bash","input":{"command":"make"}}`, nil, "deny"},
		{"no command", `{"tool_name":"Bash","input":{}}`, answers("allow"), "deny"},
		{"no tool", `{"input":{"command":"ls"}}`, answers("allow"), "deny"},
		{"no object", `{"tool_name":"Bash","input":"ls"}`, answers("allow"), "deny"},
		{"another case", `{"tool_name":"Bash","input":{"command":"ls"},"Input":{"command":"rm x"}}`, answers("allow"), "deny"},
	} {
		t.Run(row.what, func(t *testing.T) {
			s := session(t, rules, row.approver)
			var out map[string]json.RawMessage
			call(t, s, "approve_prompt", row.args, &out)
			assert.Equal(t, `"`+row.behavior+`"`, string(out["behavior"]))
			if row.behavior == "allow" {
				var in map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(row.args), &in))
				assert.JSONEq(t, string(in["input"]), string(out["updatedInput"]))
				assert.Len(t, out, 2)
				return
			}
			assert.NotEmpty(t, out["message"])
			assert.NotContains(t, out, "updatedInput")
		})
	}
}
