package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// answer is one row of a contract: what the agent sends, what lictor decided, and
// the exact bytes and code that the agent gets.
type answer struct {
	name string
	in   string
	// verdict is allow, deny or ask; "" for events that only tell.
	verdict model.Decision
	options Options
	stdout  string
	stderr  string
	code    int
}

func contract(t *testing.T, agent string, rows []answer) {
	t.Helper()
	d, err := Find(agent)
	require.NoError(t, err)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			e, err := d.Decode([]byte(row.in))
			require.NoError(t, err)
			var v *model.Verdict
			if row.verdict != "" {
				v = &model.Verdict{Decision: row.verdict, By: "rule", Reason: "why"}
			}
			got := d.Answer(e, v, row.options)
			assert.Equal(t, row.stdout, string(got.Stdout))
			assert.Equal(t, row.stderr, string(got.Stderr))
			assert.Equal(t, row.code, got.Code)
		})
	}
}

// decoded is one row of what a dialect reads.
type decoded struct {
	in      string
	kind    Kind
	tool    string
	args    string
	cwd     string
	project string
	plan    bool
}

func decodes(t *testing.T, agent string, rows []decoded) {
	t.Helper()
	d, err := Find(agent)
	require.NoError(t, err)
	for _, row := range rows {
		e, err := d.Decode([]byte(row.in))
		require.NoError(t, err, row.in)
		assert.Equal(t, row.kind, e.Kind, row.in)
		assert.Equal(t, row.tool, e.Call.Tool, row.in)
		if row.args != "" {
			assert.JSONEq(t, row.args, string(e.Call.Args), row.in)
		}
		assert.Equal(t, row.cwd, e.Call.Cwd, row.in)
		assert.Equal(t, row.project, e.Project, row.in)
		assert.Equal(t, row.plan, e.Call.Mode == model.ModePlan, row.in)
		assert.Equal(t, agent, e.Call.Agent)
	}
}

// refused checks that an input is blocked, in the agent's words, and never allowed.
func refused(t *testing.T, agent string, inputs ...string) {
	t.Helper()
	d, err := Find(agent)
	require.NoError(t, err)
	for _, in := range inputs {
		e, err := d.Decode([]byte(in))
		require.Error(t, err, in)
		blocks(t, agent, d.Refuse(e, err.Error()), in)
	}
}

// blocks checks that a reply blocks under the agent's contract.
func blocks(t *testing.T, agent string, r Reply, in string) {
	t.Helper()
	out := string(r.Stdout)
	assert.NotContains(t, out, `"allow"`, in)
	assert.True(t, json.Valid(r.Stdout), in)
	assert.Equal(t, 1, strings.Count(out, "\n"), "one object, one line: %s", in)
	assert.Contains(t, out, `"deny"`, in)
	switch agent {
	case "gemini", "copilot":
		assert.Zero(t, r.Code, in)
	default:
		if !strings.Contains(out, "PermissionRequest") {
			assert.Equal(t, 2, r.Code, in)
			assert.NotEmpty(t, strings.TrimSpace(string(r.Stderr)), in)
		}
	}
}

// TestBrokenInputBlocks sends every dialect what no agent should send.
func TestBrokenInputBlocks(t *testing.T) {
	for _, name := range Names() {
		refused(t, name, "", " ", "null", "[]", `"x"`, "1", "{", `{"a":1}{"b":2}`, `{"a":1,"a":2}`, "\xff\xfe", `{"hook_event_name":"Stop"}`,
			`{"hook_event_name":7}`, `{"hook_event_name":"PreToolUse","tool_name":["Bash"],"tool_input":{}}`,
			strings.Repeat("[", 100_000))
	}
}

// TestCaseOfMembersCounts: encoding/json would take Tool_Name for tool_name, so a
// second spelling could put another tool in the place of the one that runs.
func TestCaseOfMembersCounts(t *testing.T) {
	e, err := speaker{claudeCode{}}.Decode([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","TOOL_NAME":"Read","tool_input":{"command":"x"}}`))
	require.NoError(t, err)
	assert.Equal(t, "Bash", e.Call.Tool)
}

// TestNoVerdictIsARefusal: a verdict that is none of the three never passes.
func TestNoVerdictIsARefusal(t *testing.T) {
	for _, name := range Names() {
		d, err := Find(name)
		require.NoError(t, err)
		for _, v := range []*model.Verdict{nil, {}, {Decision: "maybe"}, {Decision: "ALLOW"}} {
			blocks(t, name, d.Answer(&Event{Kind: PreToolUse, Native: "PreToolUse"}, v, Options{}), name)
		}
		blocks(t, name, d.Answer(nil, &model.Verdict{Decision: model.Allow}, Options{}), name)
	}
}

// TestEventsThatTellStopNothing: their calls ran already; an error is shown, with a
// code that blocks nowhere.
func TestEventsThatTellStopNothing(t *testing.T) {
	for _, name := range Names() {
		d, err := Find(name)
		require.NoError(t, err)
		for _, k := range []Kind{PostToolUse, SessionStart} {
			r := d.Refuse(&Event{Kind: k}, "broken")
			assert.Equal(t, Reply{Stderr: []byte("broken\n"), Code: 1}, r)
			r = d.Answer(&Event{Kind: k}, nil, Options{})
			assert.Zero(t, r.Code)
			assert.NotContains(t, string(r.Stdout), "allow")
		}
	}
}

// TestReplacedCommands: the arguments come back whole with the command replaced,
// or the call is refused; never without the sandbox.
func TestReplacedCommands(t *testing.T) {
	args := `{"command":"ls","timeout":5}`
	for _, c := range []struct{ agent, native, args, want string }{
		{"claude-code", "PreToolUse", args, `"updatedInput":{"command":"lictor exec -- ls","timeout":5}`},
		{"codex", "PreToolUse", args, `"permissionDecision":"allow","updatedInput":{"command":"lictor exec -- ls","timeout":5}`},
		{"cursor", "preToolUse", args, `"updated_input":{"command":"lictor exec -- ls","timeout":5}`},
		{"gemini", "BeforeTool", args, `"hookSpecificOutput":{"tool_input":{"command":"lictor exec -- ls","timeout":5}}`},
		{"copilot", "preToolUse", args, `"modifiedArgs":{"command":"lictor exec -- ls","timeout":5}`},
		{"copilot", "PreToolUse", args, `"updatedInput":{"command":"lictor exec -- ls","timeout":5}`},
		{"vscode", "PreToolUse", args, `"updatedInput":{"command":"lictor exec -- ls","timeout":5}`},
		{"opencode", "tool.execute.before", args, `"args":{"command":"lictor exec -- ls","timeout":5}`},
		{"droid", "PreToolUse", args, `"updatedInput":{"command":"lictor exec -- ls","timeout":5}`},
		// No text to replace: the call would run outside of the sandbox.
		{"claude-code", "PreToolUse", `{"command":["ls"]}`, ""},
		{"claude-code", "PreToolUse", `{}`, ""},
		{"claude-code", "PreToolUse", `{"command":"a","cmd":"b"}`, ""},
		// Cursor replaces nothing in this event.
		{"cursor", "beforeShellExecution", args, ""},
	} {
		d, err := Find(c.agent)
		require.NoError(t, err)
		e := &Event{Kind: PreToolUse, Native: c.native, Call: model.Call{Args: json.RawMessage(c.args)}}
		r := d.Answer(e, &model.Verdict{Decision: model.Allow}, Options{Command: "lictor exec -- ls"})
		if c.want == "" {
			blocks(t, c.agent, r, c.args)
			continue
		}
		assert.Contains(t, string(r.Stdout), c.want)
		assert.Contains(t, string(r.Stdout), `"allow"`)
	}
	// A permission request of Codex and Copilot cannot replace anything.
	for _, name := range []string{"codex", "copilot"} {
		d, _ := Find(name)
		e := &Event{Kind: PermissionRequest, Call: model.Call{Args: json.RawMessage(args)}}
		blocks(t, name, d.Answer(e, &model.Verdict{Decision: model.Allow}, Options{Command: "x"}), name)
	}
}

// TestReasonsAreFitToPrint: reasons hold text that the model chose.
func TestReasonsAreFitToPrint(t *testing.T) {
	long := strings.Repeat("é", 9000)
	for _, name := range Names() {
		d, _ := Find(name)
		for _, reason := range []string{"a\x1b[2Jb\nc\u202ed", long, "\xff</script>"} {
			r := d.Block(reason)
			blocks(t, name, r, name)
			for _, text := range []string{string(r.Stdout), string(r.Stderr)} {
				assert.NotContains(t, text, "\x1b")
				assert.NotContains(t, text, "\u202e")
				assert.Less(t, len([]rune(text)), 15000)
			}
		}
	}
}

// TestWrongTypesBlock: each member that a dialect reads must have its type, and two
// spellings of one member must agree.
func TestWrongTypesBlock(t *testing.T) {
	refused(t, "claude-code",
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"{\"command\":\"ls\"}"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"a":1},"cwd":5}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"a":1,"a":2}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"","tool_input":{}}`,
		`{"hook_event_name":"PreToolUse","tool_input":{}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"permission_mode":true}`)
	refused(t, "vscode",
		`{"hookEventName":"PreToolUse","hook_event_name":"PostToolUse","tool_name":"x","tool_input":{}}`,
		`{"hookEventName":"PreToolUse","tool_name":"x","tool_input":[]}`)
	refused(t, "droid",
		`{"hookEventName":"PreToolUse","permissionMode":"default","permission_mode":"plan","tool_name":"x","tool_input":{}}`)
	// An event that is said in two ways is about to be made, whatever one of them says.
	refused(t, "droid", `{"hookEventName":"PostToolUse","hook_event_name":"PreToolUse","tool_name":"x","tool_input":{}}`)
	refused(t, "vscode",
		`{"hookEventName":"SessionStart","hook_event_name":"PreToolUse","tool_name":"x","tool_input":{}}`,
		`{"hookEventName":"PostToolUse","hook_event_name":1,"tool_name":"x","tool_input":{}}`)
	refused(t, "copilot",
		`{"hookEventName":"postToolUse","hook_event_name":"preToolUse","toolName":"bash","toolArgs":"{}"}`,
		`{"hookName":1,"toolName":"bash","toolArgs":"{}","toolResult":{}}`)
	refused(t, "gemini",
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":"{}"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{},"mcp_context":"s"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"},"mcp_context":{"server_name":"a","tool_name":"t"}}`,
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{},"mcp_context":{"server_name":"a__/b","tool_name":"t"}}`)
	refused(t, "opencode", `{"event":"tool.execute.before","tool":"bash","args":"ls"}`, `{"event":"tool.execute.before","args":{}}`)
	refused(t, "copilot",
		`{"toolName":"bash","toolArgs":"{\"command\":"}`,
		`{"toolName":"bash","toolArgs":"{\"command\":\"a\",\"command\":\"b\"}"}`,
		// JSON in JSON in JSON: decoded once, so that it is read as the agent reads it.
		`{"toolName":"bash","toolArgs":"\"{\\\"command\\\":\\\"ls\\\"}\""}`,
		`{"toolName":"bash","toolArgs":["ls"]}`,
		`{"toolArgs":"{}"}`, `{"hookName":"preToolUse","toolArgs":"{}"}`)
	refused(t, "cursor",
		`{"hook_event_name":"beforeShellExecution","cwd":"/p"}`,
		`{"hook_event_name":"beforeShellExecution","command":["ls"]}`,
		`{"hook_event_name":"beforeMCPExecution","tool_name":"t","tool_input":"[1]"}`,
		`{"hook_event_name":"beforeMCPExecution","tool_name":"t","tool_input":"{\"a\":1,\"a\":2}"}`,
		`{"hook_event_name":"beforeReadFile","content":"x"}`,
		`{"hook_event_name":"beforeReadFile","file_path":"/a","attachments":"x"}`,
		`{"hook_event_name":"beforeReadFile","file_path":"/a","attachments":[{"file_path":1}]}`,
		`{"hook_event_name":"preToolUse","tool_name":"Write","tool_input":{},"workspace_roots":"/p"}`)
}
