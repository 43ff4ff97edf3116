package hook

import (
	"encoding/json"

	"github.com/lictor-policy/lictor/internal/model"
)

// gemini is the contract of Gemini CLI: BeforeTool, AfterTool and SessionStart.
//
// Ways it fails open, and the answer to each (what the program does differs from
// what its documentation says):
//   - Standard output, or standard error if that is empty, is tried as JSON
//     whatever the exit code, and then only its `decision` counts: exit code 2
//     with JSON that has no decision runs the tool. Exit code 2 with nothing
//     printed runs it too. So every answer, also a refusal, is one object with a
//     decision on standard output, and exit code 0.
//   - A text of JSON is decoded twice: the answer is an object, never a text.
//   - `ask` replaces a denial of Gemini's own policy by a question, so it would
//     soften what the user forbade; it is said only with Options.Ask.
//   - A hook that is too slow, or cannot be started, runs the tool: Serve answers
//     before the host's deadline, and the installed command prints a denial if
//     lictor is missing.
type gemini struct{}

func (gemini) name() string { return "gemini" }

func (gemini) contract() Contract {
	return Contract{
		Asks: AskOption, Replaces: true, ProjectVar: "GEMINI_PROJECT_DIR",
		Kinds: []Kind{PreToolUse, PostToolUse, SessionStart},
	}
}

func (g gemini) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hook_event_name"), Session: in.text("session_id")}
	switch out.Native {
	case "BeforeTool":
		out.Kind = PreToolUse
	case "AfterTool":
		out.Kind = PostToolUse
		_, out.Response = in.find([]string{"tool_response"})
	case "SessionStart":
		out.Kind = SessionStart
	default:
		in.fail("this hook decides BeforeTool events, not %q: install it as `lictor install gemini` does", out.Native)
		return nil, in.err
	}
	out.Call = model.Call{Agent: g.name(), Cwd: in.text("cwd")}
	if out.Kind != SessionStart {
		out.Call.Tool, out.Call.Args = in.need("tool_name"), in.args("tool_input")
		in.server(out)
	}
	return out, in.err
}

// geminiTools are Gemini's own tools that do something, which no server's tool is.
var geminiTools = map[string]bool{
	"run_shell_command": true, "read_file": true, "read_many_files": true, "write_file": true, "replace": true,
	"glob": true, "search_file_content": true, "list_directory": true, "web_fetch": true, "google_web_search": true,
	"save_memory": true,
}

// server names the MCP server of a call by mcp_context, where its name is told
// apart from the tool's; in `mcp_a_b_c` it is not.
func (e *envelope) server(out *Event) {
	_, raw := e.find([]string{"mcp_context"})
	if raw == nil {
		return
	}
	in := &envelope{}
	if err := json.Unmarshal(raw, &in.members); err != nil {
		e.fail("mcp_context must be an object")
		return
	}
	server, tool := in.text("server_name", "serverName"), in.text("tool_name", "toolName")
	if in.err != nil {
		e.fail("mcp_context: %v", in.err)
	}
	if server == "" || tool == "" {
		return
	}
	if geminiTools[out.Call.Tool] {
		e.fail("tool_name is Gemini's own %s, but mcp_context names the MCP server %s", out.Call.Tool, server)
	}
	name, err := mcpTool(server, tool)
	if err != nil {
		e.fail("mcp_context: %v", err)
	}
	out.Call.Tool = name
}

type geminiOutput struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"`
	Output   any    `json:"hookSpecificOutput,omitempty"`
}

func (gemini) say(s said) Reply {
	out := geminiOutput{Decision: string(s.decision)}
	if s.decision != model.Allow {
		out.Reason = named(s.reason)
	}
	if s.decision == model.Ask {
		out.Message = named(s.reason)
	}
	if s.input != nil {
		out.Output = map[string]json.RawMessage{"tool_input": s.input}
	}
	return object(out)
}

func (gemini) tell(e *Event, context string) Reply {
	if e.Kind == SessionStart && context != "" {
		return object(map[string]any{"hookSpecificOutput": map[string]string{"additionalContext": context}})
	}
	return object(struct{}{})
}

func (gemini) refuse(_ *Event, reason string) Reply {
	return object(geminiOutput{Decision: "deny", Reason: named(reason)})
}
