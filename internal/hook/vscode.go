package hook

import "github.com/lictor-policy/lictor/internal/model"

// vscode is the contract of VS Code's agent hooks: PreToolUse, PostToolUse and
// SessionStart. Its documentation mixes two spellings of the same members; both
// are read, and an event that says different things in them is refused.
//
// Ways it fails open, and the answer to each: exit codes other than 2 only warn,
// so a refusal is a deny on standard output and exit code 2 with the reason on
// standard error; matchers are ignored and the hook runs for every tool, which
// is what lictor wants: it decides about all of them.
type vscode struct{}

func (vscode) name() string { return "vscode" }

func (vscode) contract() Contract {
	return Contract{Asks: AskAlways, Replaces: true, Kinds: []Kind{PreToolUse, PostToolUse, SessionStart}}
}

func (c vscode) decode(stdin []byte) (*Event, error) {
	in, err := openEnvelope(stdin)
	if err != nil {
		return nil, err
	}
	out := &Event{Native: in.event("hookEventName", "hook_event_name"), Session: in.text("sessionId", "session_id")}
	out.Call = model.Call{Agent: c.name(), Cwd: in.text("cwd"), CallID: in.text("tool_use_id", "toolUseId")}
	return finish(in, out, c.contract().Kinds)
}

func (vscode) say(s said) Reply                    { return preToolUse(s) }
func (vscode) tell(e *Event, context string) Reply { return sessionContext(e, context) }

func (vscode) refuse(_ *Event, reason string) Reply { return claudeCode{}.refuse(nil, reason) }
