//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the exclusive lock of f: waiting for it, or failing at once.
func lockFile(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}

func writableDir(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
