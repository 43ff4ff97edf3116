package rules

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockWait is how long a writer waits for another one if Options say nothing.
const lockWait = 10 * time.Second

// locked runs f while this process alone may write the permission files of the
// folder. The lock is the kernel's, so that a killed process leaves none behind;
// the file itself stays, since removing it would let two hold it.
func locked(dir string, wait time.Duration, f func() error) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, lockName)
	file, err := openLock(path)
	if err != nil {
		return fmt.Errorf("%s: cannot be locked: %w", path, reason(err))
	}
	defer func() { _ = file.Close() }() // closing gives the lock back
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file: remove it", path)
	}
	if wait <= 0 {
		wait = lockWait
	}
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		ok, err := tryLock(file)
		if err != nil {
			return fmt.Errorf("%s: cannot be locked: %w", path, reason(err))
		}
		if ok {
			return f()
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: another process held the lock for %s: try again, or stop that process", path, wait)
		}
	}
}

// makeFolder makes the `.lictor` folder, readable by its owner alone.
func makeFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: cannot be made: %w", dir, reason(err))
	}
	return checkFolder(dir)
}

// writeFile replaces a file in one step: whoever reads it, or loses power, sees
// the old text or the new one.
func writeFile(path, text string) (err error) {
	if len(text) > maxFile {
		return fmt.Errorf("%s: would be larger than %d bytes: remove rules first", path, maxFile)
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".tmp")
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
			err = fmt.Errorf("%s: cannot be written: %w", path, reason(err))
		}
	}()
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err = rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
