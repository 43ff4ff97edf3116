package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync: the size of the file is data enough for the log, its
// times are not.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// Exchange swaps the two names. Without an old file, or on a file system that
// cannot swap, it is a rename.
func (osFS) Exchange(temp, path string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return os.Rename(temp, path)
		}
	}
}
