package model

import "encoding/json"

// Call is one tool call that an agent wants to make, before anything is known
// about it.
type Call struct {
	// Tool is the tool's name as the agent says it ("bash", "Bash",
	// "mcp__github__create_issue").
	Tool string
	// Args is the JSON object of the tool's arguments. Empty means {}.
	Args json.RawMessage
	// ReadOnly is the caller's word that the tool changes nothing. A true counts
	// only for tools that the table does not know and never for a path or command
	// target; a false always counts. Nil says nothing.
	ReadOnly *bool
	// AlwaysAsk asks for a question even where a rule would allow a url target.
	AlwaysAsk bool
	// CallID is the agent's own id of the call; it is passed through to the audit.
	CallID string
	// Agent names the agent that makes the call ("claude-code"); informational.
	Agent string
	// Cwd is the folder that relative paths of this call start at, absolute.
	// Empty means the root. It never moves the root.
	Cwd string
	// Mode overrides the engine's mode for this call (an agent's plan mode).
	// Empty means the engine's mode. It can only tighten: an engine in plan mode
	// stays there.
	Mode Mode
	// Shell names the shell that will run a command target, if the agent knows it.
	// Empty means unknown, unless lictor runs the command itself.
	Shell Shell
}

// Mode is what the agent is doing: changing things, or planning.
type Mode string

// The modes of SPEC: build is the default, plan never changes the root.
const (
	ModeBuild Mode = "build"
	ModePlan  Mode = "plan"
)

// Isolation says who confines a command.
type Isolation string

// A command is isolated by the OS only when lictor itself starts it confined.
const (
	IsolationNone Isolation = "none"
	IsolationOS   Isolation = "os"
)

// Shell is the shell whose grammar a command is read with.
type Shell string

// The shells that lictor can read. Unknown means that bash and zsh must agree.
const (
	ShellUnknown Shell = ""
	ShellBash    Shell = "bash"
	ShellZsh     Shell = "zsh"
	ShellPOSIX   Shell = "sh"
)
