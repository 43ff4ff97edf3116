//go:build unix

package daemon

import "os"

// identity is a file as it was: the daemon's program, its socket.
type identity struct {
	path  string
	stamp stamp
}

func identify(path string) identity { return identity{path, stampOf(path, true, false)} }

// ownExecutable is the program that runs.
func ownExecutable() identity {
	path, err := os.Executable()
	if err != nil {
		return identity{}
	}
	return identify(path)
}

// replaced reports whether there is another file now, such as another version of
// the program, or none.
func (x identity) replaced() bool {
	return x.path != "" && stampOf(x.path, true, false) != x.stamp
}
