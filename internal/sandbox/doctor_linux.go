package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func machineFacts() []string {
	var out []string
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		out = append(out, "kernel "+unix.ByteSliceToString(u.Release[:]))
	}
	if v := landlockABI(); v > 0 {
		out = append(out, fmt.Sprintf("Landlock version %d (inner layer)", v))
	} else {
		out = append(out, "no Landlock: the inner layer is missing; add landlock to the kernel's lsm= list")
	}
	if inContainer() {
		out = append(out, "inside a container")
	}
	return out
}
