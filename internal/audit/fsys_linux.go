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
