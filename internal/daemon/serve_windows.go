package daemon

import "context"

// Serve is ErrUnsupported: on Windows every hook call is decided in a process of
// its own.
func Serve(context.Context, Options) error { return ErrUnsupported }
