//go:build !linux

package sandbox

import "os"

// readDir lists a folder with the standard library.
func readDir(dir string) ([]dirent, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make([]dirent, len(list))
	for i, e := range list {
		out[i] = dirent{name: e.Name(), dir: e.IsDir(), link: e.Type()&os.ModeSymlink != 0}
	}
	return out, nil
}

// stampOf knows no folder state on this platform, so nothing is cached.
func stampOf(string) (dirStamp, bool) { return dirStamp{}, false }
