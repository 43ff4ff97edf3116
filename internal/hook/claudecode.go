package hook

import (
	"encoding/json"

	"github.com/lictor-policy/lictor/internal/model"
)

// claudeCode is the contract of Claude Code: PreToolUse, PermissionRequest,
// PostToolUse and SessionStart.
//
// Ways it fails open, and the answer to each: output on exit 0 that is not valid
// JSON, or lacks hookEventName, counts as no decision, so every reply is one
// complete object; exit codes other than 0 and 2 do not block, so only these two
// are used; a block without a verdict uses both, a deny on standard output and
// exit code 2 with the reason on standard error, because a build that ignores
// one of them honours the other. PermissionRequest does not honour exit code 2,
// so there a block is a deny object on exit 0. A permission request is about a
// question to the user, so ask is silence: the question is shown.
type claudeCode struct{}

func (claudeCode) name() string { return "claude-code" }

func (claudeCode) contract() Contract {
	return Contract{
		Asks: AskAlways, Replaces: true, ProjectVar: "CLAUDE_PROJECT_DIR",
		Kinds: []Kind{PreToolUse, PermissionRequest, PostToolUse, SessionStart},
	}
}

func (c claudeCode) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hook_event_name"), Session: in.text("session_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("tool_use_id")}
	// Plan is the one mode that is read; no mode of the agent loosens anything.
	if in.text("permission_mode") == "plan" {
		out.Call.Mode = model.ModePlan
	}
	return finish(in, out, c.contract().Kinds)
}

// finish reads what the agents that follow Claude Code's contract have in
// common: the event by its name, the tool and its arguments.
func finish(in *envelope, out *Event, kinds []Kind) (*Event, error) {
	for _, k := range kinds {
		if out.Native == string(k) {
			out.Kind = k
		}
	}
	if out.Kind == "" {
		in.fail("this hook decides PreToolUse events, not %q: install it as `lictor install` does", out.Native)
		return nil, in.err
	}
	if out.Kind != SessionStart {
		out.Call.Tool = in.need("tool_name")
		out.Call.Args = in.args("tool_input")
	}
	if _, v := in.find([]string{"tool_response", "tool_result"}); out.Kind == PostToolUse {
		out.Response = v
	}
	return out, in.err
}

func (claudeCode) say(s said) Reply {
	if s.event.Kind == PermissionRequest {
		return permission(s, true)
	}
	return preToolUse(s)
}

func (claudeCode) tell(e *Event, context string) Reply { return sessionContext(e, context) }

func (claudeCode) refuse(e *Event, reason string) Reply {
	if e != nil && e.Kind == PermissionRequest {
		return permission(said{event: e, decision: model.Deny, reason: reason}, false)
	}
	return withCode(preToolUse(said{decision: model.Deny, reason: reason}), reason)
}

// preToolUse is `hookSpecificOutput` of a PreToolUse event.
func preToolUse(s said) Reply {
	type output struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
	}
	return object(map[string]output{"hookSpecificOutput": {"PreToolUse", string(s.decision), named(s.reason), s.input}})
}

// permission is `hookSpecificOutput` of a PermissionRequest event. Its allow has
// no message; replace says whether the contract takes updatedInput.
func permission(s said, replace bool) Reply {
	type decision struct {
		Behavior string          `json:"behavior"`
		Message  string          `json:"message,omitempty"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
	}
	type output struct {
		Event    string   `json:"hookEventName"`
		Decision decision `json:"decision"`
	}
	d := decision{Behavior: string(s.decision)}
	switch {
	case s.decision == model.Ask:
		return Reply{}
	case s.decision == model.Deny:
		d.Message = named(s.reason)
	case replace:
		d.Input = s.input
	}
	return object(map[string]output{"hookSpecificOutput": {"PermissionRequest", d}})
}

// sessionContext tells the model something at the start of a session; the other
// events that only tell are answered by silence.
func sessionContext(e *Event, context string) Reply {
	if e.Kind != SessionStart || context == "" {
		return Reply{}
	}
	type output struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return object(map[string]output{"hookSpecificOutput": {"SessionStart", context}})
}
