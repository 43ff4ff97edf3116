package approve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

const windowsConsole = true

// terminal is the console of the process.
type terminal struct {
	in, out *os.File
	name    string
}

func openTerminal() (*terminal, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	return &terminal{in: in, out: out, name: "console"}, nil
}

func (t *terminal) close() {
	_ = t.in.Close()
	_ = t.out.Close()
}

// flush drops what was typed and not read yet.
func (t *terminal) flush() {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(t.in.Fd()))
}

// readLine reads a line that the person types, without its end. When the context
// ends, the read is cancelled; if the console does not let go, it is left behind.
func (t *terminal) readLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var line strings.Builder
		buffer := make([]byte, 256)
		for line.Len() < 4096 {
			n, err := t.in.Read(buffer)
			if err != nil {
				done <- result{err: fmt.Errorf("reading from the console: %w", err)}
				return
			}
			line.Write(buffer[:n])
			if text, _, ok := strings.Cut(line.String(), "\n"); ok {
				done <- result{line: strings.TrimSpace(text)}
				return
			}
		}
		done <- result{err: errors.New("the answer is too long")}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		_ = windows.CancelIoEx(windows.Handle(t.in.Fd()), nil)
		return "", ctx.Err()
	}
}
