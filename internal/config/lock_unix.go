//go:build unix

package config

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func openLock(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// tryLock takes the lock of the open file; closing the file gives it back.
func tryLock(file *os.File) error {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

func isLocked(err error) bool {
	return errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
}

// syncFolder makes a rename in the folder last through a crash.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
