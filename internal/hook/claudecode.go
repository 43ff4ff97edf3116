package hook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// claudeCode is the PreToolUse contract of Claude Code.
//
// Ways it fails open, and the answer to each: output on exit 0 that is not valid
// JSON, or lacks hookEventName, counts as no decision, so every reply is one
// complete object; exit codes other than 0 and 2 do not block, so only these two
// are used; a block without a verdict uses both, a deny on standard output and
// exit code 2 with the reason on standard error, because a build that ignores
// one of them honours the other.
type claudeCode struct{}

// maxReason keeps reasons far below the 10,000 characters at which the agent
// cuts strings.
const maxReason = 4000

func (claudeCode) Name() string { return "claude-code" }

func (claudeCode) Decode(stdin []byte) (*Event, error) {
	var in struct {
		Session string          `json:"session_id"`
		Cwd     string          `json:"cwd"`
		Mode    string          `json:"permission_mode"`
		Event   string          `json:"hook_event_name"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"tool_input"`
		CallID  string          `json:"tool_use_id"`
	}
	if err := toolcall.Strict(stdin); err != nil {
		return nil, fmt.Errorf("the hook's input cannot be read: %w", err)
	}
	if err := json.Unmarshal(stdin, &in); err != nil {
		return nil, fmt.Errorf("the hook's input cannot be read: %w", err)
	}
	if in.Event != "PreToolUse" {
		return nil, fmt.Errorf("this hook decides PreToolUse events, not %q: install it for PreToolUse only", in.Event)
	}
	if in.Tool == "" {
		return nil, fmt.Errorf("the hook's input has no tool_name")
	}
	call := model.Call{Tool: in.Tool, Args: in.Input, CallID: in.CallID, Agent: "claude-code", Cwd: in.Cwd}
	// Plan is the one mode that is read; no mode of the agent loosens anything.
	if in.Mode == "plan" {
		call.Mode = model.ModePlan
	}
	return &Event{Call: call, Session: in.Session}, nil
}

func (claudeCode) Encode(v *model.Verdict) Reply {
	switch v.Decision {
	case model.Allow, model.Deny, model.Ask:
		return claudeReply(string(v.Decision), v.Reason)
	}
	return claudeCode{}.Block(fmt.Sprintf("lictor came to no decision (%q)", v.Decision))
}

func (claudeCode) Block(reason string) Reply {
	r := claudeReply("deny", reason)
	r.Stderr, r.Code = []byte(reason+"\n"), 2
	return r
}

func claudeReply(decision, reason string) Reply {
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + " …"
	}
	out, err := json.Marshal(map[string]output{"hookSpecificOutput": {"PreToolUse", decision, "lictor: " + reason}})
	if err != nil {
		return Reply{Stderr: []byte("lictor: " + err.Error() + "\n"), Code: 2}
	}
	return Reply{Stdout: append(out, '\n')}
}
