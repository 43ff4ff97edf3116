// Package probe makes the raw system calls that an attacker would make, and says
// what came of them: ESCAPED, or the error that stopped it. It runs inside a
// sandbox, started by internal/boot from this program's own binary, for
// sandbox.Verify and for the tests; it decides nothing and grants nothing.
package probe
