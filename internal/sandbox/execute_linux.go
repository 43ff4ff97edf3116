package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// execute runs one command with one executor.
func execute(ctx context.Context, e Executor, p *ExecPolicy, pl *Plan, c Command, dir string) (*Result, error) {
	g, err := program(e, p, pl, c, dir)
	if err != nil {
		return nil, err
	}
	return start(ctx, e, p, pl, c, g)
}

// runHost runs a command without confinement. It still goes through a helper, which
// ends everything that the command leaves behind.
func runHost(ctx context.Context, p *ExecPolicy, c Command, dir string) (*Result, error) {
	pl := &Plan{Root: p.Root, Env: p.Env, Network: "host", Limits: p.Limits}
	g := &helper.Program{Flags: helper.FlagSupervise, Cwd: dir, Argv: c.Argv, Env: p.Env, Limits: limits(p.Limits)}
	if c.Terminal != nil {
		g.Flags |= helper.FlagTerminal
	}
	res, err := start(ctx, Host, p, pl, c, g)
	if res != nil {
		res.Executor, res.Isolation = Host, Host.Isolation()
	}
	return res, err
}

// run is one running helper and its ends.
type run struct {
	e     Executor
	p     *ExecPolicy
	c     Command
	g     *helper.Program
	group *cgroup
	args  *os.File
	ctl   *net.UnixConn
	files []*os.File // the helper's ends
	std   *streams
	proc  *os.Process
	pid   int64 // the helper's process number, 0 until known
	res   *Result

	// ended is closed when the helper says that every process but itself is gone.
	ended    chan struct{}
	started  bool
	status   *syscall.WaitStatus
	setup    *SetupError
	command  *CommandError
	listener net.Listener
	tty      *session
}

func start(ctx context.Context, e Executor, p *ExecPolicy, pl *Plan, c Command, g *helper.Program) (*Result, error) {
	r := &run{e: e, p: p, c: c, g: g, res: &Result{ExitCode: -1}, ended: make(chan struct{})}
	if err := r.cgroup(pl); err != nil {
		return nil, err
	}
	if err := r.open(pl); err != nil {
		r.closeAll()
		r.group.remove()
		return nil, &SetupError{Executor: e, Stage: "prepare", Err: err}
	}
	began := time.Now()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
		defer cancel()
	}
	// The death signal follows the thread that started the helper, so that thread
	// must live as long as the helper: one goroutine owns both (see pdeathsig).
	launched, over := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.launch()
		launched <- err
		if err == nil {
			_, _ = r.proc.Wait()
		}
		close(over)
	}()
	if err := <-launched; err != nil {
		r.closeAll()
		r.group.remove()
		return nil, r.launchError(err)
	}
	r.supervise(ctx, over)
	r.res.Duration = time.Since(began)
	return r.finish(ctx)
}

var errTimeout = errors.New("timeout")

// open makes the control socket, the program's file and the streams.
func (r *run) open(pl *Plan) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	theirs, ours := os.NewFile(uintptr(pair[1]), "control"), os.NewFile(uintptr(pair[0]), "control")
	defer ours.Close()
	r.files = append(r.files, theirs)
	// The sender's process number comes with every message, in our numbering.
	if err := unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	r.ctl = conn.(*net.UnixConn)
	prog, err := memfd("program", r.g.Encode())
	if err != nil {
		return err
	}
	r.files = append([]*os.File{prog}, r.files...)
	if r.e == Bubblewrap {
		if r.args, err = bwrapArgs(pl, r.g.Cwd); err != nil {
			return err
		}
		r.files = append(r.files, r.args)
	}
	r.std, err = openStreams(r.c, r.p.MaxOutput)
	return err
}

// launch starts the helper on the current thread.
func (r *run) launch() error {
	path, argv := "/proc/self/exe", []string{"lictor"}
	attr := &os.ProcAttr{Env: helperEnv, Files: append(r.std.child(), r.files...), Sys: &syscall.SysProcAttr{Setsid: true}}
	switch r.e {
	case Native:
		nativeAttr(attr.Sys, r.g)
	case Bubblewrap:
		// No death signal before bubblewrap sets its own: killed while its child waits
		// for the id maps, it would leave that child waiting for ever. Whoever comes
		// through to the helper without lictor finds the control socket hung up.
		path, argv = bwrapPath, []string{"bwrap", "--args", "5", "--", helperPath}
	}
	proc, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return err
	}
	r.proc = proc
	return nil
}

func (r *run) launchError(err error) error {
	var errno syscall.Errno
	errors.As(err, &errno)
	stage := "start the helper"
	if r.e == Native {
		stage = "create the namespaces"
	}
	return &SetupError{Executor: r.e, Stage: stage, Err: errno, Fix: fixes(stage, errno)}
}

// supervise waits for the helper and ends it when it is time.
func (r *run) supervise(ctx context.Context, over <-chan struct{}) {
	for _, f := range r.files {
		_ = f.Close()
	}
	r.files = nil
	r.std.begin()
	r.group.release(r)
	talk := make(chan struct{})
	go func() { r.listen(); close(talk) }()
	select {
	case <-over:
	case <-r.ended:
		// Nothing but the helper is left, and it is taking down its namespaces. That
		// need not be waited for.
		r.std.end(grace)
		r.end(nil)
		go r.after(over, talk)
		return
	case <-ctx.Done():
		r.kill(over)
	}
	wait(talk, grace) // everything is dead: the sockets and pipes are at their ends
	_ = r.ctl.Close()
	<-talk
	r.std.end(grace)
	r.end(over)
}

// end gives back the person's terminal and the proxy's socket, and, when the helper
// is gone, the control groups.
func (r *run) end(over <-chan struct{}) {
	r.tty.end()
	if r.listener != nil {
		_ = r.listener.Close()
	}
	if over != nil {
		r.group.remove()
	}
}

// after waits for the helper's own end.
func (r *run) after(over, talk <-chan struct{}) {
	if !wait(over, grace) {
		_ = r.proc.Kill()
		<-over
	}
	_ = r.ctl.Close()
	<-talk
	r.group.remove()
}

// kill ends everything in the sandbox and waits for the helper.
func (r *run) kill(over <-chan struct{}) {
	switch r.e {
	case Native:
		_ = r.proc.Kill() // process 1: the kernel ends the rest
	case Bubblewrap:
		if pid := r.helperPid(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if wait(over, grace) {
				return
			}
		}
		_ = r.proc.Kill()
	default:
		_, _ = r.ctl.Write([]byte{helper.MsgKill})
		if wait(over, grace) {
			return
		}
		_ = syscall.Kill(-r.proc.Pid, syscall.SIGKILL)
		_ = r.proc.Kill()
	}
	<-over
}

func wait(over <-chan struct{}, d time.Duration) bool {
	select {
	case <-over:
		return true
	case <-time.After(d):
		return false
	}
}

// listen reads what the helper says until it is gone.
func (r *run) listen() {
	buf, oob := make([]byte, 8192), make([]byte, 256)
	for {
		n, oobn, _, _, err := r.ctl.ReadMsgUnix(buf, oob)
		if err != nil || n == 0 {
			return
		}
		fd := r.control(oob[:oobn])
		r.message(buf[:n], fd)
	}
}

// control takes the sender and a descriptor from a message.
func (r *run) control(oob []byte) int {
	fd := -1
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return fd
	}
	for i := range msgs {
		if cred, err := unix.ParseUnixCredentials(&msgs[i]); err == nil {
			r.setHelperPid(int(cred.Pid))
		}
		if fds, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			for j, x := range fds {
				unix.CloseOnExec(x)
				if j == 0 && fd < 0 {
					fd = x
				} else {
					_ = unix.Close(x)
				}
			}
		}
	}
	return fd
}

// message handles one message. They come from the helper alone: the command never
// holds the socket.
func (r *run) message(b []byte, fd int) {
	kind, fields := b[0], strings.Split(string(b[1:]), "\x00")
	switch {
	case kind == helper.MsgError && len(fields) == 3:
		n, _ := strconv.Atoi(fields[2])
		errno := syscall.Errno(n)
		r.setup = &SetupError{Executor: r.e, Stage: fields[0], Path: fields[1], Err: errno, Fix: fixes(fields[0], errno)}
	case kind == helper.MsgCommand && len(fields) == 2:
		n, _ := strconv.Atoi(fields[1])
		r.command = &CommandError{Program: fields[0], Err: syscall.Errno(n)}
	case kind == helper.MsgStarted:
		r.started = true
	case kind == helper.MsgExit && len(b) == 6 && r.status == nil:
		ws := syscall.WaitStatus(binary.LittleEndian.Uint32(b[1:]))
		r.status = &ws
		if b[5] == 1 {
			close(r.ended)
		}
	case kind == helper.MsgListener && fd >= 0:
		r.serve(fd)
		return
	case kind == helper.MsgTerminal && fd >= 0:
		r.tty = joinTerminal(r.c.Terminal, os.NewFile(uintptr(fd), "terminal"), r.p.MaxOutput)
		return
	}
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// serve hands the proxy's socket to the caller.
func (r *run) serve(fd int) {
	f := os.NewFile(uintptr(fd), "proxy")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil || r.c.ProxyListener == nil {
		r.setup = &SetupError{Executor: r.e, Stage: "take over the proxy's socket", Err: err}
		return
	}
	r.listener = l
	r.c.ProxyListener(l)
}

// finish turns what happened into a result.
func (r *run) finish(ctx context.Context) (*Result, error) {
	res := r.res
	res.Stdout, res.Stderr = r.std.out.output(), r.std.err.output()
	if r.tty != nil {
		res.Stdout = r.tty.out.output()
	}
	switch {
	case r.command != nil:
		res.ExitCode = r.command.ExitCode()
		return res, r.command
	case r.status != nil && (ctx.Err() == nil || r.status.Exited()):
		r.setStatus(*r.status)
		return res, nil
	case ctx.Err() != nil:
		res.TimedOut = errors.Is(context.Cause(ctx), errTimeout)
		res.Canceled = !res.TimedOut
		r.setStatus(syscall.WaitStatus(syscall.SIGKILL))
		return res, nil
	case r.setup != nil:
		return nil, r.setup
	case !r.started:
		return nil, &SetupError{
			Executor: r.e, Stage: "build the sandbox", Err: errors.New("the helper ended before the command started: " + r.reason()), Fix: bwrapFix(r.e, r.reason()),
		}
	}
	// The helper was killed from outside, and the command with it.
	r.setStatus(syscall.WaitStatus(syscall.SIGKILL))
	return res, nil
}

// reason is what the helper or bubblewrap said on the error stream.
func (r *run) reason() string {
	text := strings.TrimSpace(r.std.err.output().Text)
	if text == "" {
		return "no reason given"
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func (r *run) setStatus(ws syscall.WaitStatus) {
	if ws.Signaled() {
		r.res.Signal = int(ws.Signal())
		r.res.ExitCode = 128 + r.res.Signal
		return
	}
	r.res.ExitCode = ws.ExitStatus()
}

func (r *run) closeAll() {
	for _, f := range r.files {
		_ = f.Close()
	}
	if r.ctl != nil {
		_ = r.ctl.Close()
	}
	r.std.closeAll()
}
