//go:build unix && !linux

package approve

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet.
func (t *terminal) flush() {
	const read = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(t.in.Fd()), unix.TIOCFLUSH, read)
}
