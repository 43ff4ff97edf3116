package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// canaries are a command without its command in each agent's words. It decodes, and
// the engine denies it whatever the rules say (SPEC section 1).
var canaries = map[string]string{
	"claude-code": `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":%s}`,
	"codex":       `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":%s}`,
	"copilot":     `{"toolName":"bash","toolArgs":"{}","cwd":%s}`,
	"cursor":      `{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{},"cwd":%s}`,
	"droid":       `{"hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{},"cwd":%s}`,
	"gemini":      `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{},"cwd":%s}`,
	"opencode":    `{"event":"tool.execute.before","tool":"bash","args":{},"cwd":%s}`,
	"vscode":      `{"hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{},"cwd":%s}`,
}

// Canary is the input of a hook call that must be denied whatever the policy, for a
// check that the whole way from the installed command to the engine works. The
// error is Find's.
func Canary(name, cwd string) ([]byte, error) {
	if _, err := Find(name); err != nil {
		return nil, err
	}
	quoted, err := json.Marshal(cwd)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, canaries[name], quoted), nil
}

// Denies reports whether a reply to a canary says a denial in the agent's words on
// standard output, which all eight dialects do.
func Denies(r Reply) bool {
	var out map[string]any
	if json.Unmarshal(bytes.TrimSpace(r.Stdout), &out) != nil {
		return false
	}
	inner, _ := out["hookSpecificOutput"].(map[string]any)
	for _, said := range []any{out["permissionDecision"], out["decision"], out["permission"], inner["permissionDecision"]} {
		if said == "deny" {
			return true
		}
	}
	return false
}

// Decided reports whether the denial of a canary is the engine's, about the call.
// Any other is a failure, such as settings that cannot be read: every call meets it.
func Decided(r Reply) bool {
	return Denies(r) && bytes.Contains(r.Stdout, []byte("command: is missing"))
}
