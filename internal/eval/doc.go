// Package eval asks the Rego policy. It compiles the embedded modules once and
// turns facts into an outcome; it knows no file, no shell and no terminal.
//
// # Facts in, outcome out
//
// The built-in chain reads nothing but the facts of a call, so its outcome is a
// function of one small vector. [Engine.Outcome] keeps a table from vector to
// outcome that the Rego chain fills, one evaluation per vector. That the chain
// really reads nothing else is proved when the modules are compiled, by walking
// the references of everything that data.lictor.verdict can reach; if the proof
// fails, the table is off and every outcome is evaluated.
//
// # Errors deny
//
// Undefined, conflicting, malformed, late or cancelled: every failure is an
// [Error], never an outcome, and the caller denies the call (by "error").
package eval
