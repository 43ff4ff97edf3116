package config

import (
	"os"

	"golang.org/x/sys/windows"
)

// environment looks a variable up. ProgramData comes from the system's list of
// known folders: a process's own environment could point it elsewhere.
func environment(name string) string {
	if name == "ProgramData" {
		if dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0); err == nil {
			return dir
		}
	}
	return os.Getenv(name)
}
