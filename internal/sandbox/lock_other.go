//go:build !unix

package sandbox

import (
	"errors"
	"os"
)

// lockFile: there is no sandbox on this platform, so there are no placeholders.
func lockFile(*os.File, bool) error {
	return errors.New("file locks are not supported on this platform")
}

func writableDir(string) bool { return true }
