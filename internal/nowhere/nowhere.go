// Package nowhere knows the file that nobody reads. It is small on purpose: the
// hook client starts for every call of an agent.
package nowhere

import "os"

// Goes reports whether what is written to the file is thrown away: it is the null
// device. The Go runtime opens that in place of a standard output that is closed,
// so a program that was started without one writes its answer without an error.
func Goes(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil || mine.Mode()&os.ModeDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(mine, null)
}
