package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
)

func newCheck(s *streams) *cobra.Command {
	var (
		engine engineFlags
		calls  callFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Decide a tool call: allow (exit 0), deny (1) or ask (2)",
		Long: `check reads one tool call, decides it by the policy of the project and prints
the verdict. Nothing is run and nobody is asked.

A call is a JSON object on standard input:
  {"tool":"bash","args":{"command":"go test ./..."}}
with the optional keys read_only, always_ask, call_id, agent and cwd; or it is
given by --tool and --args, or by --command.

With --jsonl, every line is a call and every answer is a line, in order, and the
exit code is 0. Input that cannot be read is answered with a deny verdict, and
without --jsonl with exit code 3; so is a command line that cannot be read.`,
		Example: `  lictor check --command 'git push --force'
  echo '{"tool":"read_file","args":{"path":".env"}}' | lictor check --format json`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{decides: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := calls.check(cmd); err != nil {
				return err
			}
			if calls.jsonl {
				return checkLines(cmd, s, &engine)
			}
			return checkOne(cmd, s, &engine, &calls, format)
		},
	}
	engine.register(cmd)
	calls.register(cmd, true)
	formatFlag(cmd, &format)
	return cmd
}

func checkOne(cmd *cobra.Command, s *streams, flags *engineFlags, calls *callFlags, format string) error {
	lean()
	engine, err := flags.open(cmd.Context(), cmd, s)
	if err != nil {
		v := lictor.ErrorVerdict(err)
		return answer(s, &v, format, err)
	}
	defer engine.Close()
	call, err := calls.one(s)
	var v lictor.Verdict
	if err != nil {
		v = lictor.InputVerdict(err)
	} else {
		v, err = engine.Check(context.Background(), call)
	}
	return answer(s, &v, format, err)
}

// answer prints a verdict and turns it into an exit code: 3 if the call or the
// policy could not be read, else the decision's.
func answer(s *streams, v *lictor.Verdict, format string, err error) error {
	var printErr error
	if format == "json" {
		printErr = writeJSON(s.out, v)
	} else {
		printErr = printVerdict(s.out, v)
	}
	if printErr != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("writing the verdict: %w", printErr), answered: true}
	}
	if err != nil {
		return &exitError{code: exitUsage, err: err, answered: true}
	}
	return exit(exitCode(v))
}

// formatOf is the output format of a command line that may not have been parsed
// to its end.
func formatOf(args []string) string {
	for i, arg := range args {
		if arg == "--jsonl" || arg == "--format=json" || arg == "json" && i > 0 && args[i-1] == "--format" {
			return "json"
		}
	}
	return "text"
}

func exitCode(v *lictor.Verdict) int {
	switch v.Decision {
	case lictor.Allow:
		return exitAllow
	case lictor.Ask:
		return exitAsk
	}
	return exitDeny
}

func checkLines(cmd *cobra.Command, s *streams, flags *engineFlags) error {
	flags.longLived = true
	engine, openErr := flags.open(cmd.Context(), cmd, s)
	if openErr != nil {
		fmt.Fprintln(s.err, "lictor:", openErr)
	} else {
		defer engine.Close()
	}
	out := bufio.NewWriter(s.out)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := eachLine(s.in, func(call lictor.Call, err error) error {
		var v lictor.Verdict
		switch {
		case openErr != nil:
			v = lictor.ErrorVerdict(openErr)
		case err != nil:
			v = lictor.InputVerdict(err)
		default:
			// The verdict says what was wrong; the line is the answer.
			v, _ = engine.Check(cmd.Context(), call)
		}
		if err := enc.Encode(&v); err != nil {
			return fail(exitUsage, "writing a verdict: %v", err)
		}
		// A caller that waits for each answer must get it at once.
		return out.Flush()
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func writeIndented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
