package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// HomeFolder returns the user's home folder as an absolute, clean path. It is an
// error if the system does not name one, or names a relative path: without a
// home lictor could not tell a root from the home folder.
func HomeFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("home folder unknown: %w", err)
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("home folder %q is not an absolute path: set HOME to one", home)
	}
	return filepath.Clean(home), nil
}

// FindPlaces returns the places of the project at root (absolute, as FindRoot
// gives it) for the user whose home is given, on this platform.
func FindPlaces(root, home string) Places {
	return PlacesFor(runtime.GOOS, root, home, environment)
}
