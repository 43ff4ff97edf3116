//go:build !linux

package audit

import "os"

// syncFile is the strongest flush the system has: os.File.Sync is F_FULLFSYNC on
// macOS and FlushFileBuffers on Windows.
func syncFile(f *os.File) error { return f.Sync() }

// Exchange is a rename.
func (osFS) Exchange(temp, path string) error { return os.Rename(temp, path) }
