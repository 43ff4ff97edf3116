package approve

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// ownFolder trusts the folder: Windows gives what lies below the user's profile
// to the user alone.
func ownFolder(string, fs.FileInfo) error { return nil }

func openPlain(path string) (*os.File, error) { return os.Open(path) }

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}

// tryLock takes the lock of the open file; closing the file gives it back.
func tryLock(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}

func tryShared(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}

func isLocked(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }

// release gives the lock back first: an open file cannot be removed, and one
// that another process has opened by then stays.
func (l *lock) release() {
	_ = l.file.Close()
	_ = os.Remove(l.path)
}

// syncFolder does nothing: Windows has no such call.
func syncFolder(string) {}
