package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lictor-policy/lictor/internal/nowhere"
)

// Emit writes a reply and returns the exit code. An answer that cannot be written
// (the agent closed the pipe, or gave no standard output) is no answer, so the code
// is 2 then, with a reason on standard error, which agents that saw nothing else
// take as a refusal.
//
// It ignores SIGPIPE from then on: a program that dies of a signal has neither
// exit code 2 nor a reason, and most agents let such a call run.
func Emit(r Reply, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE)
	if len(r.Stdout) > 0 {
		if err := write(stdout, r.Stdout); err != nil {
			fmt.Fprintf(stderr, "lictor: the answer cannot be written: %v\n", err)
			return 2
		}
	}
	if len(r.Stderr) > 0 {
		// The code says it already.
		_, _ = stderr.Write(r.Stderr)
	}
	return r.Code
}

func write(stdout io.Writer, answer []byte) error {
	if f, ok := stdout.(*os.File); ok && nowhere.Goes(f) {
		return errors.New("standard output is closed")
	}
	_, err := stdout.Write(answer)
	return err
}
