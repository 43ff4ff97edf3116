package hook

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// droid is the contract of Factory's droid: PreToolUse, PermissionRequest,
// PostToolUse and SessionStart, as Claude Code has them, with camelCase members in
// some builds. Both spellings are read.
//
// Ways it fails open, and the answer to each: exit codes other than 0 and 2 do not
// block and neither does output that is no JSON, so a refusal is a deny on
// standard output and exit code 2 with the reason on standard error. There is no
// option that blocks when the hook cannot be started; the installed command turns
// that into exit code 2.
type droid struct{}

func (droid) name() string { return "droid" }

func (droid) contract() Contract {
	return Contract{
		Asks: AskAlways, Replaces: true, ProjectVar: "FACTORY_PROJECT_DIR",
		Kinds: []Kind{PreToolUse, PermissionRequest, PostToolUse, SessionStart},
	}
}

func (c droid) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hookEventName", "hook_event_name"), Session: in.text("sessionId", "session_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("tool_use_id", "toolUseId")}
	// Its plan mode has two names.
	if mode := in.text("permissionMode", "permission_mode"); mode == "plan" || mode == "spec" {
		out.Call.Mode = model.ModePlan
	}
	if out, err = finish(in, out, c.contract().Kinds); err != nil {
		return out, err
	}
	// droid writes the tools of MCP servers as server___tool.
	if server, tool, ok := strings.Cut(out.Call.Tool, "___"); ok && !strings.HasPrefix(out.Call.Tool, "mcp__") {
		out.Call.Tool, err = mcpTool(server, tool)
	}
	return out, err
}

func (droid) say(s said) Reply                     { return claudeCode{}.say(s) }
func (droid) tell(e *Event, context string) Reply  { return sessionContext(e, context) }
func (droid) refuse(e *Event, reason string) Reply { return claudeCode{}.refuse(e, reason) }
