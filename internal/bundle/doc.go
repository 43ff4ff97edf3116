// Package bundle loads, checks and asks managed bundles: the policy that a
// security team gives to every machine (SPEC section 5). A bundle is an OPA
// bundle, a folder or a .tar.gz, with one root lictor/managed/<name>. It can only
// tighten: it says deny and ask, and it may bring a team policy document.
//
// # The road of a bundle
//
// [Load] reads it once into memory (sizes, names, no links), verifies its
// signature with the key that its id names, checks manifest and roots, holds it
// against the contract and compiles it under the builtin allowlist. A [Set] takes
// all bundles of the folders, refuses replayed serials, tries every bundle on
// calls that it must deny and calls that it must let through, and only then puts
// the new set into the place of the old one, in one step. Whatever fails, the old
// set goes on deciding.
//
// # Asking
//
// [Set.Evaluate] asks each bundle in a prepared query of its own. A bundle whose
// rules all declare what they are about is skipped when the call has nothing of
// it; the findings say for every bundle whether it was asked or why not. An
// error, a conflict, an undefined result, a malformed finding or a late answer is
// a denial by that bundle, never silence.
//
// # Writing
//
// [Init], [Check], [Test], [Build], [Sign], [Verify], [Inspect] and [Keygen] are
// what `lictor bundle` does. They need no network and no other program, and what
// they accept is exactly what [Load] accepts.
package bundle
