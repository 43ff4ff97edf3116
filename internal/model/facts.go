package model

import "strings"

// Facts is the vector of everything that the built-in chain may read, one bit a
// fact, ratcheted over all targets, redirections and mentions of a call: a
// prohibition holds if it holds for any of them, a permission only if it holds
// for every one. A fact that does not hold is absent from the input document,
// never false, so that the policy's index can skip it.
type Facts uint32

// The facts, in the order of the chain.
const (
	// FactInputError: the call could not be read (SPEC section 1).
	FactInputError Facts = 1 << iota
	// FactPolicy: the team policy is violated (step 0).
	FactPolicy
	// FactManagedDeny: a managed bundle denies (step 0).
	FactManagedDeny
	// FactOutside: a path target or redirection lies outside the root, the setting
	// says deny, and no rule with an absolute pattern names it (step 0b).
	FactOutside
	// FactSensitive: a sensitive path that no allow or ask rule names (step 1).
	FactSensitive
	// FactSensitiveAsk: a sensitive path that an ask rule names, and no allow
	// rule does (step 1).
	FactSensitiveAsk
	// FactProtected: a write to .git, lictor's or an agent's own files, or a
	// command that answers for the user (step 2).
	FactProtected
	// FactDenied: a deny rule matches (step 3).
	FactDenied
	// FactPlan: the mode is plan (step 3b).
	FactPlan
	// FactAsked: an ask rule matches (step 3c).
	FactAsked
	// FactAskFirst: an ask rule outranks allow rules (step 3c).
	FactAskFirst
	// FactOutsideAsk: a path outside the root, the setting says ask, and no rule
	// names it (step 3c).
	FactOutsideAsk
	// FactManagedAsk: a managed bundle asks (step 3d).
	FactManagedAsk
	// FactReadOnly: the tool only reads (step 4).
	FactReadOnly
	// FactCommand: a target is a command. FactChange: a target is a path, or the
	// tool is remember. Neither: other targets (plan table, step 5).
	FactCommand
	FactChange
	// FactConfined: every command target runs in the OS sandbox (isolation os, not
	// outside_sandbox); FactUnparseable: a command could not be read (step 5).
	FactConfined
	FactUnparseable
	// FactAllowed: allow rules cover every target; FactSession: session rules,
	// with or without allow rules, do (step 6).
	FactAllowed
	FactSession
	// FactAlwaysAsk: a url target must always be asked about (step 6).
	FactAlwaysAsk
	// FactUnattended: nobody can answer (step 7).
	FactUnattended

	factEnd
)

// FactBits is the number of facts, FactMask the set of all of them.
const (
	FactBits       = 22
	FactMask Facts = factEnd - 1
)

// FactNames are the names of the facts in input.facts, by bit.
var FactNames = [FactBits]string{
	"input_error", "policy", "managed_deny", "outside", "sensitive", "sensitive_ask", "protected", "denied",
	"plan", "asked", "ask_first", "outside_ask", "managed_ask", "read_only", "command", "change",
	"confined", "unparseable", "allowed", "session", "always_ask", "unattended",
}

// Has reports whether all of want holds.
func (f Facts) Has(want Facts) bool { return f&want == want }

// Names returns the names of the facts that hold, in the order of the chain.
func (f Facts) Names() []string {
	var out []string
	for i, name := range FactNames {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// MarshalJSON writes the facts that hold as an object of trues.
func (f Facts) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range f.Names() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":true`)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
