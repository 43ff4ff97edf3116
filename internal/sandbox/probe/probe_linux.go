package probe

import (
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	if role, _ := syscall.Getenv("LICTOR_BOOT"); role == "probe" {
		register()
		Main()
	}
}

// Main runs the probe that the process's arguments name ("probe dial tcp
// 127.0.0.1:80") and exits: 0 when the attack worked, 1 when it was stopped, 2
// for an unknown probe.
func Main() {
	args := arguments()
	for i, a := range args {
		if a == "probe" {
			args = args[i+1:]
			break
		}
	}
	if len(args) == 0 {
		say("probe: no name given")
		unix.Exit(2)
	}
	f, ok := probes[args[0]]
	if !ok {
		say("probe: unknown name " + args[0])
		unix.Exit(2)
	}
	if err := f(args[1:]); err != nil {
		text := err.Error()
		if e, ok := err.(syscall.Errno); ok {
			text += " errno=" + strconv.Itoa(int(e))
		}
		say("stopped: " + text)
		unix.Exit(1)
	}
	say("ESCAPED")
	unix.Exit(0)
}

func say(s string) { _, _ = unix.Write(1, []byte(s+"\n")) }

func arguments() []string {
	fd, err := unix.Open("/proc/self/cmdline", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	var b [16 << 10]byte
	n, err := unix.Read(fd, b[:])
	if err != nil || n <= 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b[:n]), "\x00"), "\x00")
}

var probes map[string]func([]string) error

func register() {
	probes = map[string]func([]string) error{
		"dial": dial, "mptcp": mptcp, "udp": udp, "mount": mountTmpfs, "remount": remount, "mountsetattr": mountSetattr,
		"umount": umount, "unsharemount": unshareMount, "userns": userns, "vmread": vmread, "procmem": procmem,
		"tiocsti": tiocsti, "mknod": mknod, "handle": handle, "iouring": ioUring, "sys": sys, "socket": socket,
		"socketpair": socketpair, "ptrace": ptrace, "int80": int80, "x32": x32, "clone3": clone3, "fds": fds, "suid": suid,
		"listen": listen, "setns": setns, "nothing": nothing,
	}
}

func arg(a []string, i int) string {
	if i < len(a) {
		return a[i]
	}
	return ""
}

func num(a []string, i int) uintptr {
	v, err := strconv.ParseInt(arg(a, i), 0, 64)
	if err != nil {
		u, _ := strconv.ParseUint(arg(a, i), 0, 64)
		return uintptr(u)
	}
	return uintptr(v)
}

func dial(a []string) error {
	network, addr := arg(a, 0), arg(a, 1)
	if network == "unix" {
		s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Connect(s, &unix.SockaddrUnix{Name: addr})
	}
	i := strings.LastIndexByte(addr, ':')
	port, _ := strconv.Atoi(addr[i+1:])
	host := addr[:i]
	if strings.HasPrefix(host, "[") {
		s, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		sa := &unix.SockaddrInet6{Port: port}
		sa.Addr[15] = 1
		return unix.Connect(s, sa)
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Connect(s, &unix.SockaddrInet4{Port: port, Addr: ip4(host)})
}

func ip4(s string) (a [4]byte) {
	for i, p := range strings.SplitN(s, ".", 4) {
		v, _ := strconv.Atoi(p)
		a[i] = byte(v)
	}
	return a
}

func mptcp(a []string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	return unix.Connect(s, &unix.SockaddrInet4{Port: int(num(a, 0)), Addr: [4]byte{127, 0, 0, 1}})
}

func udp(a []string) error {
	host, port, _ := strings.Cut(arg(a, 0), ":")
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(port)
	return unix.Sendto(s, []byte("hit"), 0, &unix.SockaddrInet4{Port: n, Addr: ip4(host)})
}

func listen(a []string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(s, &unix.SockaddrInet4{Port: int(num(a, 0)), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	return unix.Listen(s, 1)
}

func mountTmpfs(a []string) error { return unix.Mount("x", arg(a, 0), "tmpfs", 0, "") }

func remount(a []string) error {
	return unix.Mount("", arg(a, 0), "", unix.MS_REMOUNT|unix.MS_BIND, "")
}

func mountSetattr(a []string) error {
	return unix.MountSetattr(unix.AT_FDCWD, arg(a, 0), 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
}

func umount(a []string) error { return unix.Unmount(arg(a, 0), unix.MNT_DETACH) }

// unshareMount tries to lift the read-only flag from inside namespaces of its own.
func unshareMount(a []string) error { return inUserNS(unix.CLONE_NEWNS, "remount", arg(a, 0)) }

func userns([]string) error { return inUserNS(0, "nothing") }

func nothing([]string) error { return nil }

// inUserNS runs another probe in new namespaces: a process with several threads
// cannot unshare a user namespace itself.
func inUserNS(more uintptr, args ...string) error {
	pid, err := syscall.ForkExec("/proc/self/exe", append([]string{"x", "probe"}, args...), &syscall.ProcAttr{
		Env: []string{"LICTOR_BOOT=probe"}, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | more},
	})
	if err != nil {
		return err
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		return err
	}
	if ws.ExitStatus() != 0 {
		return syscall.EPERM
	}
	return nil
}

func setns(a []string) error {
	fd, err := unix.Open(arg(a, 0), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, 0)
}

func vmread(a []string) error {
	buf := make([]byte, 64)
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	base := mapped(arg(a, 0))
	if base == 0 {
		base = uintptr(unsafe.Pointer(&buf[0]))
	}
	_, err := unix.ProcessVMReadv(int(num(a, 0)), local, []unix.RemoteIovec{{Base: base, Len: 64}}, 0)
	return err
}

// mapped returns the first mapped address of a process, or 0.
func mapped(pid string) uintptr {
	fd, err := unix.Open("/proc/"+pid+"/maps", unix.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var b [64]byte
	n, _ := unix.Read(fd, b[:])
	if n <= 0 {
		return 0
	}
	from, _, _ := strings.Cut(string(b[:n]), "-")
	v, _ := strconv.ParseUint(from, 16, 64)
	return uintptr(v)
}

func procmem(a []string) error {
	_, err := unix.Open("/proc/"+arg(a, 0)+"/mem", unix.O_RDWR, 0)
	return err
}

func ptrace(a []string) error { return unix.PtraceSeize(int(num(a, 0))) }

// tiocsti opens a terminal, takes it as the controlling one, and types into it;
// both spellings of the request number are tried (CVE-2019-10063).
func tiocsti([]string) error {
	_, _ = unix.Setsid()
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_ = unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0)
	s, _, e := syscall.Syscall(unix.SYS_IOCTL, uintptr(m), unix.TIOCGPTPEER, unix.O_RDWR)
	if e != 0 {
		return e
	}
	_, _, _ = syscall.Syscall(unix.SYS_IOCTL, s, unix.TIOCSCTTY, 0)
	c := byte('X')
	var last error
	for _, fd := range []uintptr{s, 0, 1, 2} {
		for _, req := range []uintptr{unix.TIOCSTI, unix.TIOCSTI | 1<<32} {
			if _, _, e := syscall.Syscall(unix.SYS_IOCTL, fd, req, uintptr(unsafe.Pointer(&c))); e == 0 {
				return nil
			} else if last == nil {
				last = e
			}
		}
	}
	return last
}

func mknod(a []string) error { return unix.Mknod(arg(a, 0), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 1))) }

func handle([]string) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0)
	if err != nil {
		return err
	}
	d, err := unix.Open("/", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	_, err = unix.OpenByHandleAt(d, h, unix.O_RDONLY)
	return err
}

func ioUring([]string) error {
	var params [120]byte
	_, _, e := syscall.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params[0])), 0)
	return errOf(e)
}

func errOf(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func sys(a []string) error {
	_, _, e := syscall.Syscall6(num(a, 0), num(a, 1), num(a, 2), num(a, 3), num(a, 4), num(a, 5), num(a, 6))
	return errOf(e)
}

func socket(a []string) error {
	_, _, e := syscall.Syscall(unix.SYS_SOCKET, num(a, 0), num(a, 1), num(a, 2))
	return errOf(e)
}

func socketpair(a []string) error {
	var sv [2]int32
	_, _, e := syscall.Syscall6(unix.SYS_SOCKETPAIR, num(a, 0), num(a, 1), num(a, 2), uintptr(unsafe.Pointer(&sv)), 0, 0)
	return errOf(e)
}

// clone3 asks for a new user namespace through the call whose arguments a filter
// cannot see.
func clone3([]string) error {
	args := [11]uint64{0: unix.CLONE_NEWUSER, 4: uint64(syscall.SIGCHLD)}
	pid, _, e := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args[0])), 64, 0)
	if e != 0 {
		return e
	}
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

// fds reports an inherited descriptor beyond the standard three.
func fds([]string) error {
	for fd := 3; fd < 256; fd++ {
		if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fl&unix.FD_CLOEXEC == 0 {
			say("descriptor " + strconv.Itoa(fd))
			return nil
		}
	}
	return syscall.EBADF
}

// suid makes a file set-user-ID: another account of the machine could run it.
func suid(a []string) error {
	fd, err := unix.Open(arg(a, 0), unix.O_CREAT|unix.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if err := unix.Fchmod(fd, 0o4755); err == nil {
		return nil
	}
	return unix.Chmod(arg(a, 0), 0o4755)
}
