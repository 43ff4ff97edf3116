//go:build unix

package approve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const windowsConsole = false

// terminal is the terminal of the process.
type terminal struct {
	in, out *os.File
	name    string
}

// openTerminal opens the controlling terminal. A process in the background of
// its terminal would be stopped by the system as soon as it reads, so it gets an
// error instead.
func openTerminal() (*terminal, error) {
	// Non-blocking, as os.OpenFile would make it, /dev/tty cannot be waited for
	// on every system; a plain descriptor can be.
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening /dev/tty: %w", err)
	}
	file := os.NewFile(uintptr(fd), "/dev/tty")
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || group != unix.Getpgrp() {
		_ = file.Close()
		return nil, errors.New("the process is not in the foreground of its terminal")
	}
	return &terminal{in: file, out: file, name: terminalName()}, nil
}

func (t *terminal) close() { _ = t.in.Close() }

// terminalName is the name of the terminal for the record, as far as one of the
// standard descriptors tells it.
func terminalName() string {
	for fd := range 3 {
		name, err := os.Readlink(fmt.Sprintf("/dev/fd/%d", fd))
		if err == nil && strings.HasPrefix(name, "/dev/") && name != "/dev/null" {
			return name
		}
	}
	return "/dev/tty"
}

// wait waits until there is something to read.
func (t *terminal) wait(limit time.Duration) (bool, error) {
	fd := int(t.in.Fd())
	if fd >= unix.FD_SETSIZE {
		return false, errors.New("too many open files to ask on the terminal")
	}
	var set unix.FdSet
	set.Zero()
	set.Set(fd)
	timeout := unix.NsecToTimeval(limit.Nanoseconds())
	n, err := unix.Select(fd+1, &set, nil, nil, &timeout)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}

// readLine reads a line that the person types, without its end.
func (t *terminal) readLine(ctx context.Context) (string, error) {
	var line strings.Builder
	buffer := make([]byte, 256)
	for line.Len() < 4096 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		ready, err := t.wait(100 * time.Millisecond)
		if err != nil {
			return "", fmt.Errorf("reading from the terminal: %w", err)
		}
		if !ready {
			continue
		}
		n, err := t.in.Read(buffer)
		if n == 0 && err == nil {
			err = io.EOF
		}
		if err != nil {
			return "", fmt.Errorf("reading from the terminal: %w", err)
		}
		line.Write(buffer[:n])
		if text, _, ok := strings.Cut(line.String(), "\n"); ok {
			return strings.TrimSpace(text), nil
		}
	}
	return "", errors.New("the answer is too long")
}
