//go:build !linux

package sandbox

func readDir(dir string) ([]dirent, error) { return readDirPortable(dir) }

// stampOf knows no folder state on this platform, so nothing is cached.
func stampOf(string) (dirStamp, bool) { return dirStamp{}, false }
