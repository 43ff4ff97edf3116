package install

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxFile is how large an agent's configuration may be.
const maxFile = 8 << 20

// errMoved says that the file is not what the change was planned on.
var errMoved = errors.New("the file changed meanwhile")

// place is a file below a base folder. Nothing on the way from the base to the
// file may be a link: in a project, the way belongs to whoever wrote the project.
type place struct {
	base, name string
	// mode is that of a new file, as the agent creates it.
	mode fs.FileMode
}

func (p place) path() string { return filepath.Join(p.base, p.name) }

// whole names the file in an error of the root, which says the way below it only.
func (p place) whole(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) && !filepath.IsAbs(e.Path) {
		return fmt.Errorf("%s: %w", filepath.Join(p.base, e.Path), e.Err)
	}
	return err
}

// check goes the way from the base to the file and refuses links. It reports
// whether there is a file.
func (p place) check(root *os.Root) (fs.FileInfo, error) {
	parts := strings.Split(filepath.ToSlash(p.name), "/")
	for i := range parts {
		name := filepath.Join(parts[:i+1]...)
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		last := i == len(parts)-1
		switch full := filepath.Join(p.base, name); {
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%s is a link: lictor edits no file through links; edit the file that it leads to yourself, or put a file there", full)
		case !last && !info.IsDir():
			return nil, fmt.Errorf("%s is no folder", full)
		case last && !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is no regular file", full)
		case last:
			return info, nil
		}
	}
	return nil, nil
}

// read returns the file's text, and whether there is a file.
func (p place) read() ([]byte, bool, error) {
	root, err := os.OpenRoot(p.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	data, exists, err := p.readIn(root)
	return data, exists, p.whole(err)
}

func (p place) readIn(root *os.Root) ([]byte, bool, error) {
	info, err := p.check(root)
	if err != nil || info == nil {
		return nil, false, err
	}
	f, err := root.Open(p.name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !os.SameFile(info, opened) {
		return nil, false, fmt.Errorf("%s was replaced while it was read: try again", p.path())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", p.path(), err)
	}
	if len(data) > maxFile {
		return nil, false, fmt.Errorf("%s is larger than %d bytes", p.path(), maxFile)
	}
	return data, true, nil
}

// write makes the change: a new file beside the old one, synced, and renamed over
// it; or the removal. errMoved if the file is not c.Before any more.
func (p place) write(c Change) error {
	if !c.Removed {
		if err := os.MkdirAll(p.base, 0o755); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(p.base)
	if err != nil {
		return err
	}
	defer root.Close()
	folder := filepath.Dir(p.name)
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return p.whole(err)
	}
	now, exists, err := p.readIn(root)
	if err != nil {
		return p.whole(err)
	}
	if exists == c.Created || !bytes.Equal(now, c.Before) {
		return errMoved
	}
	if c.Removed {
		return p.whole(root.Remove(p.name))
	}
	mode := p.mode
	if info, err := root.Lstat(p.name); err == nil {
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(folder, ".lictor-"+rand.Text()+".tmp")
	if err := writeNew(root, temp, c.After, mode); err != nil {
		_ = root.Remove(temp)
		return p.whole(err)
	}
	if err := root.Rename(temp, p.name); err != nil {
		_ = root.Remove(temp)
		return fmt.Errorf("%s: %w", p.path(), err)
	}
	syncFolder(root, folder)
	return nil
}

func writeNew(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	// The umask took bits away that the file had.
	if err := f.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		f.Close()
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// syncFolder makes the new name last; where folders cannot be synced, the rename
// is as lasting as the system makes it.
func syncFolder(root *os.Root, folder string) {
	if d, err := root.Open(folder); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
