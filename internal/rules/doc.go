// Package rules reads, indexes and matches permission rules.
//
// A rule is `tool(pattern)` with an effect. Parse reads one in either syntax,
// Compile turns many into an immutable Set, and Set.Match says which of them
// speak of a call: deny and ask evidence, and whether allow rules cover every
// target. The package only matches: sensitive files, the root guard and the
// order of the steps are the policy's business, which reads Match as facts.
//
// Permissions is the permission-file store, an API of its own: it loads the
// files of SPEC section 4, evaluates a call by rules alone, and writes the
// rules that a person's answer adds to the personal file. DeriveAllowRules and
// DeriveDenyRule propose such rules; Lint and Validate advise.
package rules
