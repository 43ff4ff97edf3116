package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkTrusted makes sure that a key lies where only administrators or the user
// write: Windows has no mode bits, so its place must tell.
func checkTrusted(name string) error {
	for _, folder := range []string{os.Getenv("ProgramData"), homeFolder()} {
		if folder != "" && below(name, folder) {
			return nil
		}
	}
	return fmt.Errorf("%s: keys are read from the machine's and the user's own folder only", name)
}

// checkOwned takes an unsigned bundle from below the user's home folder only.
func checkOwned(_, bundle string) error {
	if home := homeFolder(); home != "" && below(bundle, home) {
		return nil
	}
	return fmt.Errorf("%s: lies outside your home folder", bundle)
}

// checkSecret leaves a private key to the permissions of its folder.
func checkSecret(name string) error {
	_, err := os.Stat(name)
	return pathError(err)
}

func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

func below(name, folder string) bool {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return false
	}
	rel, err := filepath.Rel(folder, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, `..\`)
}
