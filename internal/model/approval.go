package model

import (
	"context"
	"time"
)

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
	// Session are the rules that the answer "session" would remember, one for each
	// target; empty if there are none. Always and Never are the permission-file
	// rules that those answers would add; empty if none can be derived.
	Session []SessionRule
	Always  []string
	Never   string
	// CallID is the agent's id of the call.
	CallID string

	// Title and Question are one line each in the caller's own words ("" lets the
	// approver say it: "bash wants to run a command", "Allow it?").
	Title    string `json:",omitempty"`
	Question string `json:",omitempty"`
	// Preview is what the call would do where its targets do not say it: the
	// arguments of a tool that nothing is known about, a summary.
	Preview string `json:",omitempty"`
	// Changes are the file changes that the call would make, in order. Their hunks
	// are numbered from 1 through all of them.
	Changes []Change `json:",omitempty"`
	// Parts are the parts of the call's commands in source order, with what covers
	// each of them already; empty for a call without a command.
	Parts []AskedPart `json:",omitempty"`
	// Choices are the answers that may be given; empty means all that make sense:
	// once and deny always, session, always and never where they have a rule.
	Choices []Answer `json:",omitempty"`
	// Labels are the caller's own words for answers ("once": "Run it").
	Labels map[Answer]string `json:",omitempty"`
	// Strict says that the strict profile is on: nothing may hint at leaving the
	// sandbox.
	Strict bool `json:",omitempty"`
}

// Change is what a call would do to one file.
type Change struct {
	// Path is the file's path for people.
	Path string `json:"path"`
	// Old is the text now, nil if there is no file; New is the text afterwards.
	Old *string `json:"old"`
	New string  `json:"new"`
	// Delete says that the file goes away; New is empty then.
	Delete bool `json:"delete,omitempty"`
}

// AskedPart is one part of a command in a question.
type AskedPart struct {
	// Text is the part as written.
	Text string `json:"text"`
	// Covered says that no rule is missing for this part; Rule is the text of the
	// allow or session rule that covers it, "" for a part that needs none.
	Covered bool   `json:"covered"`
	Rule    string `json:"rule,omitempty"`
}

// Reply is an answer with everything that the record needs.
type Reply struct {
	Answer Answer `json:"answer"`
	// Hunks are the accepted hunks of Request.Changes in ascending order; nil
	// means all of them. It is never empty in an answer that allows: nothing
	// accepted is a denial.
	Hunks []int `json:"hunks,omitempty"`
	// For limits the answer "session": the rules are forgotten after that time. 0
	// means that they live as long as the session.
	For time.Duration `json:"for,omitempty"`
	// By names who answered ("ana"), From where ("terminal /dev/pts/3"), At when.
	By   string    `json:"by"`
	From string    `json:"from"`
	At   time.Time `json:"at"`
}

// Approver asks a person. An error, or an answer that is not one of the five,
// is a denial.
type Approver interface {
	Ask(ctx context.Context, request Request) (Answer, error)
}

// Replier is an approver that can say more than the answer: which hunks of a
// file change are accepted, for how long, who answered and from where.
type Replier interface {
	Approver
	// AskReply is Ask with the whole reply. As with Ask, an error is a denial.
	AskReply(ctx context.Context, request Request) (Reply, error)
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
	// Reply is the whole answer: which hunks of a file change were accepted (nil:
	// all), for how long, who answered, from where and when.
	Reply Reply
	// Reason is the line to show: the verdict's, or why the question ended in no.
	Reason string
}
