package sandbox

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// session joins a person's terminal to the one in the sandbox. The command's
// terminal is its own, so job control works in there, and nothing that it does to
// it reaches the person's (TIOCSTI).
type session struct {
	t      *Terminal
	master *os.File
	saved  *unix.Termios
	winch  chan os.Signal
	copied chan struct{}
	// out is what the command wrote to its terminal.
	out  capture
	once sync.Once
}

func joinTerminal(t *Terminal, master *os.File, limit int) *session {
	s := &session{t: t, master: master, winch: make(chan os.Signal, 1), copied: make(chan struct{}), out: capture{limit: limit}}
	_ = unix.SetNonblock(int(master.Fd()), true)
	s.master = os.NewFile(uintptr(dup(master)), "terminal") // now polled by the runtime
	_ = master.Close()
	if t == nil {
		t = &Terminal{}
		s.t = t
	}
	if t.In != nil {
		s.raw()
		go func() { _, _ = io.Copy(s.master, t.In) }()
	}
	s.resize()
	signal.Notify(s.winch, syscall.SIGWINCH)
	go func() {
		for range s.winch {
			s.resize()
		}
	}()
	go func() {
		defer close(s.copied)
		var w io.Writer = &s.out
		if t.Out != nil {
			w = io.MultiWriter(&s.out, t.Out)
		}
		_, _ = io.Copy(w, s.master) // ends with EIO when the last process is gone
	}()
	return s
}

func dup(f *os.File) int {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1
	}
	_ = unix.SetNonblock(fd, true)
	return fd
}

// raw hands every key to the command: interrupt and suspend belong to it.
func (s *session) raw() {
	fd := int(s.t.In.Fd())
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return // not a terminal: a test, or a pipe
	}
	s.saved = old
	n := *old
	n.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	n.Oflag &^= unix.OPOST
	n.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	n.Cflag = n.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	n.Cc[unix.VMIN], n.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(fd, unix.TCSETS, &n)
}

func (s *session) resize() {
	for _, f := range []*os.File{s.t.Out, s.t.In} {
		if f == nil {
			continue
		}
		if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			_ = unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, ws)
			return
		}
	}
}

// end gives the person's terminal back as it was.
func (s *session) end() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		signal.Stop(s.winch)
		close(s.winch)
		select {
		case <-s.copied:
		case <-time.After(grace):
		}
		_ = s.master.SetDeadline(time.Now())
		_ = s.master.Close()
		<-s.copied
		if s.saved != nil {
			_ = unix.IoctlSetTermios(int(s.t.In.Fd()), unix.TCSETS, s.saved)
		}
	})
}
