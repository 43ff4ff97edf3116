package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// existsBelow reports whether there is anything by that name, of whatever kind.
func existsBelow(dir, rel string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(rel)))
	return err == nil
}

// isEnd reports the end of a folder.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
