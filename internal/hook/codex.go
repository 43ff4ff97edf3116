package hook

import (
	"encoding/json"

	"github.com/lictor-policy/lictor/internal/model"
)

// codex is the contract of Codex: PreToolUse, PermissionRequest, PostToolUse and
// SessionStart.
//
// Ways it fails open, and the answer to each:
//   - A bare allow, and any ask, is "unsupported": the hook counts as failed and
//     the tool runs. So allow is an empty standard output with exit code 0, and
//     ask is a deny. Silence for ask would be no question but a run: Codex does
//     not ask about what it can run in its own sandbox.
//   - Its schema forbids other members: none but the contract's are written.
//   - Exit code 2 blocks only with something on standard error, so a refusal has
//     a reason there, and the deny on standard output.
//   - In a permission request, updatedInput is reserved and never written; ask is
//     silence, because Codex is about to ask its user.
//   - A permission request is made for what Codex would not run in its sandbox,
//     and does not say so in the arguments. The call is read as one outside of
//     the sandbox, so that no rule for sandboxed commands covers it.
type codex struct{}

func (codex) name() string { return "codex" }

func (codex) contract() Contract {
	return Contract{
		Asks: AskNever, Replaces: true,
		Kinds: []Kind{PreToolUse, PermissionRequest, PostToolUse, SessionStart},
	}
}

func (c codex) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hook_event_name"), Session: in.text("session_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("tool_use_id")}
	if in.text("permission_mode") == "plan" {
		out.Call.Mode = model.ModePlan
	}
	if out, err = finish(in, out, c.contract().Kinds); err != nil {
		return out, err
	}
	if out.Kind == PermissionRequest && out.Call.Tool == "Bash" {
		out.Call.Args, err = outside(out.Call.Args)
	}
	return out, err
}

// outside marks the arguments of a command as those of a command outside of the
// sandbox.
func outside(args json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"dangerouslyDisableSandbox", "with_escalated_permissions"} {
		delete(members, name)
	}
	members["outside_sandbox"] = json.RawMessage("true")
	return encode(members)
}

func (codex) say(s said) Reply {
	switch {
	case s.event.Kind == PermissionRequest && s.input != nil:
		return codex{}.refuse(s.event, "a permission request of Codex cannot replace its command")
	case s.event.Kind == PermissionRequest:
		return permission(s, false)
	case s.decision == model.Deny:
		return preToolUse(s)
	case s.input == nil:
		return Reply{}
	}
	type output struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Input    json.RawMessage `json:"updatedInput"`
	}
	return object(map[string]output{"hookSpecificOutput": {"PreToolUse", "allow", s.input}})
}

func (codex) tell(e *Event, context string) Reply { return sessionContext(e, context) }

func (codex) refuse(e *Event, reason string) Reply { return claudeCode{}.refuse(e, reason) }
