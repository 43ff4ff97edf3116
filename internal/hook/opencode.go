package hook

import (
	"encoding/json"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// opencode has no hooks of its own kind but plugins; the plugin that `lictor
// install opencode` writes sends each call to `lictor hook opencode` and throws
// unless it is allowed. Its input is ours:
//
//	{"event": "tool.execute.before", "tool": …, "args": {…}, "sessionID": …,
//	 "callID": …, "cwd": …, "project": …, "agent": …}
//
// and so is the answer, {"decision": "allow"|"deny", "reason": …, "args": {…}},
// where args, if present, replace those of the call.
//
// Ways it fails open, and the answer to each: a plugin blocks only by throwing, so
// the plugin throws for everything that is not exit code 0 with an object that
// says allow; there is no question, so ask is a deny. Tools of MCP servers are
// named server_tool; a name that is none of opencode's own is read as such.
type opencode struct{}

func (opencode) name() string { return "opencode" }

func (opencode) contract() Contract {
	return Contract{Asks: AskNever, Replaces: true, Kinds: []Kind{PreToolUse, PostToolUse}}
}

// opencodeTools are opencode's own tools with a `_` in their names.
var opencodeTools = map[string]bool{
	"apply_patch": true, "plan_enter": true, "plan_exit": true, "code_search": true, "web_search": true,
}

func (o opencode) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("event"), Session: in.text("sessionID"), Project: in.text("project")}
	switch out.Native {
	case "tool.execute.before":
		out.Kind = PreToolUse
	case "tool.execute.after":
		out.Kind = PostToolUse
		_, out.Response = in.find([]string{"output"})
	default:
		in.fail("this hook decides tool.execute.before events, not %q: install it as `lictor install opencode` does", out.Native)
		return nil, in.err
	}
	out.Call = model.Call{
		Agent: o.name(), Tool: in.need("tool"), Args: in.args("args"), Cwd: in.text("cwd"), CallID: in.text("callID"),
	}
	if in.text("agent") == "plan" {
		out.Call.Mode = model.ModePlan
	}
	server, tool, ok := strings.Cut(out.Call.Tool, "_")
	if ok && server != "" && tool != "" && !opencodeTools[out.Call.Tool] && server != "mcp" {
		if out.Call.Tool, err = mcpTool(server, tool); err != nil {
			in.fail("%v", err)
		}
	}
	return out, in.err
}

type opencodeOutput struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
}

func (opencode) say(s said) Reply {
	out := opencodeOutput{Decision: string(s.decision), Args: s.input}
	if s.decision != model.Allow {
		out.Reason = named(s.reason)
	}
	return object(out)
}

func (opencode) tell(*Event, string) Reply { return object(struct{}{}) }

func (opencode) refuse(_ *Event, reason string) Reply {
	return withCode(object(opencodeOutput{Decision: "deny", Reason: named(reason)}), reason)
}
