package helper

import (
	"syscall"

	"github.com/lictor-policy/lictor/internal/sandbox/kernel"
)

// supervise is the Landlock executor's outer process. There is no PID namespace
// to end everything, so it stays outside of the confinement, where the command
// can neither signal nor trace it, becomes the subreaper of whatever the command
// leaves behind, and ends all of it: when the command ends, when lictor asks,
// and when lictor dies.
func (h *helper) supervise() {
	syscall.CloseOnExec(ControlFD)
	if err := kernel.Prctl(kernel.PR_SET_CHILD_SUBREAPER, 1, 0); err != nil {
		h.fail("become the subreaper", "", err)
	}
	var pid int
	if p := h.p; p.HandledFS|p.HandledNet|p.Scoped == 0 && len(p.Filter) == 0 {
		_ = syscall.Close(ProgramFD)
		h.common()
		pid = h.start() // nothing to confine: the host executor
	} else {
		pid = h.startInner()
	}
	status := h.watch(pid)
	killAll()
	h.exit(status, true)
}

// startInner starts the second stage. The program's descriptor is passed on; the
// control socket too, so that the inner helper can say why it failed.
func (h *helper) startInner() int {
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"lictor"}, &syscall.ProcAttr{
		Env:   []string{Env + "=" + RoleInner, "GOMAXPROCS=1", "GOGC=off"},
		Files: []uintptr{0, 1, 2, ProgramFD, ControlFD},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		h.fail("start the inner helper", "", err)
	}
	for fd := 0; fd <= ProgramFD; fd++ {
		_ = syscall.Close(fd)
	}
	return pid
}

// watch waits until the command has ended or everything must end. It polls a
// descriptor of the process: a SIGCHLD could be taken by another thread of the Go
// runtime. Orphans are reaped in passing.
func (h *helper) watch(pid int) syscall.WaitStatus {
	fd, err := kernel.PidfdOpen(pid)
	if err != nil {
		h.fail("watch the command", "", err)
	}
	fds := []kernel.PollFd{{Fd: int32(fd), Events: kernel.POLLIN}, {Fd: ControlFD, Events: kernel.POLLIN}}
	for {
		if status, done := reap(pid); done {
			return status
		}
		if _, err := kernel.Poll(fds, 1000); err != nil && err != syscall.EINTR {
			return syscall.WaitStatus(syscall.SIGKILL)
		}
		if fds[1].Revents != 0 { // a kill request, or lictor is gone
			return syscall.WaitStatus(syscall.SIGKILL)
		}
	}
}

func reap(pid int) (status syscall.WaitStatus, done bool) {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			return status, done
		}
		if got == pid && (ws.Exited() || ws.Signaled()) {
			status, done = ws, true
		}
	}
}

// killAll ends every descendant. Orphans become children of the subreaper, so
// killing the children again and again reaches everything; stopping them first
// keeps a fork bomb from outrunning it. The number of rounds is bounded.
func killAll() {
	for round := 0; round < 2000; round++ {
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err == syscall.ECHILD {
			return
		}
		kids := descendants()
		for _, p := range kids {
			_ = syscall.Kill(p, syscall.SIGSTOP)
		}
		for _, p := range kids {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		for {
			got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return
			}
			if err != nil || got <= 0 {
				break
			}
		}
		_, _ = kernel.Poll(nil, 1)
	}
}

// descendants lists every process below this one.
func descendants() []int {
	parents := map[int]int{}
	d, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(d)
	var buf [16 << 10]byte
	for {
		n, err := syscall.ReadDirent(d, buf[:])
		if err != nil || n <= 0 {
			break
		}
		_, _, names := syscall.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if pid := number([]byte(name)); pid > 0 {
				parents[pid] = parentOf(name)
			}
		}
	}
	self := syscall.Getpid()
	var out []int
	for pid := range parents {
		for p, depth := parents[pid], 0; p > 1 && depth < 1<<15; p, depth = parents[p], depth+1 {
			if p == self {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

func parentOf(pid string) int {
	fd, err := syscall.Open("/proc/"+pid+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(fd)
	var b [512]byte
	n, err := syscall.Read(fd, b[:])
	if err != nil || n <= 0 {
		return 0
	}
	// pid (name) state parent …; a name may hold anything, so its last bracket counts.
	i := n - 1
	for i > 0 && b[i] != ')' {
		i--
	}
	if i+4 >= n {
		return 0
	}
	return number(b[i+4 : n])
}

// number reads a decimal prefix, 0 if there is none.
func number(b []byte) int {
	v := 0
	for _, c := range b {
		if c < '0' || c > '9' || v > 1<<28 {
			break
		}
		v = v*10 + int(c-'0')
	}
	return v
}

// inner confines itself and becomes the command.
func (h *helper) inner() {
	p := h.p
	_ = syscall.Close(ProgramFD)
	if err := kernel.CloseFrom(ControlFD + 1); err != nil {
		h.closeAll()
	}
	syscall.CloseOnExec(ControlFD)
	h.common()
	h.dropCaps()
	if err := kernel.Prctl(kernel.PR_SET_NO_NEW_PRIVS, 1, 0); err != nil {
		h.fail("set no_new_privs", "", err)
	}
	if len(p.Argv) == 0 {
		h.commandError("", syscall.ENOENT)
	}
	if h.tty >= 0 {
		if _, err := kernel.Ioctl(h.tty, syscall.TIOCSCTTY, 0); err != nil {
			h.fail("take the terminal", "", err)
		}
		for fd := 0; fd <= 2; fd++ {
			if err := syscall.Dup3(h.tty, fd, 0); err != nil {
				h.fail("take the terminal", "", err)
			}
		}
	}
	h.landlock()
	path, e := h.find(p.Argv[0])
	if e != 0 {
		h.commandError(p.Argv[0], e)
	}
	h.seccomp()
	_ = kernel.Send(ControlFD, []byte{MsgStarted})
	err := syscall.Exec(path, p.Argv, p.Env)
	errno, _ := err.(syscall.Errno)
	h.commandError(p.Argv[0], errno)
}
