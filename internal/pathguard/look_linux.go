package pathguard

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// look asks for the link text of w.out with one system call: readlink says
// EINVAL for everything that exists and is no link, so no lstat is needed. The
// call is made on the walker's own buffers, without an allocation.
func (w *walker) look() (entry, []byte, error) {
	w.out = append(w.out, 0)
	dir := unix.AT_FDCWD
	var n uintptr
	var errno syscall.Errno
	for {
		n, _, errno = syscall.Syscall6(unix.SYS_READLINKAT, uintptr(dir),
			uintptr(unsafe.Pointer(&w.out[0])), uintptr(unsafe.Pointer(&w.link[0])), uintptr(len(w.link)), 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	w.out = w.out[:len(w.out)-1]
	switch errno {
	case 0:
		if int(n) == len(w.link) {
			return link, nil, syscall.ENAMETOOLONG // perhaps cut off
		}
		return link, w.link[:n], nil
	case syscall.EINVAL:
		return plain, nil, nil
	case syscall.ENOENT, syscall.ENOTDIR:
		return missing, nil, nil
	}
	return plain, nil, errno
}

// isMagic reports whether the link at w.out, whose folder is w.out[:dirLen],
// lies in a proc file system, wherever that is mounted. The kernel does not
// follow the text of such a link but jumps to an open file, and the text
// differs per process. What cannot be asked counts as magic.
func (w *walker) isMagic(dirLen int) bool {
	dir := "/"
	if dirLen > 0 {
		dir = string(w.out[:dirLen])
	}
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err != unix.EINTR {
			return err != nil || st.Type == unix.PROC_SUPER_MAGIC
		}
	}
}

// folderID names a folder on this machine.
type folderID struct{ dev, ino uint64 }

func idOf(info os.FileInfo) folderID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return folderID{uint64(st.Dev), st.Ino}
	}
	return folderID{}
}

// unchanged reports whether the root's real path still names the folder that
// it named when the Guard was made.
func (g *Guard) unchanged() bool {
	var st unix.Stat_t
	if err := unix.Stat(g.real, &st); err != nil {
		return false
	}
	return g.id == folderID{uint64(st.Dev), st.Ino}
}
