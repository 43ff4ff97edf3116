package approve

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet.
func (t *terminal) flush() {
	_ = unix.IoctlSetInt(int(t.in.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
