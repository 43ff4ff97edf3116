// Package netguard owns what lictor knows about network hosts: their one normal
// form, URLs, host patterns, and which addresses are public.
//
// A host is compared in one form only ([NormalizeHost]): lower-case ASCII
// (IDNA), no brackets, no trailing dot, and for an IP literal in any notation
// that a resolver understands the canonical address. Whatever two programs
// could read in two ways (user names in URLs, backslashes, percent signs in
// host names, zone identifiers, numbers that overflow) is an error, never a
// guess.
package netguard
