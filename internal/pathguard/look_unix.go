//go:build unix && !linux

package pathguard

import (
	"bytes"
	"os"
	"syscall"
)

// look asks for the link text of w.out with one system call: readlink says
// EINVAL for everything that exists and is no link.
func (w *walker) look() (entry, []byte, error) {
	name := string(w.out)
	for {
		n, err := syscall.Readlink(name, w.link)
		switch err {
		case nil:
			if n == len(w.link) {
				return link, nil, syscall.ENAMETOOLONG // perhaps cut off
			}
			return link, w.link[:n], nil
		case syscall.EINTR:
			continue
		case syscall.EINVAL:
			return plain, nil, nil
		case syscall.ENOENT, syscall.ENOTDIR:
			return missing, nil, nil
		}
		return plain, nil, err
	}
}

// isMagic reports whether the link at w.out is one that the kernel does not
// follow by its text: anything below /proc (the BSDs' compatibility mounts) and
// /dev/fd.
func (w *walker) isMagic(int) bool {
	return bytes.HasPrefix(w.out, []byte("/proc/")) || bytes.HasPrefix(w.out, []byte("/dev/fd/"))
}

// folderID is not used here: os.SameFile compares folders.
type folderID struct{}

func idOf(os.FileInfo) folderID { return folderID{} }

// unchanged reports whether the root's real path still names the folder that
// it named when the Guard was made.
func (g *Guard) unchanged() bool {
	info, err := os.Stat(g.real)
	return err == nil && os.SameFile(info, g.info)
}
