//go:build unix

package sandbox

import "syscall"

// nonBlock keeps the opening of a FIFO from waiting for a writer.
const nonBlock = syscall.O_NONBLOCK | syscall.O_NOCTTY
