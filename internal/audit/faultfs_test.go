package audit

import (
	"os"
	"path/filepath"
	"sync"
)

// faultFS is a file system whose calls fail when told to. The operations are
// named mkdir, create, open, read, rename, remove, chmod, readdir, stat,
// syncdir, lock, and for files append, readat, truncate, sync, fstat, own.
type faultFS struct {
	FS
	mu   sync.Mutex
	fail func(op, path string) error
	// short, if not nil, says how many bytes of an append are written before it
	// fails; -1 means that it does not fail.
	short func(path string, n int) int
	calls int
}

func (f *faultFS) check(op, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.fail == nil {
		return nil
	}
	return f.fail(op, filepath.Base(path))
}

func (f *faultFS) file(op, path string, open func(string) (File, error)) (File, error) {
	if err := f.check(op, path); err != nil {
		return nil, err
	}
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f, path}, nil
}

func (f *faultFS) MkdirAll(dir string) error {
	if err := f.check("mkdir", dir); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir)
}
func (f *faultFS) Create(path string) (File, error)  { return f.file("create", path, f.FS.Create) }
func (f *faultFS) Scratch(path string) (File, error) { return f.file("create", path, f.FS.Scratch) }
func (f *faultFS) Exchange(temp, path string) error {
	if err := f.check("rename", path); err != nil {
		return err
	}
	return f.FS.Exchange(temp, path)
}
func (f *faultFS) Open(path string) (File, error)     { return f.file("open", path, f.FS.Open) }
func (f *faultFS) OpenRead(path string) (File, error) { return f.file("read", path, f.FS.OpenRead) }
func (f *faultFS) Rename(from, to string) error {
	if err := f.check("rename", to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f *faultFS) Remove(path string) error {
	if err := f.check("remove", path); err != nil {
		return err
	}
	return f.FS.Remove(path)
}

func (f *faultFS) Chmod(path string, mode os.FileMode) error {
	if err := f.check("chmod", path); err != nil {
		return err
	}
	return f.FS.Chmod(path, mode)
}

func (f *faultFS) ReadDir(dir string) ([]string, error) {
	if err := f.check("readdir", dir); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(dir)
}

func (f *faultFS) Stat(path string) (Info, error) {
	if err := f.check("stat", path); err != nil {
		return Info{}, err
	}
	return f.FS.Stat(path)
}

func (f *faultFS) SyncDir(dir string) error {
	if err := f.check("syncdir", dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

func (f *faultFS) OpenLock(path string) (Lock, error) {
	if err := f.check("lock", path); err != nil {
		return nil, err
	}
	return f.FS.OpenLock(path)
}

type faultFile struct {
	File
	fs   *faultFS
	path string
}

func (f *faultFile) Append(p []byte, at int64) (int, error) {
	err := f.fs.check("append", f.path)
	if f.fs.short != nil {
		f.fs.mu.Lock()
		n := f.fs.short(filepath.Base(f.path), len(p))
		f.fs.mu.Unlock()
		if n >= 0 && n < len(p) {
			n, werr := f.File.Append(p[:n], at)
			if werr == nil {
				werr = os.ErrDeadlineExceeded // any error
			}
			return n, werr
		}
	}
	if err != nil {
		return 0, err
	}
	return f.File.Append(p, at)
}

func (f *faultFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.check("readat", f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fs.check("truncate", f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Sync() error {
	if err := f.fs.check("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Stat() (Info, error) {
	if err := f.fs.check("fstat", f.path); err != nil {
		return Info{}, err
	}
	return f.File.Stat()
}

func (f *faultFile) TryOwn() (bool, error) {
	if err := f.fs.check("own", f.path); err != nil {
		return false, err
	}
	return f.File.TryOwn()
}
