package client

import (
	"os/signal"
	"syscall"
)

// ignoreSIGPIPE keeps a write to an agent that is gone from ending the process
// by a signal: that has neither an exit code nor a reason, and most agents let
// the call run.
func ignoreSIGPIPE() { signal.Ignore(syscall.SIGPIPE) }
