package helper

import (
	"syscall"

	"github.com/lictor-policy/lictor/internal/sandbox/kernel"
)

// helper is one run of a Program.
type helper struct {
	p     *Program
	nodes map[string]int
	// tty is the slave side of the command's terminal, or -1.
	tty int
}

// exitFailed is the exit code of a helper that could not do its work. What went
// wrong is said on the control socket; the code is only a last resort.
const exitFailed = 125

// Main does what the role says and does not return.
func Main(role string) {
	switch role {
	case RoleSandbox, RoleInner:
		h := &helper{tty: -1, nodes: map[string]int{}}
		h.load()
		if role == RoleInner {
			h.inner()
		} else if h.p.Flags&FlagSupervise != 0 {
			h.supervise()
		} else {
			h.sandbox()
		}
	}
	write("lictor: " + Env + " is set to an unknown role; unset it\n")
	syscall.Exit(exitFailed)
}

// fail reports why the sandbox cannot be built and ends everything: a command
// never runs in a half-built sandbox.
func (h *helper) fail(stage, path string, err error) {
	errno, _ := err.(syscall.Errno)
	msg := []byte{MsgError}
	msg = append(msg, stage...)
	msg = append(msg, 0)
	msg = append(msg, path...)
	msg = append(msg, 0)
	msg = append(msg, decimal(uint64(errno))...)
	if kernel.Send(ControlFD, msg) != nil {
		write("lictor: cannot build the sandbox: " + stage + " " + path + ": " + err.Error() + "\n")
	}
	syscall.Exit(exitFailed)
}

func write(s string) { _, _ = syscall.Write(2, []byte(s)) }

// load reads the Program. The parent's death is watched from the first moment.
func (h *helper) load() {
	var st syscall.Stat_t
	if err := syscall.Fstat(ProgramFD, &st); err != nil || st.Size <= 0 || st.Size > 64<<20 {
		write("lictor: " + Env + " is set, but no sandbox was prepared; unset it\n")
		syscall.Exit(exitFailed)
	}
	b := make([]byte, st.Size)
	for n := 0; n < len(b); {
		k, err := syscall.Pread(ProgramFD, b[n:], int64(n))
		if err == syscall.EINTR {
			continue
		}
		if err != nil || k <= 0 {
			h.fail("read the program", "", syscall.EIO)
		}
		n += k
	}
	p, err := Decode(b)
	if err != nil {
		h.fail("read the program", "", syscall.EINVAL)
	}
	h.p = p
}

// sandbox builds the whole sandbox and runs the command in it. The helper is
// process 1 of its PID namespace, or the only child of bubblewrap.
func (h *helper) sandbox() {
	p := h.p
	h.dieWithParent()
	_ = syscall.Close(ProgramFD)
	if err := kernel.CloseFrom(ControlFD + 1); err != nil {
		h.closeAll()
	}
	_ = syscall.SetNonblock(ControlFD, false)
	syscall.CloseOnExec(ControlFD)
	if p.Flags&FlagWait != 0 {
		h.wait()
	}
	quiet()
	if p.Flags&FlagMounts != 0 {
		h.mounts()
	}
	if p.Flags&FlagLoopback != 0 {
		h.loopback()
	}
	h.common()
	h.confine()
	h.runAndReap()
}

// common is what every kind of sandbox needs before it is closed.
func (h *helper) common() {
	p := h.p
	if p.Flags&FlagProxy != 0 {
		h.listen()
	}
	if p.Flags&FlagTerminal != 0 {
		h.terminal()
	}
	if p.Cwd != "" {
		if err := syscall.Chdir(p.Cwd); err != nil {
			h.fail("enter the working folder", p.Cwd, err)
		}
	}
	for _, l := range p.Limits {
		h.limit(l)
	}
	if p.Umask > 0 {
		syscall.Umask(int(p.Umask - 1))
	}
}

// confine gives away every privilege, in the order in which each step is still
// possible.
func (h *helper) confine() {
	h.dropCaps()
	if err := kernel.Prctl(kernel.PR_SET_NO_NEW_PRIVS, 1, 0); err != nil {
		h.fail("set no_new_privs", "", err)
	}
	h.landlock()
	h.seccomp()
	// Not dumpable: /proc/1 of the sandbox shows nothing and takes no writes, even
	// without Yama.
	_ = kernel.Prctl(syscall.PR_SET_DUMPABLE, 0, 0)
}

func (h *helper) limit(l Limit) {
	r := syscall.Rlimit{Cur: l.Value, Max: l.Value}
	var old syscall.Rlimit
	if syscall.Getrlimit(int(l.Resource), &old) == nil && old.Max < r.Max {
		r.Cur, r.Max = old.Max, old.Max // a limit is only ever lowered
	}
	if err := syscall.Setrlimit(int(l.Resource), &r); err != nil {
		h.fail("set resource limit "+decimal(uint64(l.Resource)), "", err)
	}
}

// dieWithParent ends the helper when lictor dies, however it dies. A parent that
// is already gone shows as a hung-up control socket.
func (h *helper) dieWithParent() {
	_ = kernel.Prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	fds := []kernel.PollFd{{Fd: ControlFD}}
	if n, _ := kernel.Poll(fds, 0); n > 0 && fds[0].Revents&(kernel.POLLHUP|kernel.POLLNVAL|kernel.POLLERR) != 0 {
		syscall.Exit(exitFailed)
	}
}

// closeAll is CloseRange for kernels before 5.9.
func (h *helper) closeAll() {
	var r syscall.Rlimit
	n := uint64(1 << 16)
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil && r.Cur < 1<<20 {
		n = r.Cur
	}
	for fd := ControlFD + 1; fd < int(n); fd++ {
		_ = syscall.Close(fd)
	}
}

func (h *helper) wait() {
	var b [1]byte
	n, _, err := syscall.Recvfrom(ControlFD, b[:], 0)
	if err != nil || n != 1 || b[0] != MsgGo {
		syscall.Exit(exitFailed)
	}
}

// quiet makes process 1 deaf. By default the kernel drops what comes from inside,
// but not while the thread blocks signals, as the Go runtime does around a fork:
// another thread then takes the signal, and its default action ends the process. So
// every signal that Go handles is ignored; Go gives them their default actions back
// in the child. The others have harmless defaults, but for 32 to 34, with which a
// command can end its own sandbox, and nothing else.
func quiet() {
	for s := syscall.Signal(1); s <= 64; s++ {
		switch s {
		case syscall.SIGKILL, syscall.SIGSTOP:
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGWINCH, syscall.SIGURG, 32, 33, 34:
			kernel.SetSignal(int(s), kernel.SIG_DFL)
		default:
			kernel.SetSignal(int(s), kernel.SIG_IGN)
		}
	}
}

func (h *helper) loopback() {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		h.fail("bring up", "lo", err)
	}
	defer syscall.Close(s)
	if err := kernel.InterfaceUp(s, "lo"); err != nil {
		h.fail("bring up", "lo", err)
	}
}

// listen opens the proxy's port inside the sandbox's network and hands the
// socket to lictor, which accepts on it from outside: no relay process, no
// socket path in the sandbox.
func (h *helper) listen() {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		h.fail("open the proxy's socket", "", err)
	}
	_ = syscall.SetsockoptInt(s, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	addr := &syscall.SockaddrInet4{Port: int(h.p.ProxyPort), Addr: [4]byte{127, 0, 0, 1}}
	if err := syscall.Bind(s, addr); err != nil {
		h.fail("bind the proxy's port", "", err)
	}
	if err := syscall.Listen(s, 128); err != nil {
		h.fail("listen on the proxy's port", "", err)
	}
	h.send(MsgListener, s)
	syscall.Close(s)
}

func (h *helper) send(kind byte, fd int) {
	if err := kernel.SendFd(ControlFD, []byte{kind}, fd); err != nil {
		h.fail("hand over a descriptor", "", err)
	}
}

// terminal opens a new terminal of the sandbox's own and hands out its master:
// the command never holds a descriptor of the user's terminal (TIOCSTI,
// CVE-2017-5226).
func (h *helper) terminal() {
	m, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		h.fail("open a terminal", "/dev/ptmx", err)
	}
	if err := kernel.IoctlPointer(m, syscall.TIOCSPTLCK, new(int32)); err != nil {
		h.fail("unlock the terminal", "/dev/ptmx", err)
	}
	s, err := kernel.Ioctl(m, kernel.TIOCGPTPEER, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	if err != nil {
		h.fail("open the terminal's other side", "/dev/ptmx", err)
	}
	h.send(MsgTerminal, m)
	syscall.Close(m)
	h.tty = s
}

// dropCaps empties the bounding, ambient, inheritable, permitted and effective
// sets, so that not even a root command has a capability.
func (h *helper) dropCaps() {
	keep := h.p.KeepCaps
	for c := uintptr(0); c < 64; c++ {
		if keep&(1<<c) != 0 {
			continue
		}
		if err := kernel.Prctl(kernel.PR_CAPBSET_DROP, c, 0); err == syscall.EINVAL {
			break
		} else if err != nil && err != syscall.EPERM {
			h.fail("drop a capability", decimal(uint64(c)), err)
		}
	}
	_ = kernel.Prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR, 0)
	caps, err := kernel.Capget()
	if err != nil {
		h.fail("read the capabilities", "", err)
	}
	for i := range caps {
		m := caps[i].Permitted & uint32(keep>>(32*i))
		caps[i].Effective, caps[i].Permitted, caps[i].Inheritable = m, m, 0
	}
	if err := kernel.Capset(caps); err != nil {
		h.fail("drop the capabilities", "", err)
	}
}

// seccomp installs the filter on every thread.
func (h *helper) seccomp() {
	if len(h.p.Filter) == 0 {
		return
	}
	if err := kernel.Seccomp(h.p.Filter); err != nil {
		h.fail("install the system call filter", "", err)
	}
}

func index(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// find looks for the command in PATH as execvp does, from inside the sandbox.
func (h *helper) find(name string) (string, syscall.Errno) {
	if index(name, '/') >= 0 {
		return name, 0
	}
	path := ""
	for _, e := range h.p.Env {
		if len(e) > 5 && e[:5] == "PATH=" {
			path = e[5:]
		}
	}
	found := syscall.ENOENT
	for path != "" {
		dir := path
		if i := index(path, ':'); i >= 0 {
			dir, path = path[:i], path[i+1:]
		} else {
			path = ""
		}
		if dir == "" || dir[0] != '/' {
			continue // the current folder is never searched
		}
		full := dir + "/" + name
		var st syscall.Stat_t
		if syscall.Stat(full, &st) != nil || st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
			continue
		}
		if err := syscall.Faccessat(kernel.AT_FDCWD, full, kernel.X_OK, 0); err == nil {
			return full, 0
		}
		found = syscall.EACCES
	}
	return "", found
}

func (h *helper) commandError(name string, e syscall.Errno) {
	msg := append([]byte{MsgCommand}, name...)
	msg = append(msg, 0)
	msg = append(msg, decimal(uint64(e))...)
	_ = kernel.Send(ControlFD, msg)
	syscall.Exit(127)
}

// start starts the command as a child in a session of its own.
func (h *helper) start() int {
	if len(h.p.Argv) == 0 {
		h.commandError("", syscall.ENOENT)
	}
	path, e := h.find(h.p.Argv[0])
	if e != 0 {
		h.commandError(h.p.Argv[0], e)
	}
	attr := &syscall.ProcAttr{Env: h.p.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if h.tty >= 0 {
		attr.Files = []uintptr{uintptr(h.tty), uintptr(h.tty), uintptr(h.tty)}
		attr.Sys.Setctty, attr.Sys.Ctty = true, 0
	}
	// Said before it is true: from here on, whatever ends the helper is the command's
	// doing. A command that cannot be started is reported after it.
	_ = kernel.Send(ControlFD, []byte{MsgStarted})
	pid, err := syscall.ForkExec(path, h.p.Argv, attr)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		h.commandError(h.p.Argv[0], errno)
	}
	// The helper keeps nothing of the command's: a pipe must end with the command.
	for fd := 0; fd <= 2; fd++ {
		_ = syscall.Close(fd)
	}
	if h.tty >= 0 {
		_ = syscall.Close(h.tty)
	}
	return pid
}

// runAndReap runs the command, reaps what is orphaned, and exits when the
// command has ended; the kernel then ends everything else in the namespace.
func (h *helper) runAndReap() {
	pid := h.start()
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			h.fail("wait for the command", "", err)
		}
		if got == pid && (ws.Exited() || ws.Signaled()) {
			h.exit(ws, h.p.Flags&FlagInit != 0 && childless())
		}
	}
}

// childless reaps what has ended and reports whether process 1 has no child left:
// then there is no other process in the namespace, and none can come.
func childless() bool {
	for {
		got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err == syscall.ECHILD:
			return true
		case err != nil || got <= 0:
			return false
		}
	}
}

// exit reports the command's status and whether everything in the sandbox is over.
func (h *helper) exit(ws syscall.WaitStatus, over bool) {
	msg := [6]byte{MsgExit, byte(ws), byte(ws >> 8), byte(ws >> 16), byte(ws >> 24)}
	if over {
		msg[5] = 1
	}
	_ = kernel.Send(ControlFD, msg[:])
	code := ws.ExitStatus()
	if ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	syscall.Exit(code)
}
