package sandbox

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// moveAside renames path to a place outside the root, or, on another file system,
// to a harmless name beside it. The folder that holds it is opened without links, so
// that a sandbox that still runs cannot lead the rename elsewhere.
func moveAside(_, path, to string) string {
	dir, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return ""
	}
	defer unix.Close(dir)
	base := filepath.Base(path)
	if to != "" && unix.Renameat2(dir, base, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE) == nil {
		return to
	}
	for i := range 100 {
		name := "quarantined-" + strconv.Itoa(i) + "-" + trimDot(base)
		if unix.Renameat2(dir, base, dir, name, unix.RENAME_NOREPLACE) == nil {
			return filepath.Join(filepath.Dir(path), name)
		}
	}
	return ""
}

func trimDot(s string) string {
	for len(s) > 0 && s[0] == '.' {
		s = s[1:]
	}
	return s
}
