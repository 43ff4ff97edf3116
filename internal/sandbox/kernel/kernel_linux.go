// Package kernel has the few system calls and numbers that the sandbox helper needs
// and that package syscall lacks. golang.org/x/sys/unix has them too, but depends on
// packages (reflect, time) whose turn in the program's initialisation comes late:
// most of a large program would be initialised before the helper could start. This
// package depends on syscall alone. The numbers are the kernel's interface, equal on
// amd64 and arm64 unless a file of one architecture has them.
package kernel

import (
	"syscall"
	"unsafe"
)

// Numbers of system calls.
const (
	SysMoveMount             = 429
	SysOpenTree              = 428
	SysFsopen                = 430
	SysFsconfig              = 431
	SysFsmount               = 432
	SysPidfdOpen             = 434
	SysCloseRange            = 436
	SysOpenat2               = 437
	SysMountSetattr          = 442
	SysLandlockCreateRuleset = 444
	SysLandlockAddRule       = 445
	SysLandlockRestrictSelf  = 446
)

// Flags and commands by the names that the kernel gives them.
const (
	AT_FDCWD      = -0x64
	AT_EMPTY_PATH = 0x1000
	AT_RECURSIVE  = 0x8000
	O_PATH        = 0x200000
	X_OK          = 1

	RESOLVE_NO_MAGICLINKS = 0x2
	RESOLVE_NO_SYMLINKS   = 0x4

	OPEN_TREE_CLONE         = 0x1
	MOVE_MOUNT_F_EMPTY_PATH = 0x4
	MOVE_MOUNT_T_EMPTY_PATH = 0x40
	MOUNT_ATTR_RDONLY       = 0x1
	MOUNT_ATTR_NOSUID       = 0x2
	MOUNT_ATTR_NODEV        = 0x4
	MOUNT_ATTR_NOEXEC       = 0x8

	PR_CAPBSET_DROP         = 0x18
	PR_SET_CHILD_SUBREAPER  = 0x24
	PR_SET_NO_NEW_PRIVS     = 0x26
	PR_CAP_AMBIENT          = 0x2f
	PR_CAP_AMBIENT_CLEAR    = 0x4
	CAPABILITY_VERSION_3    = 0x20080522
	SECCOMP_SET_MODE_FILTER = 1
	SECCOMP_TSYNC           = 1

	POLLIN   = 0x1
	POLLERR  = 0x8
	POLLHUP  = 0x10
	POLLNVAL = 0x20

	TIOCGPTPEER = 0x5441

	LANDLOCK_PATH_BENEATH         = 1
	LANDLOCK_ACCESS_FS_EXECUTE    = 0x1
	LANDLOCK_ACCESS_FS_WRITE_FILE = 0x2
	LANDLOCK_ACCESS_FS_READ_FILE  = 0x4
	LANDLOCK_ACCESS_FS_TRUNCATE   = 0x4000
	LANDLOCK_ACCESS_FS_IOCTL_DEV  = 0x8000

	fsconfigSetString = 1
	fsconfigCreate    = 6
	cloexec           = 1
)

func fdOf(r uintptr, e syscall.Errno) (int, error) {
	if e != 0 {
		return -1, e
	}
	return int(r), nil
}

func errOf(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

// at turns a descriptor, AT_FDCWD too, into an argument.
func at(fd int) uintptr { return uintptr(fd) }

// Openat2 opens path below dir with constraints on how it is resolved.
func Openat2(dir int, path string, flags, resolve uint64) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	how := [3]uint64{flags, 0, resolve}
	r, _, e := syscall.Syscall6(SysOpenat2, at(dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	return fdOf(r, e)
}

// OpenTree returns a descriptor of a mount, or of a detached copy of it. The
// descriptor is closed on exec.
func OpenTree(dir int, path string, flags uintptr) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	r, _, e := syscall.Syscall(SysOpenTree, at(dir), uintptr(unsafe.Pointer(p)), flags|syscall.O_CLOEXEC)
	return fdOf(r, e)
}

// MoveMount attaches the detached mount from at the place of the descriptor to.
func MoveMount(from, to int) error {
	empty := [1]byte{}
	_, _, e := syscall.Syscall6(SysMoveMount, at(from), uintptr(unsafe.Pointer(&empty)), at(to), uintptr(unsafe.Pointer(&empty)),
		MOVE_MOUNT_F_EMPTY_PATH|MOVE_MOUNT_T_EMPTY_PATH, 0)
	return errOf(e)
}

// SetMountFlags sets attributes of the mount at path below dir.
func SetMountFlags(dir int, path string, flags uintptr, set uint64) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	attr := [4]uint64{set, 0, 0, 0}
	_, _, e := syscall.Syscall6(SysMountSetattr, at(dir), uintptr(unsafe.Pointer(p)), flags, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return errOf(e)
}

// Fsopen opens a file system type to be configured.
func Fsopen(kind string) (int, error) {
	p, err := syscall.BytePtrFromString(kind)
	if err != nil {
		return -1, err
	}
	r, _, e := syscall.Syscall(SysFsopen, uintptr(unsafe.Pointer(p)), cloexec, 0)
	return fdOf(r, e)
}

// FsconfigSet sets one option, FsconfigCreate makes the file system.
func FsconfigSet(fd int, key, value string) error {
	k, err := syscall.BytePtrFromString(key)
	if err != nil {
		return err
	}
	v, err := syscall.BytePtrFromString(value)
	if err != nil {
		return err
	}
	_, _, e := syscall.Syscall6(SysFsconfig, at(fd), fsconfigSetString, uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)), 0, 0)
	return errOf(e)
}

// FsconfigCreate makes the configured file system.
func FsconfigCreate(fd int) error {
	_, _, e := syscall.Syscall6(SysFsconfig, at(fd), fsconfigCreate, 0, 0, 0, 0)
	return errOf(e)
}

// Fsmount returns a detached mount of a file system that was made.
func Fsmount(fd int, attrs uintptr) (int, error) {
	r, _, e := syscall.Syscall(SysFsmount, at(fd), cloexec, attrs)
	return fdOf(r, e)
}

// Fchmodat sets a mode; syscall's wrapper does not know O_PATH descriptors better.
func Fchmodat(dir int, path string, mode uint32) error { return syscall.Fchmodat(dir, path, mode, 0) }

// Symlinkat makes a symbolic link below dir.
func Symlinkat(target string, dir int, path string) error {
	t, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	_, _, e := syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(t)), at(dir), uintptr(unsafe.Pointer(p)))
	return errOf(e)
}

// CloseFrom closes every descriptor from first on.
func CloseFrom(first int) error {
	_, _, e := syscall.Syscall(SysCloseRange, uintptr(first), uintptr(^uint32(0)), 0)
	return errOf(e)
}

// Prctl is the call of that name.
func Prctl(option, a, b uintptr) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0)
	return errOf(e)
}

// PidfdOpen returns a descriptor of a process.
func PidfdOpen(pid int) (int, error) {
	r, _, e := syscall.Syscall(SysPidfdOpen, uintptr(pid), 0, 0)
	return fdOf(r, e)
}

// PollFd is an entry of Poll.
type PollFd struct {
	Fd      int32
	Events  int16
	Revents int16
}

// Poll waits for up to ms milliseconds, or for ever if ms is negative.
func Poll(fds []PollFd, ms int) (int, error) {
	var p, t unsafe.Pointer
	if len(fds) > 0 {
		p = unsafe.Pointer(&fds[0])
	}
	var ts syscall.Timespec
	if ms >= 0 {
		ts = syscall.NsecToTimespec(int64(ms) * 1e6)
		t = unsafe.Pointer(&ts)
	}
	r, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(p), uintptr(len(fds)), uintptr(t), 0, 0, 0)
	return fdOf(r, e)
}

// Ioctl is the call of that name.
func Ioctl(fd int, req, arg uintptr) (int, error) {
	r, _, e := syscall.Syscall(syscall.SYS_IOCTL, at(fd), req, arg)
	return fdOf(r, e)
}

// IoctlPointer passes the address of v.
func IoctlPointer(fd int, req uintptr, v *int32) error {
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, at(fd), req, uintptr(unsafe.Pointer(v)))
	return errOf(e)
}

// InterfaceUp brings up the loopback interface through the socket s.
func InterfaceUp(s int, name string) error {
	var req struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(req.name[:15], name)
	req.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, at(s), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req)))
	return errOf(e)
}

// Send sends one message on a connected socket.
func Send(fd int, b []byte) error {
	return syscall.Sendmsg(fd, b, nil, nil, syscall.MSG_NOSIGNAL)
}

// SendFd sends one message with a descriptor.
func SendFd(fd int, b []byte, pass int) error {
	return syscall.Sendmsg(fd, b, syscall.UnixRights(pass), nil, syscall.MSG_NOSIGNAL)
}

// Capabilities are the three sets of a thread, low and high words.
type Capabilities [2]struct{ Effective, Permitted, Inheritable uint32 }

type capHeader struct {
	version uint32
	pid     int32
}

// Capget reads the calling thread's capabilities.
func Capget() (c Capabilities, err error) {
	h := capHeader{version: CAPABILITY_VERSION_3}
	_, _, e := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&c)), 0)
	return c, errOf(e)
}

// Capset sets the calling thread's capabilities.
func Capset(c Capabilities) error {
	h := capHeader{version: CAPABILITY_VERSION_3}
	_, _, e := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&c)), 0)
	return errOf(e)
}

// Seccomp installs a filter of 8-byte instructions on every thread.
func Seccomp(filter []byte) error {
	prog := struct {
		n uint16
		p *byte
	}{uint16(len(filter) / 8), &filter[0]}
	r, _, e := syscall.RawSyscall(sysSeccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if e == 0 && r != 0 {
		e = syscall.ESRCH // a thread that could not be changed
	}
	return errOf(e)
}

// LandlockCreate makes a ruleset; size says how much of attr the kernel shall read.
func LandlockCreate(attr *[3]uint64, size uintptr) (int, error) {
	r, _, e := syscall.Syscall(SysLandlockCreateRuleset, uintptr(unsafe.Pointer(attr)), size, 0)
	return fdOf(r, e)
}

// LandlockAllow adds access below the opened path to a ruleset.
func LandlockAllow(ruleset, path int, access uint64) error {
	// struct landlock_path_beneath_attr is packed: a u64 and an s32.
	var b [12]byte
	*(*uint64)(unsafe.Pointer(&b[0])) = access
	*(*int32)(unsafe.Pointer(&b[8])) = int32(path)
	_, _, e := syscall.Syscall6(SysLandlockAddRule, at(ruleset), LANDLOCK_PATH_BENEATH, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
	return errOf(e)
}

// LandlockRestrict confines the calling thread and what it starts.
func LandlockRestrict(ruleset int) error {
	_, _, e := syscall.Syscall(SysLandlockRestrictSelf, at(ruleset), 0, 0)
	return errOf(e)
}

// Actions of SetSignal.
const (
	SIG_DFL = 0
	SIG_IGN = 1
)

// SetSignal sets the action of a signal, past the Go runtime.
func SetSignal(sig int, action uintptr) {
	var act [8]uintptr // the handler comes first; everything else is zero
	act[0] = action
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act[0])), 0, 8, 0, 0)
}
