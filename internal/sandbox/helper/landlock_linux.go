package helper

import (
	"syscall"

	"github.com/lictor-policy/lictor/internal/sandbox/kernel"
)

// landlock confines the calling thread, and everything it starts, to the rules.
func (h *helper) landlock() {
	p := h.p
	if p.HandledFS|p.HandledNet|p.Scoped == 0 {
		return
	}
	attr := [3]uint64{p.HandledFS, p.HandledNet, p.Scoped}
	size := uintptr(24)
	switch { // older kernels know a shorter structure
	case p.Scoped == 0 && p.HandledNet == 0:
		size = 8
	case p.Scoped == 0:
		size = 16
	}
	set, err := kernel.LandlockCreate(&attr, size)
	if err != nil {
		h.fail("create a Landlock ruleset", "", err)
	}
	for _, rule := range p.Rules {
		fd, err := syscall.Open(rule.Path, kernel.O_PATH|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue // what cannot be opened gets no right
		}
		h.landlockRule(set, fd, rule)
		syscall.Close(fd)
	}
	if err := kernel.LandlockRestrict(set); err != nil {
		h.fail("enter the Landlock domain", "", err)
	}
	_ = syscall.Close(set)
}

// fileRights are the rights that a rule on a single file may have.
const fileRights = kernel.LANDLOCK_ACCESS_FS_EXECUTE | kernel.LANDLOCK_ACCESS_FS_WRITE_FILE |
	kernel.LANDLOCK_ACCESS_FS_READ_FILE | kernel.LANDLOCK_ACCESS_FS_TRUNCATE | kernel.LANDLOCK_ACCESS_FS_IOCTL_DEV

func (h *helper) landlockRule(ruleset, fd int, rule Rule) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		h.fail("look at", rule.Path, err)
	}
	access := rule.Access & h.p.HandledFS
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
	case syscall.S_IFLNK:
		return
	default:
		access &= fileRights
	}
	if access == 0 {
		return
	}
	if err := kernel.LandlockAllow(ruleset, fd, access); err != nil {
		h.fail("add a Landlock rule for", rule.Path, err)
	}
}
