package client

import (
	"strings"
	"unicode/utf8"
)

// refusals are the fixed blocking answers, an agent's words with %s for the
// reason as JSON text. They are what internal/hook says for an event that it
// cannot read, without its code: this process stays small, and it must be able
// to refuse when nothing else works. A test holds the two together.
var refusals = map[string]refusal{
	"claude-code": {preToolUse, true},
	"codex":       {preToolUse, true},
	"copilot": {`{"permissionDecision":"deny","permissionDecisionReason":%s,"behavior":"deny","message":%s,` +
		`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%s}}`, false},
	"cursor":   {`{"permission":"deny","user_message":%s,"agent_message":%s,"userMessage":%s,"agentMessage":%s}`, true},
	"droid":    {preToolUse, true},
	"gemini":   {`{"decision":"deny","reason":%s}`, false},
	"opencode": {`{"decision":"deny","reason":%s}`, true},
	"vscode":   {preToolUse, true},
}

const (
	preToolUse = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%s}}`
	// permission answers a permission request, which does not honour exit code 2.
	permission = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":%s}}}`
)

// refusal is one agent's text; exit says that exit code 2 with the reason on
// standard error refuses too.
type refusal struct {
	text string
	exit bool
}

// Known reports whether there is a refusal in the agent's own words.
func Known(agent string) bool { _, ok := refusals[agent]; return ok }

// Refuse is the answer that blocks a call about which nothing was decided: the
// agent's deny, the reason, and where the agent reads it exit code 2. stdin is
// what the agent sent, as far as it was read; only the event's name is looked
// for in it. An agent without a text of its own gets exit code 2 and the reason.
func Refuse(agent string, stdin []byte, reason string) Response {
	reason = "lictor: " + strings.TrimPrefix(oneLine(reason), "lictor: ")
	r, ok := refusals[agent]
	if !ok {
		return Response{Status: StatusAnswer, Stderr: []byte(reason + "\n"), Code: 2}
	}
	if r.text == preToolUse && agent != "vscode" && eventName(stdin) == "PermissionRequest" {
		r = refusal{permission, false}
	}
	out := Response{Status: StatusAnswer, Stdout: []byte(strings.ReplaceAll(r.text, "%s", quote(reason)) + "\n")}
	if r.exit {
		out.Stderr, out.Code = []byte(reason+"\n"), 2
	}
	return out
}

// maxReason keeps a reason below what agents cut.
const maxReason = 4000

// oneLine makes a reason one line of printable text.
func oneLine(s string) string {
	if len(s) > maxReason {
		s = s[:maxReason] + " …"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// quote is a line as JSON text.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// eventName returns the event's name from the members of what the agent sent, or
// "" if that is not clear: two names, an escape in one, or no JSON object. A name
// inside of a member's value (the arguments, which the model writes) is none.
func eventName(stdin []byte) string {
	s := scanner{rest: stdin}
	if !s.eat('{') {
		return ""
	}
	name := ""
	for {
		key, ok := s.text()
		if !ok || !s.eat(':') {
			return ""
		}
		s.blanks()
		if key == "hook_event_name" || key == "hookEventName" {
			value, ok := s.text()
			if !ok || name != "" && name != value {
				return ""
			}
			name = value
		} else if !s.value() {
			return ""
		}
		if s.eat('}') {
			return name
		}
		if !s.eat(',') {
			return ""
		}
	}
}

// scanner walks over JSON without building anything. What it takes for JSON and
// is none does not matter: the answer is a refusal either way.
type scanner struct{ rest []byte }

func (s *scanner) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\n' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

func (s *scanner) eat(c byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text reads a text without escapes.
func (s *scanner) text() (string, bool) {
	s.blanks()
	raw, ok := s.skipText()
	if !ok || strings.Contains(raw, `\`) {
		return "", false
	}
	return raw, true
}

// skipText passes over a text and returns what stands between its quotes.
func (s *scanner) skipText() (string, bool) {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		return "", false
	}
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			out := string(s.rest[1:i])
			s.rest = s.rest[i+1:]
			return out, true
		}
	}
	return "", false
}

// value passes over any value.
func (s *scanner) value() bool {
	for depth := 0; ; {
		s.blanks()
		if len(s.rest) == 0 {
			return false
		}
		switch c := s.rest[0]; {
		case c == '"':
			if _, ok := s.skipText(); !ok {
				return false
			}
		case c == '{' || c == '[':
			depth++
			s.rest = s.rest[1:]
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return false
			}
			s.rest = s.rest[1:]
		case c == ',' || c == ':':
			if depth == 0 {
				return false
			}
			s.rest = s.rest[1:]
		default:
			n := 0
			for n < len(s.rest) && !strings.ContainsRune(" \t\r\n,:{}[]\"", rune(s.rest[n])) {
				n++
			}
			s.rest = s.rest[n:]
		}
		if depth == 0 {
			return true
		}
	}
}
