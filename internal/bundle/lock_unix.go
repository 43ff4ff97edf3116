//go:build unix

package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file; closing the file gives it back.
func tryLock(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder makes a rename in the folder last through a crash.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return pathError(err)
	}
	defer folder.Close()
	return folder.Sync()
}
