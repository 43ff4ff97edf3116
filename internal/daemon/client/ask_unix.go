//go:build unix

package client

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Ask sends a request to the daemon of the user whose home folder is given and
// waits for the answer until the deadline.
//
// The errors are ErrNoDaemon, ErrTimeout, ErrFrame (also for a request that is
// too long), an *UnsafeError, io.ErrUnexpectedEOF for an answer that ends early,
// or that of a system call. None of them says anything about the call.
func Ask(home string, r *Request, deadline time.Time) (*Response, error) {
	frame, err := EncodeRequest(r)
	if err != nil {
		return nil, err
	}
	c, err := dial(home, deadline)
	if err != nil {
		return nil, err
	}
	defer unix.Close(c.fd)
	if err := c.send(frame); err != nil {
		return nil, err
	}
	out, err := ReadResponse(c)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return out, err
}

// conn is a blocking socket whose calls end at the deadline. The net package
// would do the same, but a process that lives for a millisecond starts faster
// without it.
type conn struct {
	fd       int
	deadline time.Time
}

// dial connects after the checks of the folder and before those of the peer: a
// daemon of somebody else never gets a byte.
func dial(home string, deadline time.Time) (*conn, error) {
	if err := CheckDir(home); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNoDaemon
		}
		return nil, err
	}
	path := Socket(home)
	if len(path) >= len(unix.RawSockaddrUnix{}.Path) {
		return nil, &UnsafeError{path, "is too long a name for a socket"}
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(fd)
	c := &conn{fd, deadline}
	if err := c.connect(path); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return c, nil
}

func (c *conn) connect(path string) error {
	for {
		if err := c.arm(unix.SO_SNDTIMEO); err != nil {
			return err
		}
		err := unix.Connect(c.fd, &unix.SockaddrUnix{Name: path})
		switch {
		case err == nil, errors.Is(err, unix.EISCONN):
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ENOTSOCK):
			return ErrNoDaemon
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINPROGRESS):
			return ErrTimeout
		default:
			return os.NewSyscallError("connect", err)
		}
		uid, err := PeerUID(c.fd)
		if err != nil {
			return &UnsafeError{path, "its owner is not known: " + err.Error()}
		}
		if uid != os.Geteuid() {
			return &UnsafeError{path, "is served by user " + strconv.Itoa(uid) + ", not by you: remove it"}
		}
		return nil
	}
}

// arm gives the next call what is left of the time.
func (c *conn) arm(option int) error {
	left := time.Until(c.deadline)
	if left <= 0 {
		return ErrTimeout
	}
	// Zero would be no timeout at all.
	tv := unix.NsecToTimeval(max(left, time.Millisecond).Nanoseconds())
	return os.NewSyscallError("setsockopt", unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, option, &tv))
}

func (c *conn) send(b []byte) error {
	for len(b) > 0 {
		if err := c.arm(unix.SO_SNDTIMEO); err != nil {
			return err
		}
		n, err := unix.Write(c.fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return failed("write", err)
		}
		b = b[max(n, 0):]
	}
	return nil
}

// Read is the io.Reader of the answer.
func (c *conn) Read(b []byte) (int, error) {
	for {
		if err := c.arm(unix.SO_RCVTIMEO); err != nil {
			return 0, err
		}
		n, err := unix.Read(c.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, failed("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func failed(what string, err error) error {
	if errors.Is(err, unix.EAGAIN) {
		return ErrTimeout
	}
	return os.NewSyscallError(what, err)
}

// Space names the client's view of the file system: on Linux its mount
// namespace, elsewhere "".
func Space() string {
	name, _ := os.Readlink("/proc/self/ns/mnt")
	return name
}
