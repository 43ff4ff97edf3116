package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// readSmall reads a file of at most limit bytes; a longer one is an error.
func readSmall(fsys FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() || info.Size > limit {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", path, limit)
	}
	p := make([]byte, info.Size)
	n, err := f.ReadAt(p, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return p[:n], nil
}

// writeNew makes a new file with these bytes, durably. Nothing is left behind
// if it fails.
func writeNew(fsys FS, path string, p []byte) error {
	f, err := fsys.Create(path)
	if errors.Is(err, os.ErrExist) { // left by a crash
		if err = fsys.Remove(path); err == nil {
			f, err = fsys.Create(path)
		}
	}
	if err != nil {
		return err
	}
	n, err := f.Append(p, 0)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = fsys.Remove(path)
	}
	return err
}

// overwrite fills a scratch file with these bytes, durably.
func overwrite(fsys FS, path string, p []byte) error {
	f, err := fsys.Scratch(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	n, err := f.Append(p, 0)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err == nil && info.Size > int64(len(p)) {
		err = f.Truncate(int64(len(p)))
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// writeAtomic replaces a file: temporary file, sync, rename, sync of the folder.
// Only one writer at a time may do this for one path.
func writeAtomic(fsys FS, path string, p []byte) error {
	temp := path + ".tmp"
	if err := writeNew(fsys, temp, p); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		_ = fsys.Remove(temp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// quarantine moves the torn bytes of a segment into a file of their own and
// cuts them off.
func (l *Log) quarantine(path string, f File, t *tail) error {
	if t.torn > 0 {
		if _, err := l.quarantineName(path, f, t); err != nil {
			return err
		}
	}
	return f.Truncate(t.end)
}

// quarantineName copies the torn bytes into <segment>.torn-<time> and returns
// that name.
func (l *Log) quarantineName(path string, f File, t *tail) (string, error) {
	p := t.bytes
	if int64(len(p)) < t.torn { // only their end was read; keep no more than a line may have
		p = make([]byte, min(t.torn, maxLine))
		if n, err := f.ReadAt(p, t.end); err != nil && !errors.Is(err, io.EOF) {
			return "", err
		} else {
			p = p[:n]
		}
	}
	name := path + ".torn-" + l.now.UTC().Format("20060102T150405.000000000Z")
	return name, writeNew(l.fs, name, p)
}
