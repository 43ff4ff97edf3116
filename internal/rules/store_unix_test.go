//go:build unix

package rules

import "golang.org/x/sys/unix"

// fileModes says that files have Unix modes here.
const fileModes = true

func makePipe(path string) error { return unix.Mkfifo(path, 0o600) }
