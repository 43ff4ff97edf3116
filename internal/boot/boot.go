// Package boot makes a re-executed process a sandbox helper before the rest of
// the program is initialised. It is imported for its effect alone, by
// internal/sandbox and so by every program that can start a sandbox:
//
//	import _ "github.com/lictor-policy/lictor/internal/boot"
//
// Go initialises packages in the order of their dependencies and, among those
// that are ready, of their import paths. This package depends on nothing but the
// system call layer, so its turn comes before that of the os package, of the
// policy engine, and of everything else that costs time at start: a helper is
// confined and has started its command before any of it would have run. Keep it
// that way: an import of os or fmt here, or in the packages named below, would
// put most of the program's initialisation in front of every sandboxed command
// (a test watches over it).
package boot
