// Package cli is the lictor command: one file a command.
//
// Rules of interaction: results go to standard output and nothing else does;
// everything said about the run goes to standard error with the prefix
// "lictor:", in lower case and without a full stop, and says what to do next;
// colour only on a terminal and never with NO_COLOR; exit codes are 0 allow or
// success, 1 deny or failure, 2 ask, 3 usage or input error.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
)

// Exit codes of every command.
const (
	exitAllow = 0
	exitDeny  = 1
	exitAsk   = 2
	exitUsage = 3
)

// decides is the annotation of a command that answers with a verdict whatever
// happens: what cannot be understood is a denial.
const decides = "decides"

// exitError ends the program with a code after a message (none if empty).
// answered says that a verdict was printed.
type exitError struct {
	code     int
	err      error
	answered bool
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exit(code int) error {
	if code == 0 {
		return nil
	}
	return &exitError{code: code}
}

func fail(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// streams are the three files of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command line and returns the exit code. A panic is an error
// like any other: it is reported, and the exit code is that of a denial.
func Main(args []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(errOut, "lictor: internal error: %v\n%s", p, debug.Stack())
			code = exitDeny
		}
	}()
	s := &streams{in: in, out: out, err: errOut}
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	code = exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	if cmd.Annotations[decides] != "" && (e == nil || !e.answered) {
		v := lictor.InputVerdict(err)
		_ = answer(s, &v, formatOf(args), err)
	}
	fmt.Fprintln(errOut, "lictor:", strings.TrimSpace(err.Error()))
	return code
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "lictor",
		Short: "Decide what an AI coding agent may do",
		Long: `lictor decides, for every tool call that an AI coding agent wants to make,
whether it is allowed, denied or must be asked about, by a policy in Rego.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fail(exitUsage, "unknown command %q; `lictor help` lists the commands", args[0])
			}
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fail(exitUsage, "%v; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(newCheck(s), newExplain(s), newInput(s), newHook(s), newVersion(s),
		newRules(s), newTrust(s), newInit(s), newPolicy(s), newAudit(s),
		newExec(s), newSandbox(s), newDoctor(s), newApprove(s),
		newInstall(s), newUninstall(s), newImport(s), newBundle(s),
		newNetwork(s), newProxy(s), newServe(s), newMCP(s), newMCPProxy(s))
	sayArguments(root)
	return root
}

// sayArguments makes what is said about a wrong number of arguments name the
// arguments, for all commands below cmd: the library counts them.
func sayArguments(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		sayArguments(sub)
		check := sub.Args
		if check == nil {
			continue
		}
		sub.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var own *exitError
			if err == nil || errors.As(err, &own) {
				return err
			}
			_, names, takes := strings.Cut(cmd.Use, " ")
			switch {
			case cmd.HasSubCommands():
				return fail(exitUsage, "%v; `%s --help` lists them", err, cmd.CommandPath())
			case takes:
				return fail(exitUsage, "the arguments are: %s; see `%s --help`", names, cmd.CommandPath())
			case cmd.Flags().Lookup("command") != nil:
				return fail(exitUsage, "%q is not understood: a shell command goes behind --command, in quotes; see `%s --help`", args[0], cmd.CommandPath())
			}
			return fail(exitUsage, "%q is not understood: there are only flags here; see `%s --help`", args[0], cmd.CommandPath())
		}
	}
}

// coloured reports whether w is a terminal that may be coloured.
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return isTerminal(f)
}
