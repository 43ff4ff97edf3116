package client

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor/internal/nowhere"
)

const (
	// Deadline is how long a call may take from the start of the process to the
	// answer: below the time after which an agent takes a hook for one that did
	// not object. It is internal/hook's; a test holds them together.
	Deadline = 8 * time.Second
	// warmLimit is the part of it that the daemon gets; the rest is left for the
	// cold path.
	warmLimit = 4 * time.Second
	// maxInput is how long the agent's input may be.
	maxInput = 64 << 20
)

// usage is what the program says if it is called in another way.
const usage = "usage: lictor-hook AGENT [--ask]"

// Main is the program lictor-hook: it answers the hook call on standard input
// for the agent that the arguments name and returns the exit code. It never
// waits longer than Deadline, and it never lets a call run that neither the
// daemon nor `lictor hook` allowed.
func Main(args []string) (code int) {
	m := &hookProcess{deadline: time.Now().Add(Deadline)}
	if len(args) > 0 {
		m.agent = args[0]
	}
	// The watchdog covers what cannot be interrupted, such as reading an input
	// that does not end.
	time.AfterFunc(Deadline, func() {
		os.Exit(m.emit(Refuse(m.agent, nil, "no decision within "+Deadline.String())))
	})
	defer func() {
		if p := recover(); p != nil {
			code = m.emit(Refuse(m.agent, nil, "internal error"))
		}
	}()
	if len(args) == 2 && args[1] == "--ask" {
		m.ask = true
	} else if len(args) != 1 {
		return m.emit(Refuse(m.agent, nil, usage))
	}
	return m.emit(m.answer())
}

// hookProcess is one run of the program.
type hookProcess struct {
	agent    string
	ask      bool
	deadline time.Time
	said     atomic.Bool
}

func (m *hookProcess) answer() Response {
	stdin, err := readInput()
	if err != nil {
		return Refuse(m.agent, stdin, "reading the hook's input: "+err.Error())
	}
	if !Known(m.agent) {
		return Refuse(m.agent, stdin, "unknown agent "+strconv.Quote(m.agent)+"; "+usage)
	}
	r, notice := m.warm(stdin)
	if r != nil {
		return *r
	}
	program, err := sibling()
	if err != nil {
		return Refuse(m.agent, stdin, notice+err.Error())
	}
	if notice == "" {
		// Nobody is there. The next call finds a daemon; this one does not wait.
		if err := Start(program, os.Getenv("HOME")); err != nil && !errors.Is(err, ErrUnsupported) {
			notice = "the daemon cannot be started: " + err.Error() + "; "
		}
	}
	out, err := cold(program, m.agent, m.ask, stdin, m.deadline.Add(-200*time.Millisecond))
	if err != nil {
		return Refuse(m.agent, stdin, notice+err.Error())
	}
	if notice != "" {
		out.Stderr = append([]byte("lictor: notice: "+oneLine(notice)+"decided without the daemon\n"), out.Stderr...)
	}
	return out
}

// warm asks the daemon. Without an answer it returns what to tell about that,
// or "" if there is simply no daemon.
func (m *hookProcess) warm(stdin []byte) (*Response, string) {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return nil, "HOME is not an absolute path; "
	}
	request := NewRequest(m.agent, m.ask, stdin)
	request.Limit = warmLimit - 200*time.Millisecond
	r, err := Ask(filepath.Clean(home), request, time.Now().Add(min(warmLimit, time.Until(m.deadline))))
	switch {
	case errors.Is(err, ErrNoDaemon), errors.Is(err, ErrUnsupported):
		return nil, ""
	case err != nil:
		return nil, "the daemon gave no answer (" + err.Error() + "); "
	case r.Status != StatusAnswer:
		return nil, string(r.Stderr) + "; "
	}
	return r, ""
}

// readInput reads standard input to its end.
func readInput() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(os.Stdin, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = errors.New("it is longer than " + strconv.Itoa(maxInput) + " bytes")
	}
	return data, err
}

// emit writes an answer, once for the whole process, and returns the exit code.
// An answer that cannot be written is none, and 2 is the code that says so.
func (m *hookProcess) emit(r Response) int {
	if m.said.Swap(true) {
		select {} // the other answer is being written, and ends the process
	}
	ignoreSIGPIPE()
	if len(r.Stdout) > 0 {
		if err := write(r.Stdout); err != nil {
			_, _ = os.Stderr.WriteString("lictor: the answer cannot be written: " + err.Error() + "\n")
			return 2
		}
	}
	_, _ = os.Stderr.Write(r.Stderr)
	return r.Code
}

func write(answer []byte) error {
	if nowhere.Goes(os.Stdout) {
		return errors.New("standard output is closed")
	}
	_, err := os.Stdout.Write(answer)
	return err
}
