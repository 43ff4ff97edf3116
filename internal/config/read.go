package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// MaxFileSize is the largest file that lictor reads as configuration, in bytes.
const MaxFileSize = 1 << 20

// FileError says that a configuration file could not be used. Its text always
// names the file.
type FileError struct {
	// File is the file's path, Line the line of the fault (from 1), 0 if unknown.
	File string
	Line int
	Err  error
}

// Error returns "FILE: …" or "FILE:LINE: …".
func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ReadProjectFile reads the file at the slash-separated path rel below dir
// without following any link on the way from dir: a repository could point one
// anywhere. A missing file gives nil and no error.
//
// The file must be a regular file of at most MaxFileSize bytes in valid UTF-8
// without a byte order mark; anything else is a *FileError that names it. It
// never waits: a pipe or a device is refused before it is read.
func ReadProjectFile(dir, rel string) ([]byte, error) {
	name := filepath.Join(dir, filepath.FromSlash(rel))
	return readOpened(name, func() (*os.File, error) { return openBelow(dir, rel) })
}

// ReadUserFile reads a file of the user's own (in the home folder), with the
// checks of ReadProjectFile, but follows links: dotfile managers use them.
// A missing file gives nil and no error.
func ReadUserFile(name string) ([]byte, error) {
	return readOpened(name, func() (*os.File, error) { return openFollowing(name) })
}

// ReadManagedFile reads a file that only an administrator may change, with the
// checks of ReadUserFile. Nobody else may be able to change or replace it: the
// file and every folder above it must belong to an administrator (or, with
// userMayOwn, the current user) and not be writable by others. A missing file
// gives nil and no error, unless required.
func ReadManagedFile(name string, userMayOwn, required bool) ([]byte, error) {
	file, err := openFollowing(name)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil, nil
	}
	if err != nil {
		return nil, &FileError{File: name, Err: plain(err)}
	}
	defer file.Close()
	if err := checkManaged(name, file, userMayOwn); err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	return readText(name, file)
}

func readOpened(name string, open func() (*os.File, error)) ([]byte, error) {
	file, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &FileError{File: name, Err: plain(err)}
	}
	defer file.Close()
	return readText(name, file)
}

// readText reads an opened file after its type has been checked.
func readText(name string, file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, &FileError{File: name, Err: plain(err)}
	}
	if err := checkRegular(info.Mode()); err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	// The size is checked on what is read, not on what stat says: a file may grow.
	text, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	if err != nil {
		return nil, &FileError{File: name, Err: plain(err)}
	}
	if err := CheckText(text); err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

// CheckText checks the size and the encoding of a configuration text.
func CheckText(text []byte) error {
	switch {
	case len(text) > MaxFileSize:
		return fmt.Errorf("is larger than %d bytes", MaxFileSize)
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return errors.New("starts with a byte order mark: save it as UTF-8 without one")
	case !utf8.Valid(text):
		return errors.New("is not valid UTF-8")
	}
	return nil
}

// checkRegular refuses everything but regular files, by name.
func checkRegular(mode fs.FileMode) error {
	what := ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "not a regular file"
	}
	return fmt.Errorf("is %s, but must be a regular file", what)
}

// plain drops the operation and path of a path error: the caller names the file.
func plain(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// isBlank reports whether a text is missing or has only white space: then the
// file says nothing.
func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
