package audit

import (
	"errors"
	"os"
	"time"
)

// FS is what the log asks of a file system. The real one is [OSFS]; tests put
// faults between. Every path is absolute and no method follows a symbolic link
// in the last element.
type FS interface {
	// MkdirAll makes a folder (0700) and the ones above it.
	MkdirAll(dir string) error
	// Create makes a new file (0600) for appending; it must not exist.
	Create(path string) (File, error)
	// Open opens an existing file for appending, OpenRead for reading.
	Open(path string) (File, error)
	OpenRead(path string) (File, error)
	Rename(from, to string) error
	// Scratch opens (or makes) a file that is written from its start: Append writes
	// at the offset it is given.
	Scratch(path string) (File, error)
	// Exchange puts temp in the place of path in one step. Where the system can, it
	// leaves the old file at temp, so that no file has to be made and freed for
	// every checkpoint.
	Exchange(temp, path string) error
	Remove(path string) error
	Chmod(path string, mode os.FileMode) error
	// ReadDir lists the names in a folder, sorted.
	ReadDir(dir string) ([]string, error)
	Stat(path string) (Info, error)
	// SyncDir makes creations and renames in a folder durable. Where the system
	// has no such thing (Windows) it does nothing.
	SyncDir(dir string) error
	// OpenLock opens (or makes) a lock file.
	OpenLock(path string) (Lock, error)
}

// File is an open segment, checkpoint or history file.
type File interface {
	// Append writes p at the end of the file, which the caller knows to be at.
	// It may write less than p, with an error.
	Append(p []byte, at int64) (int, error)
	ReadAt(p []byte, at int64) (int, error)
	Truncate(size int64) error
	// Sync makes the file's bytes durable (fdatasync on Linux, F_FULLFSYNC on
	// macOS, FlushFileBuffers on Windows).
	Sync() error
	Stat() (Info, error)
	// TryOwn takes the file's owner lock if nobody holds it. A writer holds that
	// of its own segment as long as it lives.
	TryOwn() (bool, error)
	Close() error
}

// Lock is a lock between processes that dies with its holder.
type Lock interface {
	// Lock waits up to timeout, then returns ErrLockTimeout.
	Lock(timeout time.Duration) error
	Unlock() error
	Stat() (Info, error)
	Close() error
}

// Info is what the log wants to know of a file.
type Info struct {
	Dev, Ino uint64
	Size     int64
	Links    uint64
	Mode     os.FileMode
}

// same reports whether two infos are of one file.
func (i Info) same(j Info) bool { return i.Dev == j.Dev && i.Ino == j.Ino }

// ErrLockTimeout is returned when another process (perhaps a stopped one) holds
// a lock for too long.
var ErrLockTimeout = errors.New("another process holds the audit lock")

// OSFS is the real file system.
var OSFS FS = osFS{}

type osFS struct{}

func (osFS) MkdirAll(dir string) error                 { return os.MkdirAll(dir, dirMode) }
func (osFS) Rename(from, to string) error              { return os.Rename(from, to) }
func (osFS) Remove(path string) error                  { return os.Remove(path) }
func (osFS) Chmod(path string, mode os.FileMode) error { return os.Chmod(path, mode) }

func (osFS) ReadDir(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

func (osFS) Create(path string) (File, error) {
	return openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|appendFlag|noFollow)
}

func (osFS) Open(path string) (File, error) {
	return openFile(path, os.O_RDWR|appendFlag|noFollow)
}

func (osFS) OpenRead(path string) (File, error) {
	return openFile(path, os.O_RDONLY|noFollow)
}

func (osFS) OpenLock(path string) (Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, fileMode)
	if err != nil {
		return nil, err
	}
	return &osLock{f: f}, nil
}

func (osFS) Scratch(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, fileMode)
	if err != nil {
		return nil, err
	}
	return &scratchFile{osFile{f: f}}, nil
}

// scratchFile is a file that is not only appended to.
type scratchFile struct{ osFile }

func (s *scratchFile) Append(p []byte, at int64) (int, error) { return s.f.WriteAt(p, at) }

func openFile(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, fileMode)
	if err != nil {
		return nil, err
	}
	return &osFile{f: f}, nil
}

type osFile struct{ f *os.File }

func (o *osFile) ReadAt(p []byte, at int64) (int, error) { return o.f.ReadAt(p, at) }
func (o *osFile) Truncate(size int64) error              { return o.f.Truncate(size) }
func (o *osFile) Sync() error                            { return syncFile(o.f) }
func (o *osFile) Close() error                           { return o.f.Close() }
func (o *osFile) Stat() (Info, error)                    { return statFile(o.f) }
func (o *osFile) TryOwn() (bool, error)                  { return tryLock(o.f) }

type osLock struct{ f *os.File }

func (l *osLock) Stat() (Info, error) { return statFile(l.f) }
func (l *osLock) Unlock() error       { return unlock(l.f) }
func (l *osLock) Close() error        { return l.f.Close() }

// Lock polls: a blocking lock could not be given up, and a process that was
// stopped while it holds the lock must not stop everybody else.
func (l *osLock) Lock(timeout time.Duration) error {
	wait := 50 * time.Microsecond
	var deadline time.Time
	for {
		ok, err := tryLock(l.f)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		now := time.Now()
		if deadline.IsZero() {
			deadline = now.Add(timeout)
		}
		if !now.Before(deadline) {
			return ErrLockTimeout
		}
		time.Sleep(wait)
		wait = min(wait*2, 5*time.Millisecond)
	}
}
