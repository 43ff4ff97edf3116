package audit

import (
	"errors"
	"fmt"
)

// DirError says that a log's folder is there but cannot be listed, so nothing
// can be said about the log.
type DirError struct {
	Dir string
	Err error
}

func (e *DirError) Error() string {
	return fmt.Sprintf("audit: the log folder %s cannot be listed: %v; check its owner and permissions", e.Dir, e.Err)
}

func (e *DirError) Unwrap() error { return e.Err }

// Outcome says what became of the call that a RecordError is about.
type Outcome string

// The outcomes of a call whose event could not be recorded.
const (
	NotRun    Outcome = "so the call did not run"
	AlreadyIn Outcome = "the call ran"
	NoCall    Outcome = ""
)

// RecordError is what a mandatory log returns when an event could not be
// recorded. Its text says whether the call ran.
type RecordError struct {
	// File is the file or folder that failed.
	File string
	// Written says that the line is on disk and only its checkpoint failed.
	Written bool
	// Outcome says whether the call ran.
	Outcome Outcome
	Err     error
}

func (e *RecordError) Error() string {
	what := "the event could not be recorded"
	if e.Written {
		what = "the line was written, but its checkpoint could not be written"
	}
	msg := fmt.Sprintf("audit: %s (%s: %v)", what, e.File, e.Err)
	switch e.Outcome {
	case NotRun:
		return msg + "; the audit log is mandatory (audit.enabled), " + string(NotRun)
	case AlreadyIn:
		return msg + "; the audit log is mandatory (audit.enabled); " + string(AlreadyIn)
	}
	return msg + "; the audit log is mandatory (audit.enabled)"
}

func (e *RecordError) Unwrap() error { return e.Err }

// errClosed is returned by a log after Close.
var errClosed = errors.New("the audit log is closed")

// lostError says that a segment cannot be used any more and the event belongs
// into a new one.
type lostError struct {
	why string
	// conflict is what to record about the old segment, or nil.
	conflict *System
	// keep leaves the old segment unfinished, so that its torn tail is recovered
	// by whoever finds it.
	keep bool
	err  error
}

func (e *lostError) Error() string {
	if e.err != nil {
		return e.why + ": " + e.err.Error()
	}
	return e.why
}

func (e *lostError) Unwrap() error { return e.err }

// checkpointError says that the line is on disk and its checkpoint is not.
type checkpointError struct {
	file string
	err  error
}

func (e *checkpointError) Error() string { return e.file + ": " + e.err.Error() }
func (e *checkpointError) Unwrap() error { return e.err }

// written reports whether a line is on disk, with its checkpoint or without.
func written(err error) bool {
	if err == nil {
		return true
	}
	var ck *checkpointError
	return errors.As(err, &ck)
}
