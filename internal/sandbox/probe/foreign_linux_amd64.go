package probe

import "syscall"

// socket32 makes socket(AF_UNIX, SOCK_STREAM, 0) through the 32-bit entry, int
// 0x80, which a filter that looks at 64-bit numbers alone does not stop.
func socket32() int32

func int80([]string) error {
	if r := socket32(); r < 0 {
		return syscall.Errno(-r)
	}
	return nil
}

// x32 makes a call with the x32 bit set.
func x32([]string) error {
	_, _, e := syscall.RawSyscall(0x40000000|41, 1, 1, 0)
	return errOf(e)
}
