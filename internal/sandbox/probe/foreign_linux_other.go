//go:build linux && !amd64

package probe

import "syscall"

// int80 and x32 are entries of amd64 alone.
func int80([]string) error { return syscall.ENOSYS }

func x32([]string) error { return syscall.ENOSYS }
