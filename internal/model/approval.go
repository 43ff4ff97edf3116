package model

import "context"

// Answer is what a person says to a question.
type Answer string

// The answers. Session and always also remember a rule; never also adds a deny
// rule to the personal permission file.
const (
	AnswerOnce    Answer = "once"
	AnswerSession Answer = "session"
	AnswerAlways  Answer = "always"
	AnswerDeny    Answer = "deny"
	AnswerNever   Answer = "never"
)

// Allows reports whether the answer lets the call run.
func (a Answer) Allows() bool {
	return a == AnswerOnce || a == AnswerSession || a == AnswerAlways
}

// Request is a question to a person.
type Request struct {
	// Tool is the canonical tool name, Targets what the call touches.
	Tool    string
	Targets []Target
	// Isolation says whether a command would run in the OS sandbox.
	Isolation Isolation
	// Verdict is the ask verdict: its reason says which rule asks.
	Verdict Verdict
	// Session is the rule that the answer "session" would remember; nil if there
	// is none. Always and Never are the permission-file rules that those answers
	// would add; empty if none can be derived.
	Session *SessionRule
	Always  []string
	Never   string
	// CallID is the agent's id of the call.
	CallID string
}

// Approver asks a person. An error, or an answer that is not one of the five,
// is a denial.
type Approver interface {
	Ask(ctx context.Context, request Request) (Answer, error)
}

// SessionKind says what a session rule speaks of.
type SessionKind string

// A session rule covers exactly one command, one host, or one tool.
const (
	SessionCommand SessionKind = "command"
	SessionHost    SessionKind = "host"
	SessionTool    SessionKind = "tool"
)

// SessionRule is what the answer "session" remembers, in memory only. It is
// derived by the policy (data.lictor.session).
type SessionRule struct {
	Kind SessionKind `json:"kind"`
	Tool string      `json:"tool"`
	// Command and OutsideSandbox are set for SessionCommand, Host for SessionHost.
	Command        string `json:"command,omitempty"`
	OutsideSandbox bool   `json:"outside_sandbox,omitempty"`
	Host           string `json:"host,omitempty"`
}

// Decided is the final decision about a call, after a person answered where the
// verdict was to ask.
type Decided struct {
	// Allowed is the final word. By is the verdict's By, or "user".
	Allowed bool
	By      string
	// Verdict is what the policy said, Answer what a person said ("" if nobody
	// was asked).
	Verdict Verdict
	Answer  Answer
	// Reason is the line to show: the verdict's, or why the question ended in no.
	Reason string
}
