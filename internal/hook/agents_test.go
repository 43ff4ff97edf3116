package hook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestClaudeCode(t *testing.T) {
	call := `{"session_id":"s","cwd":"/p","permission_mode":"bypassPermissions","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1","effort":"high"}`
	request := `{"session_id":"s","cwd":"/p","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"},"permission_suggestions":[]}`
	contract(t, "claude-code", []answer{
		// hookEventName is required: output without it counts as no decision.
		{name: "allow", in: call, verdict: model.Allow, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "ask", in: call, verdict: model.Ask, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "request allow", in: request, verdict: model.Allow, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n"},
		{name: "request deny", in: request, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"lictor: why"}}}` + "\n"},
		// The agent is about to ask: silence lets it.
		{name: "request ask", in: request, verdict: model.Ask},
		{name: "request replaced", in: request, verdict: model.Allow, options: Options{Command: "x"}, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"x"}}}}` + "\n"},
		{name: "after", in: `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_response":{"stdout":""}}`},
		{name: "start", in: `{"hook_event_name":"SessionStart","source":"startup"}`, options: Options{Context: "guarded"}, stdout: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"guarded"}}` + "\n"},
	})
	decodes(t, "claude-code", []decoded{
		{in: call, kind: PreToolUse, tool: "Bash", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"hook_event_name":"PreToolUse","permission_mode":"plan","tool_name":"mcp__a__b"}`, kind: PreToolUse, tool: "mcp__a__b", args: `{}`, plan: true},
		{in: request, kind: PermissionRequest, tool: "Bash", cwd: "/p"},
	})
	d, _ := Find("claude-code")
	// Exit code 2 alone is overlooked by builds that read the object, and the object
	// alone by builds that read the code.
	assert.Equal(t, Reply{
		Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: boom"}}` + "\n"),
		Stderr: []byte("lictor: boom\n"), Code: 2,
	}, d.Block("boom"))
	// PermissionRequest does not honour exit code 2: the block is the object.
	e, err := d.Decode([]byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":7}`))
	require.Error(t, err)
	assert.Equal(t, Reply{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"lictor: boom"}}}` + "\n")}, d.Refuse(e, "boom"))
}

func TestCodex(t *testing.T) {
	call := `{"session_id":"s","turn_id":"t","cwd":"/p","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c"}`
	request := `{"hook_event_name":"PermissionRequest","turn_id":"t","tool_name":"Bash","tool_input":{"command":"ls","description":null}}`
	contract(t, "codex", []answer{
		// A bare allow is "unsupported": the hook would count as failed. Silence lets
		// the call go on to Codex' own approvals.
		{name: "allow", in: call, verdict: model.Allow},
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: why"}}` + "\n"},
		// ask is unsupported too and would run the tool.
		{name: "ask", in: call, verdict: model.Ask, options: Options{Ask: true}, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: why (a question, but this agent's hooks cannot ask: a rule would allow it)"}}` + "\n"},
		{name: "request allow", in: request, verdict: model.Allow, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n"},
		{name: "request deny", in: request, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"lictor: why"}}}` + "\n"},
		{name: "request ask", in: request, verdict: model.Ask},
	})
	decodes(t, "codex", []decoded{
		{in: call, kind: PreToolUse, tool: "Bash", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"hook_event_name":"PreToolUse","permission_mode":"plan","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch"}}`, kind: PreToolUse, tool: "apply_patch", plan: true},
		// What Codex asks about leaves its sandbox, and the arguments do not say so.
		{in: request, kind: PermissionRequest, tool: "Bash", args: `{"command":"ls","description":null,"outside_sandbox":true}`},
		{in: `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls","with_escalated_permissions":false}}`, kind: PermissionRequest, tool: "Bash", args: `{"command":"ls","outside_sandbox":true}`},
	})
	d, _ := Find("codex")
	// Exit code 2 with an empty standard error does not block.
	assert.Equal(t, "lictor: boom\n", string(d.Block("boom").Stderr))
	assert.Equal(t, 2, d.Block("").Code)
	assert.NotEmpty(t, d.Block("").Stderr)
}

func TestCursor(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".cursor"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".cursor", "mcp.json"), []byte(`{"mcpServers":{"github":{"command":"npx","args":["-y","server-github"]},"my__db":{"url":"http://localhost:1"},"twin":{"url":"http://t"},"twin2":{"url":"http://t"}}}`), 0o600))
	shell := `{"conversation_id":"c","hook_event_name":"beforeShellExecution","workspace_roots":["/w","/p"],"command":"ls","cwd":"/p/sub"}`
	read := `{"hook_event_name":"beforeReadFile","workspace_roots":["/p"],"file_path":"/p/a","content":"secret","attachments":[]}`
	write := `{"hook_event_name":"preToolUse","workspace_roots":["/p"],"tool_name":"Write","tool_input":{"file_path":"/p/a"},"cwd":"/p"}`
	mcp := func(more string) string {
		return `{"hook_event_name":"beforeMCPExecution","workspace_roots":["` + filepath.ToSlash(root) + `"],"tool_name":"create_issue","tool_input":"{\"title\":\"x\"}",` + more + `}`
	}
	deny := `{"permission":"deny","user_message":"lictor: why","agent_message":"lictor: why","userMessage":"lictor: why","agentMessage":"lictor: why"}` + "\n"
	noAsk := "lictor: why (a question, but this agent may skip questions: a rule would allow it, or install the hook with --ask)"
	never := "lictor: why (a question, but Cursor does not ask in this event: a rule would allow it)"
	all := func(permission, text string) string {
		return `{"permission":"` + permission + `","user_message":"` + text + `","agent_message":"` + text + `","userMessage":"` + text + `","agentMessage":"` + text + `"}` + "\n"
	}
	contract(t, "cursor", []answer{
		{name: "allow", in: shell, verdict: model.Allow, stdout: `{"permission":"allow"}` + "\n"},
		// Older builds read userMessage and agentMessage.
		{name: "deny", in: shell, verdict: model.Deny, stdout: deny},
		// Automatic review skips the question.
		{name: "ask", in: shell, verdict: model.Ask, stdout: all("deny", noAsk)},
		{name: "ask with somebody there", in: shell, verdict: model.Ask, options: Options{Ask: true}, stdout: all("ask", "lictor: why")},
		// beforeReadFile honours only allow and deny; preToolUse takes ask and runs.
		{name: "ask about a file", in: read, verdict: model.Ask, options: Options{Ask: true}, stdout: all("deny", never)},
		// --ask would change nothing there, so it is not advised.
		{name: "ask about a file with nobody there", in: read, verdict: model.Ask, stdout: all("deny", never)},
		{name: "ask before a tool", in: write, verdict: model.Ask, options: Options{Ask: true}, stdout: all("deny", never)},
		{name: "allow a known server", in: mcp(`"command":"npx -y server-github"`), verdict: model.Allow, stdout: `{"permission":"allow"}` + "\n"},
		// Without the server's name a deny rule for it could be missed.
		{
			name: "allow an unknown server", in: mcp(`"command":"npx other"`), verdict: model.Allow, options: Options{Ask: true},
			stdout: all("ask", "lictor: allowed by rule, but the MCP server of this tool is not in Cursor's mcp.json, so its name is not known"),
		},
		{name: "deny an unknown server", in: mcp(`"url":"http://nowhere"`), verdict: model.Deny, stdout: deny},
		// afterFileEdit comes too late: it decides nothing.
		{name: "after", in: `{"hook_event_name":"afterFileEdit","file_path":"/p/a","edits":[]}`, stdout: "{}\n"},
	})
	decodes(t, "cursor", []decoded{
		{in: shell, kind: PreToolUse, tool: "Shell", args: `{"command":"ls"}`, cwd: "/p/sub", project: "/p"},
		{in: `{"hook_event_name":"beforeShellExecution","workspace_roots":["/p"],"command":"ls","cwd":""}`, kind: PreToolUse, tool: "Shell", cwd: "/p", project: "/p"},
		{in: read, kind: PreToolUse, tool: "Read", args: `{"file_path":"/p/a"}`, cwd: "/p", project: "/p"},
		{in: write, kind: PreToolUse, tool: "Write", args: `{"file_path":"/p/a"}`, cwd: "/p", project: "/p"},
		{in: mcp(`"command":"npx -y server-github"`), kind: PreToolUse, tool: "mcp__github__create_issue", args: `{"title":"x"}`, cwd: filepath.ToSlash(root), project: filepath.ToSlash(root)},
		{in: mcp(`"url":"http://localhost:1"`), kind: PreToolUse, tool: "mcp/my__db/create_issue", cwd: filepath.ToSlash(root), project: filepath.ToSlash(root)},
		{in: mcp(`"url":"http://t"`), kind: PreToolUse, tool: "MCP:create_issue", cwd: filepath.ToSlash(root), project: filepath.ToSlash(root)},
		{in: `{"hook_event_name":"preToolUse","composer_mode":"plan","tool_name":"MCP:x","tool_input":{}}`, kind: PreToolUse, tool: "MCP:x", plan: true},
	})
	d, _ := Find("cursor")
	// The ids of the turn and of the call are two, and no contradiction.
	common := `"conversation_id":"c","generation_id":"g","model":"m","cursor_version":"2","workspace_roots":["/p"],"user_email":null,"transcript_path":null,"cwd":"/p",`
	for in, id := range map[string]string{
		`{` + common + `"hook_event_name":"preToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a"},"tool_use_id":"t"}`: "t",
		`{` + common + `"hook_event_name":"beforeShellExecution","command":"ls"}`:                                                "g",
	} {
		e, err := d.Decode([]byte(in))
		require.NoError(t, err)
		assert.Equal(t, id, e.Call.CallID)
	}
	// Everything attached to a file that is read reaches the model too.
	e, err := d.Decode([]byte(`{"hook_event_name":"beforeReadFile","workspace_roots":["/p"],"file_path":"/p/a","attachments":[{"type":"file","file_path":"/p/.env"},{"type":"rule"}]}`))
	require.NoError(t, err)
	require.Len(t, e.Also, 1)
	assert.JSONEq(t, `{"file_path":"/p/.env"}`, string(e.Also[0].Args))
	// JSON on every path, and exit code 2.
	r := d.Block("boom")
	assert.Equal(t, `{"permission":"deny","user_message":"lictor: boom","agent_message":"lictor: boom","userMessage":"lictor: boom","agentMessage":"lictor: boom"}`+"\n", string(r.Stdout))
	assert.Equal(t, 2, r.Code)
}

func TestGemini(t *testing.T) {
	call := `{"session_id":"s","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	contract(t, "gemini", []answer{
		{name: "allow", in: call, verdict: model.Allow, stdout: `{"decision":"allow"}` + "\n"},
		// Exit code 0: with another code, what is printed is read the same, so the code
		// adds nothing, and exit code 2 with nothing printed runs the tool.
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"decision":"deny","reason":"lictor: why"}` + "\n"},
		// ask turns a denial of Gemini's own policy into a question.
		{name: "ask", in: call, verdict: model.Ask, stdout: `{"decision":"deny","reason":"lictor: why (a question, but this agent may skip questions: a rule would allow it, or install the hook with --ask)"}` + "\n"},
		{name: "ask with somebody there", in: call, verdict: model.Ask, options: Options{Ask: true}, stdout: `{"decision":"ask","reason":"lictor: why","systemMessage":"lictor: why"}` + "\n"},
		{name: "after", in: `{"hook_event_name":"AfterTool","tool_name":"read_file","tool_input":{}}`, stdout: "{}\n"},
		{name: "start", in: `{"hook_event_name":"SessionStart"}`, options: Options{Context: "guarded"}, stdout: `{"hookSpecificOutput":{"additionalContext":"guarded"}}` + "\n"},
	})
	decodes(t, "gemini", []decoded{
		{in: call, kind: PreToolUse, tool: "run_shell_command", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"hook_event_name":"BeforeTool","tool_name":"mcp_a_b_c","tool_input":{}}`, kind: PreToolUse, tool: "mcp_a_b_c"},
		// In mcp_a_b_c the server's name is not told apart; mcp_context does.
		{in: `{"hook_event_name":"BeforeTool","tool_name":"mcp_a_b_c","tool_input":{},"mcp_context":{"server_name":"a_b","tool_name":"c"}}`, kind: PreToolUse, tool: "mcp__a_b__c"},
	})
	d, _ := Find("gemini")
	// A block has a decision on standard output: exit code 2 with JSON that has none,
	// or with nothing printed, runs the tool.
	assert.Equal(t, Reply{Stdout: []byte(`{"decision":"deny","reason":"lictor: boom"}` + "\n")}, d.Block("boom"))
}

func TestCopilot(t *testing.T) {
	call := `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`
	pascal := `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p","tool_name":"bash","tool_input":{"command":"ls"}}`
	request := `{"hookName":"permissionRequest","cwd":"/p","toolName":"bash","toolInput":{"command":"ls"}}`
	both := func(decision, reason string) string {
		return `{"permissionDecision":"` + decision + `","permissionDecisionReason":"` + reason + `","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + decision + `","permissionDecisionReason":"` + reason + `"}}` + "\n"
	}
	contract(t, "copilot", []answer{
		{name: "allow", in: call, verdict: model.Allow, stdout: `{"permissionDecision":"allow","permissionDecisionReason":"lictor: why"}` + "\n"},
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"permissionDecision":"deny","permissionDecisionReason":"lictor: why"}` + "\n"},
		// The cloud agent honours nothing but deny.
		{name: "ask", in: call, verdict: model.Ask, stdout: `{"permissionDecision":"deny","permissionDecisionReason":"lictor: why (a question, but this agent may skip questions: a rule would allow it, or install the hook with --ask)"}` + "\n"},
		{name: "ask with somebody there", in: call, verdict: model.Ask, options: Options{Ask: true}, stdout: `{"permissionDecision":"ask","permissionDecisionReason":"lictor: why"}` + "\n"},
		{name: "pascal allow", in: pascal, verdict: model.Allow, stdout: both("allow", "lictor: why")},
		{name: "pascal deny", in: pascal, verdict: model.Deny, stdout: both("deny", "lictor: why")},
		{name: "request allow", in: request, verdict: model.Allow, stdout: `{"behavior":"allow"}` + "\n"},
		{name: "request deny", in: request, verdict: model.Deny, stdout: `{"behavior":"deny","message":"lictor: why"}` + "\n"},
		{name: "request ask", in: request, verdict: model.Ask, stdout: "{}\n"},
		// The tools of MCP servers do not say which server: never allowed unasked.
		{
			name: "mcp", in: `{"toolName":"github-mcp-create_issue","toolArgs":"{}"}`, verdict: model.Allow, options: Options{Ask: true},
			stdout: `{"permissionDecision":"ask","permissionDecisionReason":"lictor: allowed by rule, but Copilot does not say which MCP server is meant"}` + "\n",
		},
		{name: "after", in: `{"toolName":"bash","toolArgs":"{}","toolResult":{"resultType":"success"}}`, stdout: "{}\n"},
	})
	decodes(t, "copilot", []decoded{
		// The event's name is not sent; what is there tells it.
		{in: call, kind: PreToolUse, tool: "bash", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"toolName":"bash","toolArgs":{"command":"ls"}}`, kind: PreToolUse, tool: "bash", args: `{"command":"ls"}`},
		{in: `{"toolName":"bash","toolArgs":""}`, kind: PreToolUse, tool: "bash", args: `{}`},
		{in: pascal, kind: PreToolUse, tool: "bash", args: `{"command":"ls"}`, cwd: "/p"},
		{in: request, kind: PermissionRequest, tool: "bash", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"toolName":"github-mcp-create_issue","toolArgs":"{}"}`, kind: PreToolUse, tool: "MCP:github-mcp-create_issue"},
	})
	d, _ := Find("copilot")
	// Exit code 2 denies only since 1.0.70, a failing hook only since 1.0.57: the
	// object with exit code 0 denies everywhere.
	assert.Zero(t, d.Block("boom").Code)
	assert.Contains(t, string(d.Block("boom").Stdout), `"permissionDecision":"deny"`)
	assert.Contains(t, string(d.Block("boom").Stdout), `"behavior":"deny"`)
}

func TestVSCode(t *testing.T) {
	call := `{"timestamp":"2026-01-01T00:00:00Z","cwd":"/p","sessionId":"s","hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"t"}`
	contract(t, "vscode", []answer{
		{name: "allow", in: call, verdict: model.Allow, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "ask", in: call, verdict: model.Ask, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"lictor: why"}}` + "\n"},
	})
	decodes(t, "vscode", []decoded{
		{in: call, kind: PreToolUse, tool: "run_in_terminal", args: `{"command":"ls"}`, cwd: "/p"},
		{in: `{"hook_event_name":"PreToolUse","hookEventName":"PreToolUse","tool_name":"mcp_a_b","tool_input":{}}`, kind: PreToolUse, tool: "mcp_a_b"},
	})
	d, _ := Find("vscode")
	// Codes other than 2 only warn.
	assert.Equal(t, 2, d.Block("boom").Code)
}

func TestOpencode(t *testing.T) {
	call := `{"event":"tool.execute.before","tool":"bash","args":{"command":"ls"},"sessionID":"s","callID":"c","cwd":"/p/sub","project":"/p","agent":"build"}`
	contract(t, "opencode", []answer{
		{name: "allow", in: call, verdict: model.Allow, stdout: `{"decision":"allow"}` + "\n"},
		{name: "deny", in: call, verdict: model.Deny, stdout: `{"decision":"deny","reason":"lictor: why"}` + "\n"},
		// A plugin has no question.
		{name: "ask", in: call, verdict: model.Ask, options: Options{Ask: true}, stdout: `{"decision":"deny","reason":"lictor: why (a question, but this agent's hooks cannot ask: a rule would allow it)"}` + "\n"},
	})
	decodes(t, "opencode", []decoded{
		{in: call, kind: PreToolUse, tool: "bash", args: `{"command":"ls"}`, cwd: "/p/sub", project: "/p"},
		{in: `{"event":"tool.execute.before","tool":"apply_patch","args":{"patchText":"x"},"agent":"plan"}`, kind: PreToolUse, tool: "apply_patch", plan: true},
		{in: `{"event":"tool.execute.before","tool":"github_create_issue","args":{}}`, kind: PreToolUse, tool: "mcp__github__create_issue"},
		{in: `{"event":"tool.execute.after","tool":"bash","args":{},"output":{"output":"x"}}`, kind: PostToolUse, tool: "bash"},
	})
}

func TestDroid(t *testing.T) {
	camel := `{"hookEventName":"PreToolUse","sessionId":"s","permissionMode":"auto-full","cwd":"/p","tool_name":"Execute","tool_input":{"command":"ls"}}`
	snake := `{"hook_event_name":"PreToolUse","session_id":"s","permission_mode":"spec","cwd":"/p","tool_name":"linear___create_issue","tool_input":{}}`
	contract(t, "droid", []answer{
		{name: "allow", in: camel, verdict: model.Allow, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "deny", in: camel, verdict: model.Deny, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lictor: why"}}` + "\n"},
		{name: "ask", in: snake, verdict: model.Ask, stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"lictor: why"}}` + "\n"},
	})
	decodes(t, "droid", []decoded{
		{in: camel, kind: PreToolUse, tool: "Execute", args: `{"command":"ls"}`, cwd: "/p"},
		{in: snake, kind: PreToolUse, tool: "mcp__linear__create_issue", cwd: "/p", plan: true},
	})
	d, _ := Find("droid")
	assert.Equal(t, 2, d.Block("boom").Code)
}

// TestProjectsAreTheAgentsOwn: agents start each other; the variable of another
// one names another project.
func TestProjectsAreTheAgentsOwn(t *testing.T) {
	env := func(name string) string { return "/" + name }
	for agent, want := range map[string]string{
		"claude-code": "/CLAUDE_PROJECT_DIR", "gemini": "/GEMINI_PROJECT_DIR", "droid": "/FACTORY_PROJECT_DIR",
		"cursor": "/CURSOR_PROJECT_DIR", "codex": "", "opencode": "", "copilot": "", "vscode": "",
	} {
		d, err := Find(agent)
		require.NoError(t, err)
		assert.Equal(t, want, Project(d, &Event{}, env), agent)
		assert.Equal(t, "/own", Project(d, &Event{Project: "/own"}, env), agent)
	}
	_, err := Find("nobody")
	assert.ErrorContains(t, err, "claude-code")
}
