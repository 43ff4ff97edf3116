package pathguard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// look asks for the link text of w.out. Junctions and other name surrogates are
// links; a reparse point that the system does not explain is an error.
func (w *walker) look() (entry, []byte, error) {
	at := w.text()
	if isVolume(at) {
		return plain, nil, nil
	}
	name := systemPath(at)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return missing, nil, nil
	case err != nil:
		return plain, nil, err
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0:
		return plain, nil, w.longName(name)
	}
	text, err := os.Readlink(name)
	if err != nil {
		if info.Mode()&fs.ModeSymlink == 0 {
			return plain, nil, w.longName(name) // a placeholder of a cloud drive, no link
		}
		return plain, nil, err
	}
	if !filepath.IsAbs(text) {
		clean, err := windowsRelative(text)
		return link, []byte(clean), err
	}
	target, err := windowsPath(text)
	return link, []byte("/" + target), err
}

// longName replaces an 8.3 name at the end of w.out by the file's long name, so
// that GIT~1 is seen as .git.
func (w *walker) longName(name string) error {
	base := filepath.Base(name)
	if !looksShort(base) {
		return nil
	}
	from, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetLongPathName(from, &buf[0], uint32(len(buf)))
		if err != nil {
			return err
		}
		if int(n) <= len(buf) {
			long := filepath.Base(windows.UTF16ToString(buf[:n]))
			w.out = append(w.out[:len(w.out)-len(base)], long...)
			return nil
		}
		buf = make([]uint16, n)
	}
}

// isMagic is false: Windows follows links by their text.
func (w *walker) isMagic(int) bool { return false }

// folderID is not used here: os.SameFile compares folders.
type folderID struct{}

func idOf(os.FileInfo) folderID { return folderID{} }

// unchanged is false: a walk from the drive costs the same look-ups.
func (g *Guard) unchanged() bool { return false }
