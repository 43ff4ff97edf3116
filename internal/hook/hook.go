// Package hook speaks the hook contracts of agents: one file an agent decodes
// what the agent sends into a call and encodes a verdict in that agent's words.
// Each contract has its own ways to fail open; each file says which and how the
// dialect stays closed.
//
// Serve is the whole road of one hook process: read, decode, decide, answer,
// under a deadline below the host's, with every failure turned into a refusal in
// that agent's words. Emit writes the reply.
package hook

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// Reply is what a hook process gives back to the agent.
type Reply struct {
	// Stdout and Stderr are written as they are.
	Stdout, Stderr []byte
	// Code is the exit code.
	Code int
}

// Kind says what an event is, whatever the agent calls it.
type Kind string

// The kinds of events. The first two are decided; the others only tell, and
// whatever is answered to them, nothing is stopped by it.
const (
	// PreToolUse: the agent is about to make a call. It is also what an event
	// without a kind is.
	PreToolUse Kind = "PreToolUse"
	// PermissionRequest: the agent is about to ask its own user about a call.
	PermissionRequest Kind = "PermissionRequest"
	// PostToolUse: the agent made a call.
	PostToolUse Kind = "PostToolUse"
	// SessionStart: a conversation begins.
	SessionStart Kind = "SessionStart"
)

// Decides reports whether an event of this kind waits for a decision.
func (k Kind) Decides() bool { return k != PostToolUse && k != SessionStart }

// Event is one decoded hook call.
type Event struct {
	// Kind says what is happening, Native is the agent's own name of the event
	// ("beforeShellExecution").
	Kind   Kind
	Native string
	// Call is the call that is about to be made, or was made.
	Call model.Call
	// Also are calls that the same event stands for (files attached to a file that
	// is read): the event is allowed only if all of them are.
	Also []model.Call
	// Project is the agent's project folder if the event names one, else "".
	Project string
	// Session is the agent's id of the conversation.
	Session string
	// Response is what the tool answered, for PostToolUse, as the agent gives it.
	Response json.RawMessage
	// Doubt says why the event is not clear enough to be allowed ("the MCP server
	// is not named"). An allow becomes an ask then; a deny stays one.
	Doubt string
}

// Options change how a verdict is said. The zero value is the strictest.
type Options struct {
	// Ask says that somebody can answer the agent's own question. Dialects of
	// agents that may skip their question (Contract.Asks is AskOption) deny
	// without it; the others do not look at it.
	Ask bool
	// Command, if not empty, replaces the command of an allowed or asked call: the
	// same command, started in lictor's sandbox. A dialect that cannot replace it
	// refuses the call.
	Command string
	// Context is told to the model at the start of a session, where the agent can.
	Context string
}

// Asking says what becomes of a verdict that asks.
type Asking string

// The three ways: the agent shows its question whatever its mode; it shows the
// question but has modes that skip it, so that Options.Ask decides between the
// question and a denial; it has no question, and ask is a denial.
const (
	AskAlways Asking = "always"
	AskOption Asking = "option"
	AskNever  Asking = "never"
)

// Contract says what an agent's hooks can do.
type Contract struct {
	// Asks says what becomes of ask.
	Asks Asking
	// Replaces says that the agent runs what Options.Command says.
	Replaces bool
	// ProjectVar is the variable with the project folder that the agent sets for
	// its hooks, or "".
	ProjectVar string
	// Kinds are the kinds of events that the dialect reads.
	Kinds []Kind
}

// Dialect is one agent's hook contract.
type Dialect interface {
	// Name is the agent's name on the command line ("claude-code").
	Name() string
	// Contract says what the agent can do.
	Contract() Contract
	// Decode reads what the agent sent. Unknown fields are passed over; duplicate
	// members, wrong types and events that are none of lictor's are errors. Any
	// error must be answered with Refuse; the event that comes with it says the
	// kind if that much could be read, else it is nil.
	Decode(stdin []byte) (*Event, error)
	// Answer says the verdict about the event in the agent's words. A verdict that
	// is neither allow, deny nor ask is refused. Events that decide nothing take
	// any verdict, also nil.
	Answer(e *Event, v *model.Verdict, o Options) Reply
	// Refuse blocks the event without a verdict: the input could not be read, the
	// engine failed, the program panicked. It never lets the call run. The event
	// may be nil.
	Refuse(e *Event, reason string) Reply
	// Encode is Answer for a plain PreToolUse event without options.
	Encode(v *model.Verdict) Reply
	// Block is Refuse for an event that is not known.
	Block(reason string) Reply
}

var dialects = []Dialect{
	speaker{claudeCode{}},
	speaker{codex{}},
	speaker{copilot{}},
	speaker{cursor{}},
	speaker{droid{}},
	speaker{gemini{}},
	speaker{opencode{}},
	speaker{vscode{}},
}

// Names lists the agents that have a dialect.
func Names() []string {
	var out []string
	for _, d := range dialects {
		out = append(out, d.Name())
	}
	slices.Sort(out)
	return out
}

// Find returns the dialect of an agent by name, or an error that lists the names.
func Find(name string) (Dialect, error) {
	for _, d := range dialects {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q: lictor has hooks for %v", name, Names())
}

// Project is the agent's own word for its project folder: the event's, or the
// variable that this agent sets for its hooks (getenv is os.Getenv), or "". The
// event's cwd is not that: it moves while the agent works, and the root must not.
// The variable of another agent is not either: agents start each other.
func Project(d Dialect, e *Event, getenv func(string) string) string {
	if e != nil && e.Project != "" {
		return e.Project
	}
	if name := d.Contract().ProjectVar; name != "" {
		return getenv(name)
	}
	return ""
}
