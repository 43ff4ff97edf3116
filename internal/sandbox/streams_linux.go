package sandbox

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the command's standard streams.
type streams struct {
	files    [3]*os.File // the command's ends
	own      [3]bool     // whether they are ours to close
	in       *os.File    // our end of stdin
	stdin    io.Reader
	pipes    [2]*os.File // our ends of stdout and stderr
	out, err capture
	done     chan struct{}
}

// openStreams makes pipes. A file that is no terminal may be stdin itself.
func openStreams(c Command, limit int) (*streams, error) {
	s := &streams{out: capture{limit: limit, tee: c.Stdout}, err: capture{limit: limit, tee: c.Stderr}}
	var err error
	f, isFile := c.Stdin.(*os.File)
	switch {
	case c.Terminal != nil || c.Stdin == nil:
		s.files[0], err = os.Open(os.DevNull)
		s.own[0] = true
	case isFile && !isTerminal(f):
		s.files[0] = f
	default:
		s.files[0], s.in, err = os.Pipe()
		s.own[0], s.stdin = true, c.Stdin
	}
	if err != nil {
		return s, err
	}
	for i := range s.pipes {
		s.pipes[i], s.files[i+1], err = os.Pipe()
		if err != nil {
			return s, err
		}
		s.own[i+1] = true
	}
	return s, nil
}

func (s *streams) child() []*os.File { return s.files[:] }

// begin copies the streams; the command's ends are closed here.
func (s *streams) begin() {
	for i, f := range s.files {
		if s.own[i] {
			_ = f.Close()
		}
	}
	if s.in != nil {
		go func() {
			_, _ = io.Copy(s.in, s.stdin)
			_ = s.in.Close()
		}()
	}
	s.done = make(chan struct{}, 2)
	for i, c := range []*capture{&s.out, &s.err} {
		go func() {
			buf := make([]byte, 64<<10)
			for {
				n, err := s.pipes[i].Read(buf)
				_, _ = c.Write(buf[:n])
				if err != nil {
					break
				}
			}
			s.done <- struct{}{}
		}()
	}
}

// end waits for the streams' ends, but not for long: a descriptor that somebody
// else still holds must not keep the caller.
func (s *streams) end(d time.Duration) {
	t := time.AfterFunc(d, func() {
		for _, p := range s.pipes {
			_ = p.SetReadDeadline(time.Now())
		}
	})
	<-s.done
	<-s.done
	t.Stop()
	for _, p := range s.pipes {
		_ = p.Close()
	}
	if s.in != nil {
		_ = s.in.Close()
	}
}

func (s *streams) closeAll() {
	if s == nil {
		return
	}
	for i, f := range s.files {
		if f != nil && s.own[i] {
			_ = f.Close()
		}
	}
	for _, f := range []*os.File{s.in, s.pipes[0], s.pipes[1]} {
		if f != nil {
			_ = f.Close()
		}
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
