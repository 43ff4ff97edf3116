package model

// Decision is what a verdict says.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Verdict is what the policy says about a call, and why. Its JSON is stable
// (schemas/verdict.json): every key is always present.
type Verdict struct {
	Decision Decision `json:"decision"`
	// By is what decided: input, error, policy, outside, sensitive, rule,
	// read_only, sandbox, session, unattended, default, user.
	By string `json:"by"`
	// Kind refines By ("protected", "plan"), or is empty.
	Kind string `json:"kind"`
	// Step is the step of the chain that decided ("in", "0", "0b", "1", … "7").
	Step string `json:"step"`
	// Class is the class for the audit ("deny_policy", "allow_rule", "ask", …).
	Class string `json:"class"`
	// Reason is one line for a person: it names the rule or policy and its file.
	Reason string `json:"reason"`
	// Rule is the rule or policy entry that decided, or nil.
	Rule *RuleRef `json:"rule"`
	// Hits are the lower-ranked steps that would have decided.
	Hits []Hit `json:"hits"`
	// Revision names the policy that decided.
	Revision string `json:"revision"`
}

// RuleRef names a rule for people and the audit.
type RuleRef struct {
	Text   string `json:"text"`
	Effect string `json:"effect"`
	Source string `json:"source"`
}

// Hit is a step of the chain that also held, ranked below the one that decided.
type Hit struct {
	Step     string   `json:"step"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`
	Kind     string   `json:"kind"`
	Rule     *RuleRef `json:"rule"`
}

// Outcome is the chain's raw result, a function of the facts alone: what the
// Rego rule data.lictor.verdict returns, strictly decoded.
type Outcome struct {
	Decision Decision     `json:"decision"`
	By       string       `json:"by"`
	Kind     string       `json:"kind"`
	Step     string       `json:"step"`
	Class    string       `json:"class"`
	Hits     []OutcomeHit `json:"hits"`
}

// OutcomeHit is one lower-ranked step of an Outcome.
type OutcomeHit struct {
	Step     string   `json:"step"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`
	Kind     string   `json:"kind"`
}
