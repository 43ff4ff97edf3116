package hook

import (
	"encoding/json"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// copilot is the contract of GitHub's Copilot CLI and cloud agent. Hooks that are
// configured under a camelCase name (preToolUse) get camelCase members, no event
// name, and the arguments as a text of JSON; those under a PascalCase name get
// what VS Code's hooks get.
//
// Ways it fails open, and the answer to each:
//   - Exit code 2 denies only since 1.0.70, a failing hook only since 1.0.57: a
//     refusal is a deny object with exit code 0, which every build honours.
//   - `{}` and empty output are no decision: every answer says one.
//   - A hook that is too slow is passed over since 1.0.67: Serve answers before.
//   - The cloud agent honours nothing but deny: ask needs Options.Ask, which the
//     installation for a project, whose file the cloud agent reads, does not set.
//   - A text of JSON in a text of JSON is refused: it is decoded once.
type copilot struct{}

func (copilot) name() string { return "copilot" }

func (copilot) contract() Contract {
	return Contract{
		Asks: AskOption, Replaces: true,
		Kinds: []Kind{PreToolUse, PermissionRequest, PostToolUse, SessionStart},
	}
}

func (c copilot) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Session: in.text("sessionId", "session_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("toolCallId", "tool_use_id")}
	out.Native = in.event("hook_event_name", "hookEventName")
	switch name := in.event("hookName"); {
	case in.err != nil:
		// Which event it is must not be guessed from the rest then.
		return nil, in.err
	case out.Native != "":
		out.Kind = Kind(strings.ToUpper(out.Native[:1]) + out.Native[1:])
	case name != "":
		out.Native = name
		out.Kind = Kind(strings.ToUpper(name[:1]) + name[1:])
	case in.has("toolName") && in.has("toolResult"):
		out.Native, out.Kind = "postToolUse", PostToolUse
	case in.has("toolName"):
		out.Native, out.Kind = "preToolUse", PreToolUse
	}
	switch out.Kind {
	case SessionStart:
		return out, in.err
	case PostToolUse:
		_, out.Response = in.find([]string{"toolResult", "tool_response", "tool_result"})
	case PreToolUse, PermissionRequest:
	default:
		in.fail("this hook decides preToolUse events, not %q: install it as `lictor install copilot` does", out.Native)
		return nil, in.err
	}
	out.Call.Tool = in.need("toolName", "tool_name")
	out.Call.Args = in.written("toolArgs", "tool_input", "toolInput")
	// Tools of MCP servers are server-tool, with a `-` that Copilot's own tools do
	// not have; where the server's name ends is not told.
	if strings.Contains(out.Call.Tool, "-") && !strings.HasPrefix(out.Call.Tool, "mcp") {
		out.Call.Tool = "MCP:" + out.Call.Tool
		out.Doubt = "Copilot does not say which MCP server is meant"
	}
	return out, in.err
}

type copilotOutput struct {
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Args     json.RawMessage `json:"modifiedArgs,omitempty"`
	// Behavior and Message are a permissionRequest's.
	Behavior string `json:"behavior,omitempty"`
	Message  string `json:"message,omitempty"`
	// Output says the same to builds that read it where VS Code does.
	Output any `json:"hookSpecificOutput,omitempty"`
}

func (copilot) say(s said) Reply {
	if s.event.Kind == PermissionRequest {
		switch {
		case s.decision == model.Ask:
			return object(struct{}{})
		case s.input != nil:
			return copilot{}.refuse(s.event, "a permission request of Copilot cannot replace its command")
		case s.decision == model.Allow:
			return object(copilotOutput{Behavior: "allow"})
		}
		return object(copilotOutput{Behavior: "deny", Message: named(s.reason)})
	}
	out := copilotOutput{Decision: string(s.decision), Reason: named(s.reason), Args: s.input}
	if s.event.Native == string(PreToolUse) {
		type output struct {
			Event    string          `json:"hookEventName"`
			Decision string          `json:"permissionDecision"`
			Reason   string          `json:"permissionDecisionReason"`
			Input    json.RawMessage `json:"updatedInput,omitempty"`
		}
		out.Output = output{"PreToolUse", out.Decision, out.Reason, s.input}
	}
	return object(out)
}

func (copilot) tell(*Event, string) Reply { return object(struct{}{}) }

func (copilot) refuse(e *Event, reason string) Reply {
	if e == nil {
		// Whichever event it is: each reads its own members.
		return object(copilotOutput{Decision: "deny", Reason: named(reason), Behavior: "deny", Message: named(reason), Output: map[string]string{
			"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": named(reason),
		}})
	}
	return copilot{}.say(said{event: e, decision: model.Deny, reason: reason})
}
