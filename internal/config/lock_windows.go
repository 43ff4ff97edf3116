package config

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func openLock(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
}

// tryLock takes the lock of the open file; closing the file gives it back.
func tryLock(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}

func isLocked(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }

// syncFolder does nothing: Windows has no such call.
func syncFolder(string) error { return nil }
