package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
)

// maxCall is how many bytes one call may have. Longer input is an input error;
// it is read past, never kept.
const maxCall = 16 << 20

// callFlags say where a command finds its calls: --tool and --args, --command,
// or standard input, one call or one a line.
type callFlags struct {
	tool, args, command string
	jsonl               bool
}

func (f *callFlags) register(cmd *cobra.Command, many bool) {
	fl := cmd.Flags()
	fl.StringVar(&f.tool, "tool", "", "the tool's `name`, in place of a call on standard input")
	fl.StringVar(&f.args, "args", "", "the tool's arguments as a `JSON` object (with --tool)")
	fl.StringVar(&f.command, "command", "", "a shell `command`: short for --tool bash with it")
	if many {
		fl.BoolVar(&f.jsonl, "jsonl", false, "read one call a line, answer one line each, in order")
	}
}

// one returns the single call of the command line or of standard input. The
// error is an input error, to be answered with a deny verdict.
func (f *callFlags) one(s *streams) (lictor.Call, error) {
	switch {
	case f.command != "":
		args, err := json.Marshal(map[string]string{"command": f.command})
		return lictor.Call{Tool: "bash", Args: args}, err
	case f.tool != "":
		return lictor.Call{Tool: f.tool, Args: []byte(f.args)}, nil
	}
	if file, ok := s.in.(*os.File); ok && isTerminal(file) {
		fmt.Fprintln(s.err, "lictor: type a call as JSON, then Ctrl-D; --command takes a shell command instead")
	}
	data, err := io.ReadAll(io.LimitReader(s.in, maxCall+1))
	if err != nil {
		return lictor.Call{}, fmt.Errorf("reading the call from standard input: %w", err)
	}
	if len(data) > maxCall {
		return lictor.Call{}, fmt.Errorf("the call is longer than %d bytes", maxCall)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return lictor.Call{}, errors.New("there is no call on standard input: write one as JSON, or use --command or --tool")
	}
	return lictor.ParseCall(data)
}

// check refuses combinations of flags that would leave one of them unread. An
// empty --command or --tool, as a script's empty variable gives it, would have the
// call read from standard input.
func (f *callFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"command", "tool"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return fail(exitUsage, "--%s is empty", name)
		}
	}
	switch {
	case f.command != "" && (f.tool != "" || f.args != ""):
		return fail(exitUsage, "--command already says tool and arguments: leave out --tool and --args")
	case f.args != "" && f.tool == "":
		return fail(exitUsage, "--args needs --tool")
	case f.jsonl && (f.tool != "" || f.command != ""):
		return fail(exitUsage, "--jsonl reads calls from standard input: leave out --tool and --command")
	}
	return nil
}

// eachLine calls do for every call of a JSON-lines stream. A line that cannot
// be read is handed over with its error.
func eachLine(in io.Reader, do func(lictor.Call, error) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(r)
		// Every line has an answer, a blank one too: a caller counts lines.
		if trimmed := bytes.TrimSpace(line); len(line) > 0 || tooLong {
			call, callErr := lictor.ParseCall(trimmed)
			if tooLong {
				call, callErr = lictor.Call{}, fmt.Errorf("the line is longer than %d bytes", maxCall)
			}
			if doErr := do(call, callErr); doErr != nil {
				return doErr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fail(exitUsage, "reading calls from standard input: %v", err)
		}
	}
}

// readLine reads up to the next newline and keeps at most maxCall bytes.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		chunk, err := r.ReadSlice('\n')
		if len(line)+len(chunk) > maxCall {
			tooLong, line = true, line[:0]
		}
		if !tooLong {
			line = append(line, chunk...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
