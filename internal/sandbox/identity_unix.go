//go:build linux || darwin

package sandbox

import (
	"os"
	"syscall"
)

func ownedByUs(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// identity returns the device, inode and number of names of a file.
func identity(fi os.FileInfo) (dev, ino, links uint64) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino, uint64(st.Nlink)
	}
	return 0, 0, 1
}
