package model

// Effect is what a rule wants.
type Effect string

// The effects, least strict first.
const (
	EffectAllow Effect = "allow"
	EffectAsk   Effect = "ask"
	EffectDeny  Effect = "deny"
)

// Syntax is the dialect that a rule is written in.
type Syntax string

// Settings rules are `tool` or `tool(pattern)`, permission-file rules
// `Class(pattern)` or `tool(pattern)`.
const (
	SyntaxSettings    Syntax = "settings"
	SyntaxPermissions Syntax = "permissions"
)

// Rule is one parsed rule and where it stands.
type Rule struct {
	// Tool is the tool or class name as written; it may end with '*'.
	Tool string `json:"tool"`
	// Pattern is the text between the parentheses; Bare says there were none.
	Pattern string `json:"pattern,omitempty"`
	Bare    bool   `json:"bare,omitempty"`
	// Text is the rule as written.
	Text   string `json:"text"`
	Effect Effect `json:"effect"`
	Syntax Syntax `json:"syntax"`
	// Source is the file that the rule stands in, or "session".
	Source string `json:"source"`
}

// Evidence says which rule hit what.
type Evidence struct {
	Rule *Rule
	// Target is the index of the target, Part of its part (-1: none), Ref of its
	// redirection or mention (-1: none; mentions count on after redirections).
	Target, Part, Ref int
	// Matched is the spelling or path that matched; ViaReal says that it is the
	// real path behind a link.
	Matched string
	ViaReal bool
}
