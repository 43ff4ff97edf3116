//go:build unix

package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	noFollow   = unix.O_NOFOLLOW
	appendFlag = os.O_APPEND
)

func (o *osFile) Append(p []byte, _ int64) (int, error) { return o.f.Write(p) }

func (osFS) Stat(path string) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == nil {
			return statInfo(&st), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return Info{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

func statFile(f *os.File) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return statInfo(&st), nil
}

func statInfo(st *unix.Stat_t) Info {
	mode := os.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= os.ModeDir
	case unix.S_IFLNK:
		mode |= os.ModeSymlink
	case unix.S_IFREG:
	default:
		mode |= os.ModeIrregular
	}
	return Info{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), //nolint:unconvert // the widths differ between systems
		Size: st.Size, Links: uint64(st.Nlink), Mode: mode, //nolint:unconvert // as above
	}
}

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// tryLock takes a flock. It belongs to the open file, so it dies with the
// process and does not disturb readers. Some network file systems do not have
// it; the error is then returned and the writer uses a segment of its own.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
