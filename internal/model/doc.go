// Package model holds lictor's nouns: calls, targets, parsed commands, rules,
// evidence, facts and verdicts. It has no behaviour beyond tiny accessors, and
// it imports nothing of lictor, so that every other package can speak the same
// words without depending on each other.
//
// The JSON tags of Input and everything below it are the input document that
// the Rego policy reads (schemas/input.json); those of Verdict are the stable
// output of `lictor check` (schemas/verdict.json).
package model
