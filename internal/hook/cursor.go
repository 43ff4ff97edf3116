package hook

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// cursor is the contract of Cursor: beforeShellExecution, beforeMCPExecution,
// beforeReadFile, preToolUse, and the events that only tell.
//
// Ways it fails open, and the answer to each:
//   - A hook that crashes, is too slow or prints no JSON lets the call run unless
//     the entry has failClosed, which `lictor install cursor` writes. JSON is
//     printed on every path, and a refusal is also exit code 2.
//   - beforeReadFile honours allow and deny, preToolUse does not enforce ask: there
//     ask is a deny. For commands and MCP calls ask is a question that automatic
//     review skips, so it is said only with Options.Ask.
//   - Older builds read userMessage and agentMessage: both spellings are written.
//   - afterFileEdit comes when the file is changed: writes are decided in
//     preToolUse or not at all.
//   - Of an MCP call only the tool is named, and how its server was started. The
//     server's name is looked up in Cursor's own mcp.json; a call whose server is
//     not found there is never allowed by itself, at most asked about.
//   - An empty cwd is the workspace.
type cursor struct{}

func (cursor) name() string { return "cursor" }

func (cursor) contract() Contract {
	return Contract{
		Asks: AskOption, Replaces: true, ProjectVar: "CURSOR_PROJECT_DIR",
		Kinds: []Kind{PreToolUse, PostToolUse, SessionStart},
	}
}

// cursorTells are the events that decide nothing.
var cursorTells = map[string]Kind{
	"afterShellExecution": PostToolUse, "afterMCPExecution": PostToolUse, "afterFileEdit": PostToolUse,
	"postToolUse": PostToolUse, "sessionStart": SessionStart,
}

func (c cursor) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hook_event_name"), Session: in.text("conversation_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("tool_use_id")}
	if out.Call.CallID == "" {
		// Every event has the id of the model's turn, and only some that of the call.
		out.Call.CallID = in.text("generation_id")
	}
	roots := in.texts("workspace_roots")
	if len(roots) > 0 {
		out.Project = workspace(roots, out.Call.Cwd)
	}
	if out.Call.Cwd == "" {
		out.Call.Cwd = out.Project
	}
	if in.text("composer_mode") == "plan" {
		out.Call.Mode = model.ModePlan
	}
	out.Kind = PreToolUse
	if k, ok := cursorTells[out.Native]; ok {
		out.Kind = k
	}
	switch out.Native {
	case "beforeShellExecution", "afterShellExecution":
		out.Call.Tool = "Shell"
		out.Call.Args, err = encode(map[string]string{"command": in.need("command")})
	case "beforeMCPExecution", "afterMCPExecution":
		in.cursorMCP(out, roots)
	case "beforeReadFile":
		err = in.cursorRead(out)
	case "afterFileEdit":
		out.Call.Tool = "Write"
		out.Call.Args, err = encode(map[string]string{"file_path": in.need("file_path")})
	case "preToolUse", "postToolUse":
		out.Call.Tool, out.Call.Args = in.need("tool_name"), in.written("tool_input")
		if strings.HasPrefix(out.Call.Tool, "MCP:") {
			out.Doubt = "Cursor does not say in this event which MCP server is meant"
		}
	case "sessionStart":
	default:
		in.fail("this hook decides preToolUse and before… events, not %q: install it as `lictor install cursor` does", out.Native)
		return nil, in.err
	}
	if _, v := in.find([]string{"tool_output", "output", "result_json"}); out.Kind == PostToolUse {
		out.Response = v
	}
	if in.err == nil {
		in.err = err
	}
	return out, in.err
}

// workspace is the folder of the workspace that holds cwd, else the first one.
func workspace(roots []string, cwd string) string {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, cwd); err == nil && filepath.IsLocal(rel) {
			return root
		}
	}
	return roots[0]
}

// cursorRead takes the file and everything attached to it: all of it reaches the
// model.
func (e *envelope) cursorRead(out *Event) error {
	read := func(file string) (model.Call, error) {
		call := out.Call
		call.Tool = "Read"
		var err error
		call.Args, err = encode(map[string]string{"file_path": file})
		return call, err
	}
	var err error
	_, raw := e.find([]string{"attachments"})
	if raw != nil {
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			e.fail("attachments must be a list of objects")
		}
		for _, members := range list {
			a := &envelope{members: members}
			file := a.text("file_path", "filePath")
			if a.err != nil {
				e.fail("attachments: %v", a.err)
			}
			if file == "" {
				continue
			}
			call, err := read(file)
			if err != nil {
				return err
			}
			out.Also = append(out.Also, call)
		}
	}
	out.Call, err = read(e.need("file_path"))
	return err
}

// cursorMCP names the call of an MCP server's tool.
func (e *envelope) cursorMCP(out *Event, roots []string) {
	tool := strings.TrimPrefix(e.need("tool_name"), "MCP:")
	out.Call.Args = e.written("tool_input")
	server := e.text("server_name", "mcp_server_name", "server")
	if server == "" {
		server = cursorServer(roots, e.text("url"), e.text("command"))
	}
	if server != "" {
		name, err := mcpTool(server, tool)
		if err != nil {
			e.fail("%v", err)
		}
		out.Call.Tool = name
		return
	}
	out.Call.Tool = "MCP:" + tool
	out.Doubt = "the MCP server of this tool is not in Cursor's mcp.json, so its name is not known"
}

type cursorOutput struct {
	Permission string          `json:"permission"`
	User       string          `json:"user_message,omitempty"`
	Agent      string          `json:"agent_message,omitempty"`
	OldUser    string          `json:"userMessage,omitempty"`
	OldAgent   string          `json:"agentMessage,omitempty"`
	Input      json.RawMessage `json:"updated_input,omitempty"`
}

func (cursor) silent(e *Event) string {
	switch e.Native {
	case "beforeShellExecution", "beforeMCPExecution":
		return ""
	}
	return "Cursor does not ask in this event"
}

func (c cursor) say(s said) Reply {
	if s.input != nil && s.event.Native != "preToolUse" {
		return c.refuse(s.event, "Cursor replaces commands in preToolUse events only")
	}
	return object(cursorWords(s))
}

func cursorWords(s said) cursorOutput {
	out := cursorOutput{Permission: string(s.decision), Input: s.input}
	if s.decision != model.Allow {
		out.User = named(s.reason)
		out.Agent, out.OldUser, out.OldAgent = out.User, out.User, out.User
	}
	return out
}

func (cursor) tell(*Event, string) Reply { return object(struct{}{}) }

func (cursor) refuse(_ *Event, reason string) Reply {
	return withCode(object(cursorWords(said{decision: model.Deny, reason: reason})), reason)
}
