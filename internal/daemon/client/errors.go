package client

import "errors"

// ErrNoDaemon is the error if nothing listens on the socket.
var ErrNoDaemon = errors.New("no lictor daemon is running")

// ErrTimeout is the error if the daemon did not answer in time.
var ErrTimeout = errors.New("the lictor daemon did not answer in time")

// ErrUnsupported is the error on systems on which lictor has no daemon.
var ErrUnsupported = errors.New("lictor has no daemon on this system")

// UnsafeError says that the daemon's place cannot be trusted: somebody else
// could have put a daemon of their own there.
type UnsafeError struct {
	// Path is the folder or socket, Reason what is wrong with it and what to do.
	Path, Reason string
}

// Error returns "PATH: REASON".
func (e *UnsafeError) Error() string { return e.Path + ": " + e.Reason }
