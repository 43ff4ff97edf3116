package pathguard

import (
	"errors"
	"fmt"
)

// Reasons of a [ResolveError] that are no system errors.
var (
	// ErrAmbiguous is the reason for a path with ".." after a link whose two
	// readings (cleaned as text, or as the kernel walks it) lead to two places
	// and the first of them leads on through a link.
	ErrAmbiguous = errors.New(`".." after a link: the path can mean two different files; write it without ".."`)
	// ErrEmptyLink is the reason for a link without a text.
	ErrEmptyLink = errors.New("link with an empty text")
)

// InputError says that the text of a path can never be a path: it holds a NUL
// byte, or "~" where no home folder is known. It is an input error (SPEC
// section 1): the call is denied with `input`.
type InputError struct {
	// Path is the text as the call wrote it.
	Path string
	// Reason says what is wrong and what to do.
	Reason string
}

// Error names the path and the reason.
func (e *InputError) Error() string {
	return fmt.Sprintf("path %s: %s", Escape(short(e.Path)), e.Reason)
}

// ResolveError says that a path could not be resolved: a loop of links, a
// folder that may not be searched, a name that is too long, an input/output
// error. The caller denies with `error`: what cannot be resolved is never
// taken for a path without links.
type ResolveError struct {
	// Path is the text as the call wrote it.
	Path string
	// At is the absolute path whose look-up failed.
	At string
	// Err is the system error or one of this package's reasons.
	Err error
}

// Error names the path, the place and the reason.
func (e *ResolveError) Error() string {
	if e.At == "" || e.At == e.Path {
		return fmt.Sprintf("cannot resolve %s: %v", Escape(short(e.Path)), e.Err)
	}
	return fmt.Sprintf("cannot resolve %s: %s: %v", Escape(short(e.Path)), Escape(short(e.At)), e.Err)
}

// Unwrap returns the reason, so that errors.Is(err, syscall.ELOOP) works.
func (e *ResolveError) Unwrap() error { return e.Err }

// OutsideRootError says that a path lies outside the root, as written or as
// real path.
type OutsideRootError struct {
	// Path is the text as the call wrote it, Real where it leads.
	Path, Real string
	// Root is the root as given to New.
	Root string
}

// Error names the path, where it leads if that differs, and the root.
func (e *OutsideRootError) Error() string {
	if e.Real != "" && e.Real != e.Path {
		return fmt.Sprintf("path %s leads to %s, outside the root %s", Escape(short(e.Path)), Escape(short(e.Real)), Escape(e.Root))
	}
	return fmt.Sprintf("path %s is outside the root %s", Escape(short(e.Path)), Escape(e.Root))
}

// RootError says why a folder cannot be the root.
type RootError struct {
	// Root is the folder as given.
	Root string
	// Reason says what is wrong and what to do; Err is the system error, if any.
	Reason string
	Err    error
}

// Error names the folder and the reason.
func (e *RootError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("root %s: %s: %v", Escape(short(e.Root)), e.Reason, e.Err)
	}
	return fmt.Sprintf("root %s: %s", Escape(short(e.Root)), e.Reason)
}

// Unwrap returns the system error, or nil.
func (e *RootError) Unwrap() error { return e.Err }

// short keeps messages readable: a path of 16 KiB tells no more than its ends.
func short(s string) string {
	const keep = 200
	if len(s) <= 2*keep {
		return s
	}
	return s[:keep] + "…" + s[len(s)-keep:]
}
