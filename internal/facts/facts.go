// Package facts turns a call into what the policy decides on: it lets the other
// rooms say what they know (which targets, where paths really lead, what a
// command runs, which rules match) and joins their answers into one input
// document and one vector of facts, ratcheted over all targets. Afterwards it
// turns the policy's outcome back into a verdict that names rule and file.
//
// It decides nothing: every condition here is a fact of SPEC, and what follows
// from a fact is written in Rego.
package facts

import (
	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// Context is everything that stays the same from call to call: immutable after
// it was built, safe for concurrent use.
type Context struct {
	Table *toolcall.Table
	Guard *pathguard.Guard
	// Rules are the settings' and permission files' rules, Env what they were
	// compiled with.
	Rules *rules.Set
	Env   rules.Env
	// Lifts reports whether a rule with an absolute pattern may open the root; nil
	// means that every rule may.
	Lifts func(*model.Rule) bool
	// Team is the merged team policy, or nil if there is none.
	Team    *Team
	Session *approve.Session
	// Shell is the shell that runs commands if the call does not say
	// (model.ShellUnknown: nobody knows).
	Shell model.Shell
	Mode  model.Mode
	// Isolation says who confines commands.
	Isolation model.Isolation
	// Unattended is the reason why nobody can answer, or empty.
	Unattended string
	AskFirst   bool
	// AskOutside is paths.outsideRoot: "ask"; else such paths are denied.
	AskOutside bool
	// Strict is the strict profile: outside_sandbox is an input error.
	Strict bool
	// Fold compares paths without letter case.
	Fold bool
	// Revision names the policy.
	Revision string
}

// Call is a gathered call: the input document with its facts, and the evidence
// for each of them.
type Call struct {
	Input model.Input
	// InputErr says which argument could not be read; the fact input_error holds.
	InputErr error
	// Err is why the call must be denied without asking the policy: a path could
	// not be resolved.
	Err error

	// git is what a call of the git tool would be as a shell command, gitMatch what
	// the rules say about that; nil for other tools.
	git      *model.Target
	gitMatch rules.Match

	managed bundle.Findings
	query   rules.Query
	match   rules.Match
	decoded *toolcall.Decoded
	// evidence by fact, for reasons.
	policy             *policyHit
	outside, sensitive *pathHit
	sensitiveAsk       *pathHit
	outsideAsk         *pathHit
	protected          *protectedHit
	session            *model.Rule
}

// Managed adds what the managed bundles found out about the call: two more facts,
// and the evidence for them.
func (c *Call) Managed(f bundle.Findings) {
	c.managed = f
	c.Input.Facts |= f.Facts()
}

// Query returns the call as rules see it, for deriving rules from it.
func (c *Call) Query() *rules.Query { return &c.query }

// Match returns what the rules said.
func (c *Call) Match() *rules.Match { return &c.match }

type pathHit struct {
	path model.Path
	// real says that the hit is on the path behind a link.
	real bool
	// access is what the call does with the path.
	access model.Access
	rule   *model.Rule
}

type protectedHit struct {
	pathHit
	// command is set if a command answers for the user.
	command string
}
