package rules

import "github.com/lictor-policy/lictor/internal/model"

// Query is a decoded call, as far as rules look at it.
type Query struct {
	// Tool is the canonical tool name, Called the name that the agent used.
	Tool, Called string
	// Class is the permission-file class of the tool ("" if it has none).
	Class string
	// Targets are the call's targets with paths resolved and commands analysed. A
	// copy or move lists each source (RoleSource) directly before its destination.
	// A call without targets is covered by bare rules only.
	Targets []model.Target
	// Unextractable says that the call may touch more than Targets: deny and ask
	// rules are tried on what is known, and nothing is covered.
	Unextractable bool
}

// Match is what the rules of a Set say about a Query. Its slices are reused by
// the next Set.Match with the same value, so keep one per goroutine (or pool).
type Match struct {
	// Deny and Ask are the hits of deny and ask rules in target order, Allow the
	// allow rules that covered something.
	Deny, Ask, Allow []model.Evidence
	// Covered says that allow rules cover every target of the call.
	Covered bool
	// TargetCovered says it per target (same length as Query.Targets), so that a
	// session answer can cover the rest. Redirections and mentions count for
	// their target.
	TargetCovered []bool
	// Paths has one entry per path of the call: the path of each path target, and
	// the redirections and mentions of each command target, in target order.
	Paths []PathMatch

	buf scratch
}

// PathMatch is what the rules say about one path beyond deny, ask and allow.
type PathMatch struct {
	// Target is the index of the target; Ref counts its redirections and then its
	// mentions, -1 is the target's own path.
	Target, Ref int
	// NamedAllow and NamedAsk are rules of the call's own tool or class (for a
	// redirection or mention: of any class with its access) whose pattern names
	// the sensitive file, as SPEC section 3 defines naming. A command pattern
	// never names a path.
	NamedAllow, NamedAsk *model.Rule
	// AbsAllow and AbsAsk are rules with an absolute, `~/` or `../` pattern of a
	// fitting class that match every outside form (as written, real) of a path
	// that lies outside the root.
	AbsAllow, AbsAsk *model.Rule
}
