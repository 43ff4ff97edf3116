//go:build unix

package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CheckDir checks the daemon's folder and lictor's folder above it: they must be
// folders of the current user that nobody else can write to, and nobody else may
// even enter the inner one. The error is an *UnsafeError, or fs.ErrNotExist.
func CheckDir(home string) error {
	dir := Dir(home)
	var st unix.Stat_t
	// The outer folder may be a link, as dotfile managers make them.
	if err := unix.Stat(filepath.Dir(dir), &st); err != nil {
		return placeError(filepath.Dir(dir), err)
	}
	if err := checkFolder(filepath.Dir(dir), &st, 0o022, "writable by others: chmod go-w it"); err != nil {
		return err
	}
	if err := unix.Lstat(dir, &st); err != nil {
		return placeError(dir, err)
	}
	return checkFolder(dir, &st, 0o077, "open to others: chmod 700 it")
}

// MakeDir creates the daemon's folder if it is missing, and checks it.
func MakeDir(home string) error {
	if err := os.MkdirAll(Dir(home), 0o700); err != nil {
		return err
	}
	return CheckDir(home)
}

func placeError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &UnsafeError{path, "cannot be looked at: " + err.Error()}
}

func checkFolder(path string, st *unix.Stat_t, forbidden uint32, open string) error {
	mode := uint32(st.Mode)
	switch {
	case mode&unix.S_IFMT != unix.S_IFDIR:
		return &UnsafeError{path, "is not a folder: remove it"}
	case int(st.Uid) != os.Geteuid():
		return &UnsafeError{path, "belongs to another user: remove it"}
	case mode&forbidden != 0:
		return &UnsafeError{path, "is " + open}
	}
	return nil
}
