package model

// Step describes one step of the chain, as its Rego module's METADATA says.
type Step struct {
	Step        string `json:"step"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// Explanation says how a verdict came about.
type Explanation struct {
	Verdict Verdict `json:"verdict"`
	// Steps are all steps of the chain in order.
	Steps []StepOutcome `json:"steps"`
	// Facts are the names of the facts that hold.
	Facts []string `json:"facts"`
	// Notes say what is worth knowing about the targets: why a command is opaque,
	// what it really runs, where a path leads.
	Notes []string `json:"notes"`
	// Allows says what would have allowed the call; empty for an allowed one.
	Allows []string `json:"allows"`
}

// StepOutcome is what one step of the chain had to say.
type StepOutcome struct {
	Step
	// Outcome is "decides", "holds too" or "does not hold".
	Outcome string `json:"outcome"`
	// Decision is what the step says if it holds, Rule the rule behind it.
	Decision Decision `json:"decision,omitempty"`
	Rule     *RuleRef `json:"rule,omitempty"`
}
