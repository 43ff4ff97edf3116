//go:build unix

package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// O_NONBLOCK keeps the open of a pipe or a terminal from waiting; O_NOCTTY keeps
// a terminal from becoming ours.
const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// openBelow opens rel below dir, one path element after the other, each without
// following a link, so that no swap between a check and the open can matter.
func openBelow(dir, rel string) (*os.File, error) {
	at, err := openat(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	elements := strings.Split(rel, "/")
	for i, name := range elements {
		flags := readFlags | unix.O_NOFOLLOW
		last := i == len(elements)-1
		if !last {
			flags |= unix.O_DIRECTORY
		}
		next, err := openat(at, name, flags)
		if err != nil {
			err = explainOpen(at, name, last, err)
		}
		unix.Close(at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return os.NewFile(uintptr(at), filepath.Join(dir, filepath.FromSlash(rel))), nil
}

func openFollowing(name string) (*os.File, error) {
	fd, err := openat(unix.AT_FDCWD, name, readFlags)
	if err != nil {
		return nil, explainOpen(unix.AT_FDCWD, name, true, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// explainOpen turns the errno of a refused open into what the thing is.
func explainOpen(dir int, name string, last bool, err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return err
	}
	var stat unix.Stat_t
	if unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return err
	}
	kind := uint32(stat.Mode) & unix.S_IFMT
	switch {
	case kind == unix.S_IFLNK && !last:
		return fmt.Errorf("%s is a symbolic link, which is not followed: make it a folder", name)
	case kind == unix.S_IFLNK && errors.Is(err, unix.ELOOP):
		return errors.New("is a symbolic link, which is not followed: replace it by the file itself")
	case !last:
		return fmt.Errorf("%s is not a folder", name)
	case kind == unix.S_IFSOCK:
		return checkRegular(os.ModeSocket)
	case kind == unix.S_IFCHR || kind == unix.S_IFBLK:
		return checkRegular(os.ModeDevice)
	}
	return err
}

func isNotDir(err error) bool { return errors.Is(err, unix.ENOTDIR) }

// checkManaged checks the open file and every folder above it, both as written
// and with links followed: whoever can write to one of them could have put
// another file in its place.
func checkManaged(name string, file *os.File, userMayOwn bool) error {
	info, err := file.Stat()
	if err != nil {
		return plain(err)
	}
	if err := checkRegular(info.Mode()); err != nil {
		return err
	}
	if err := checkOwner(info, userMayOwn, false); err != nil {
		return err
	}
	written, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	resolved, err := filepath.EvalSymlinks(written)
	if err != nil {
		return plain(err)
	}
	for _, path := range []string{written, resolved} {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			if err := checkOwner(info, userMayOwn, true); err != nil {
				return fmt.Errorf("its folder %s %w", dir, err)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// checkOwner is the one rule for managed files and their folders. A sticky
// folder such as /tmp may be writable: others cannot replace what is in it. So
// may one that belongs to the group of administrators.
func checkOwner(info os.FileInfo, userMayOwn, folder bool) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("has no owner that can be checked")
	}
	if stat.Uid != 0 && (!userMayOwn || int(stat.Uid) != os.Getuid()) {
		return fmt.Errorf("belongs to user %d, but must belong to root: chown root it", stat.Uid)
	}
	mode := info.Mode()
	if folder && mode&os.ModeSticky != 0 {
		return nil
	}
	if mode.Perm()&0o002 != 0 {
		return errors.New("is writable by others: chmod o-w it")
	}
	if mode.Perm()&0o020 != 0 && !adminGroup(stat.Gid, folder, userMayOwn) {
		return errors.New("is writable by its group: chmod g-w it")
	}
	return nil
}

// adminGroup allows group-writable folders of group 0 and of macOS's admin group
// (80), whose members can become root anyway, and of the current user's own.
func adminGroup(gid uint32, folder, userMayOwn bool) bool {
	if !folder {
		return false
	}
	return gid == 0 || runtime.GOOS == "darwin" && gid == 80 || userMayOwn && int(gid) == os.Getgid()
}

// checkPrivate refuses a file of the user's own that somebody else owns or can
// write to.
func checkPrivate(info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("has no owner that can be checked")
	}
	if int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("belongs to user %d, not to you", stat.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("is writable by others: chmod go-w it")
	}
	return nil
}
