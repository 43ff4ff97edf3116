//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/daemon/client"
)

const (
	// maxConnections is how many connections are served at once, and how many calls
	// are decided at once; the others wait in the system's queue.
	maxConnections = 128
	maxCalls       = 16
	// requestTime is how long a client may take to send its request, which it has
	// complete before it connects; answerTime how long it may take to read.
	requestTime = 3 * time.Second
	answerTime  = 3 * time.Second
	// stopTime is how long the end waits for calls that are being decided.
	stopTime = 5 * time.Second
	lockName = "daemon.lock"
)

// server is one running daemon.
type server struct {
	options Options
	roots   *roots
	metrics *metrics
	self    identity
	socket  identity
	space   string
	stop    context.CancelCauseFunc
	// last is when the last call came, in Unix nanoseconds.
	last  atomic.Int64
	calls chan struct{}
}

// Serve runs the daemon until ctx ends, a client says so, another version of the
// program is installed, or nobody called for Options.Idle; then it answers what
// it has begun and returns nil. It reads all files again on SIGHUP.
//
// The error is ErrRunning if there is a daemon already, a *client.UnsafeError for
// a folder that cannot be trusted, or says what cannot be opened.
func Serve(ctx context.Context, o Options) error {
	if err := o.fill(); err != nil {
		return err
	}
	if err := client.MakeDir(o.Home); err != nil {
		return err
	}
	lock, err := lockDaemon(o.Home)
	if err != nil {
		return err
	}
	defer lock.Close()
	listener, err := listen(client.Socket(o.Home))
	if err != nil {
		return err
	}
	socket := identify(client.Socket(o.Home))
	// The socket goes before the lock does, so that no other daemon's is removed;
	// nor is one that somebody put there.
	defer func() {
		if !socket.replaced() {
			os.Remove(client.Socket(o.Home))
		}
	}()
	defer listener.Close()

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{
		options: o, metrics: &metrics{started: time.Now()}, self: ownExecutable(),
		socket: socket, space: client.Space(), stop: stop, calls: make(chan struct{}, maxCalls),
	}
	s.roots = newRoots(o, s.metrics)
	s.last.Store(time.Now().UnixNano())
	defer s.roots.close()

	address := ""
	if o.HTTP != "" {
		web, err := s.listenHTTP()
		if err != nil {
			return err
		}
		address = web.address
		defer web.close()
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go s.watch(ctx, hangup)
	if o.Ready != nil {
		o.Ready(client.Socket(o.Home), address)
	}
	return s.accept(ctx, listener)
}

func (o *Options) fill() error {
	if o.Home == "" {
		home, err := config.HomeFolder()
		if err != nil {
			return err
		}
		o.Home = home
	}
	if !filepath.IsAbs(o.Home) {
		return fmt.Errorf("home folder %q is not an absolute path", o.Home)
	}
	o.Home = filepath.Clean(o.Home)
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.MaxRoots <= 0 {
		o.MaxRoots = defaultRoots
	}
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
	return nil
}

// lockDaemon holds the lock that one daemon of the user has.
func lockDaemon(home string) (*os.File, error) {
	name := filepath.Join(client.Dir(home), lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrRunning
		}
		return nil, fmt.Errorf("%s cannot be locked: %w", name, err)
	}
	return f, nil
}

// listen replaces the socket of a daemon that died. The folder is the user's
// alone and the lock is held, so nobody else is there.
func listen(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

var (
	errIdle     = errors.New("nobody called")
	errReplaced = errors.New("another version of lictor was installed")
	errAsked    = errors.New("a client asked for it")
	errLost     = errors.New("the socket is not there any more")
)

// watch ends the daemon when nobody needs it, and reads the files again on
// SIGHUP.
func (s *server) watch(ctx context.Context, hangup <-chan os.Signal) {
	pause := 10 * time.Second
	if idle := s.options.Idle; idle > 0 {
		pause = min(pause, max(idle/4, time.Millisecond))
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.roots.reloadAll()
		case <-tick.C:
			idle := time.Since(time.Unix(0, s.last.Load()))
			switch {
			case s.options.Idle > 0 && idle > s.options.Idle:
				s.stop(errIdle)
			case s.self.replaced():
				s.stop(errReplaced)
			case s.socket.replaced():
				s.stop(errLost)
			case idle > time.Minute && idle < time.Minute+pause:
				// The memory of a burst goes back to the system.
				debug.FreeOSMemory()
			}
		}
	}
}

// accept serves connections until the context ends, then waits for those that
// have begun.
func (s *server) accept(ctx context.Context, l *net.UnixListener) error {
	var busy sync.WaitGroup
	slots := make(chan struct{}, maxConnections)
	end := context.AfterFunc(ctx, func() { l.Close() })
	defer end()
	var failure error
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			if isTemporary(err) {
				s.options.Notify("accepting a connection: " + err.Error())
				time.Sleep(50 * time.Millisecond)
				continue
			}
			failure = fmt.Errorf("accepting a connection: %w", err)
			break
		}
		slots <- struct{}{}
		busy.Add(1)
		go func() {
			defer func() { <-slots; busy.Done() }()
			s.serve(ctx, c)
		}()
	}
	done := make(chan struct{})
	go func() { busy.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopTime):
		s.options.Notify("ended while calls were still being decided")
	}
	return failure
}

func isTemporary(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) ||
		errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.EINTR)
}

// serve answers one connection, which carries one request.
func (s *server) serve(ctx context.Context, c *net.UnixConn) {
	defer c.Close()
	s.metrics.connections.Add(1)
	if !samePeer(c) {
		s.metrics.rejected.Add(1)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(requestTime))
	request, err := client.ReadRequest(c)
	if err != nil {
		s.metrics.rejected.Add(1)
		return
	}
	out := s.respond(ctx, request)
	_ = c.SetWriteDeadline(time.Now().Add(answerTime))
	_, _ = c.Write(client.EncodeResponse(out))
	if request.Kind == client.KindStop {
		s.stop(errAsked)
	}
}

// samePeer asks the kernel whether the other side is the user's own process.
func samePeer(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		uid, err := client.PeerUID(int(fd))
		same = err == nil && uid == os.Geteuid()
	})
	return err == nil && same
}
