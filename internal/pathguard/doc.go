// Package pathguard turns the paths that a call names into facts: where a path
// lies as it is written, where the kernel would really end up, and whether
// both lie in the root. It is the only package of lictor that resolves links.
//
// # What is resolved
//
// [Guard.Resolve] walks a path as the kernel does, one readlink per component:
// links are followed, ".." after a link leaves the link's target, a dangling
// link leads to the place where a write would create the file, and components
// that do not exist (yet) are appended to the deepest existing folder. An error
// on the way (a loop, a folder that may not be searched) is an error of the
// whole path, never "no link".
//
// Both readings of a path are facts: [model.Path] has Rel and Inside for the
// path as written (cleaned as text, as many tools do before they open a file)
// and RealRel and RealInside for the kernel's reading. A path is inside only if
// both are.
//
// # What cannot be seen
//
// A check and the later use of a path are two moments; a link that is made in
// between is seen only by the sandbox. Hard links have no target: a second name
// of a protected or sensitive file looks like any other file here. Bind mounts
// look like folders. The sandbox plan looks for these (link counts and the
// mount table); this package does not.
package pathguard
