package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/sandbox"
)

// Exit codes of exec besides the command's own.
const (
	exitSetup   = 125 // the sandbox failed, or the decision did
	exitTimeout = 124
)

func newExec(s *streams) *cobra.Command {
	var (
		flags   engineFlags
		text    string
		dir     string
		timeout time.Duration
		outside bool
		explain bool
		tty     bool
		ask     string
		limit   time.Duration
	)
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Check a command, then run it in the sandbox",
		Long: `exec decides a command by the project's policy and, if it is allowed, runs it
under the project's exec policy: in the OS sandbox where this machine has one.

The exit code is the command's own. A command that was not allowed gives 1 (denied)
or 2 (must be asked about, and nobody can be asked here); 124 means that the time
was up, 125 that lictor or the sandbox failed and the command did not run.`,
		Example: `  lictor exec -- go test ./...
  lictor exec -c 'make 2>&1 | tail'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (text == "") == (len(args) == 0) {
				return fail(exitUsage, "give a command behind --, or a text with -c")
			}
			command := text
			if command == "" {
				command = quoteWords(args)
			}
			o, err := flags.options(cmd, s)
			if err != nil {
				return err
			}
			o.Execute = true
			if o.Unattended == "" {
				folder, _ := os.Getwd()
				if o.Approver, err = approver(ask, limit, folder, "lictor exec"); err != nil {
					var wrong *exitError
					if errors.As(err, &wrong) && wrong.code == exitUsage {
						return err
					}
					return &exitError{code: exitSetup, err: err}
				}
			}
			engine, err := openEngine(cmd.Context(), s, o)
			if err != nil {
				return &exitError{code: exitSetup, err: err}
			}
			defer engine.Close()
			arguments, err := json.Marshal(map[string]any{"command": command, "outside_sandbox": outside})
			if err != nil {
				return &exitError{code: exitSetup, err: err}
			}
			call := lictor.Call{Tool: "bash", Args: arguments, Agent: "lictor exec"}
			if explain {
				e, err := engine.Explain(cmd.Context(), call)
				if printErr := printExplanation(s.err, &e); printErr != nil {
					return fail(exitSetup, "writing the explanation: %v", printErr)
				}
				if err != nil {
					return &exitError{code: exitSetup, err: err}
				}
				fmt.Fprintln(s.err, "executor:", engine.Executor())
			}
			run := lictor.RunOptions{Argv: args, Dir: dir, Timeout: timeout, Stdin: s.in, Stdout: s.out, Stderr: s.err}
			if in, ok := s.in.(*os.File); ok && isTerminal(in) {
				if tty {
					run.Terminal = &lictor.Terminal{In: in, Out: os.Stdout}
				} else {
					run.Stdin = nil // a terminal is not shared with the sandbox
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return ran(ctx, s, engine, call, run)
		},
	}
	flags.register(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&text, "command-text", "c", "", "a shell `text` that bash runs")
	fl.StringVar(&dir, "dir", "", "working `folder`, the root or below it")
	fl.DurationVar(&timeout, "timeout", 0, "end the command and all that it started after this `time`")
	fl.BoolVar(&outside, "outside-sandbox", false, "ask to run outside the OS sandbox")
	fl.BoolVar(&explain, "explain", false, "say on standard error why the command is allowed, and how it runs")
	fl.StringVar(&ask, "ask", "terminal", "`who` answers a question: terminal, queue (lictor approve) or none")
	fl.DurationVar(&limit, "ask-limit", 5*time.Minute, "no answer within this `time` is a no")
	fl.BoolVarP(&tty, "tty", "t", false, "give the command a terminal of its own")
	return cmd
}

// ran runs the command and turns what came of it into an exit code.
func ran(ctx context.Context, s *streams, engine *lictor.Engine, call lictor.Call, o lictor.RunOptions) error {
	d, result, err := engine.Run(ctx, call, o)
	var command *sandbox.CommandError
	switch {
	case errors.Is(err, lictor.ErrNotRun):
		return fail(notRun(&d), "%s: %s", d.Verdict.Decision, d.Reason)
	case errors.Is(err, approve.ErrNoTerminal):
		return fail(exitAsk, "ask: %s; with --ask queue it waits for `lictor approve`", d.Reason)
	case result == nil && d.Verdict.Decision == lictor.Ask && !d.Allowed:
		return fail(exitAsk, "ask: %s", d.Reason) // nobody could be asked
	case errors.As(err, &command):
		return &exitError{code: command.ExitCode(), err: err}
	case err != nil:
		return &exitError{code: exitSetup, err: err}
	}
	for _, n := range result.Notices {
		fmt.Fprintln(s.err, "lictor: notice:", n)
	}
	for _, v := range result.Violations {
		fmt.Fprintln(s.err, "lictor: violation:", v)
	}
	switch {
	case result.TimedOut:
		return fail(exitTimeout, "the time was up")
	case len(result.Violations) > 0 && result.ExitCode == 0:
		return fail(exitSetup, "the run counts as failed: it changed what is protected")
	}
	return exit(result.ExitCode)
}

// notRun is the exit code for a call that was decided with no: 2 if nobody
// answered, 1 if the policy or a person said no.
func notRun(d *lictor.Decided) int {
	if d.Verdict.Decision == lictor.Ask && d.Answer == "" {
		return exitAsk
	}
	return exitDeny
}

// quoteWords writes words as shell text that means exactly them.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./^-", r)
		}) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func newSandbox(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Show the sandbox's plan, or attack the sandbox of this machine",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSandboxPlan(s), newSandboxVerify(s))
	return cmd
}

func newSandboxPlan(s *streams) *cobra.Command {
	var (
		flags  = engineFlags{noRecord: true}
		format string
	)
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what the sandbox would do for a command of this project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options(cmd, s)
			if err != nil {
				return err
			}
			o.Execute = true
			engine, err := lictor.Open(cmd.Context(), o)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			defer engine.Close()
			plan, err := engine.SandboxPlan(cmd.Context(), lictor.ExecOptions{Sandbox: true, ReadOnlyRoot: o.Mode == lictor.ModePlan})
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if format == "json" {
				return writeJSON(s.out, plan)
			}
			fmt.Fprintf(s.out, "executor: %s\n%s", engine.Executor(), plan)
			return nil
		},
	}
	flags.register(cmd)
	formatFlag(cmd, &format)
	return cmd
}

func newSandboxVerify(s *streams) *cobra.Command {
	var executor, format, dir string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Attack the sandbox on this machine and print what held",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch executor {
			case "os", "native", "bwrap", "landlock", "seatbelt":
			default:
				return fail(exitUsage, "--executor is os, native, bwrap, landlock or seatbelt, not %q", executor)
			}
			box, err := sandbox.Open(sandbox.Selection{Setting: executor})
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			defer box.Close()
			report, err := sandbox.Verify(cmd.Context(), box, dir)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if format == "json" {
				if err := writeJSON(s.out, report); err != nil {
					return fail(exitUsage, "writing the report: %v", err)
				}
			} else {
				fmt.Fprint(s.out, report.Table())
			}
			if !report.OK() {
				return fail(exitDeny, "the sandbox does not hold on this machine")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&executor, "executor", "os", "the `executor`: os, native, bwrap, landlock or seatbelt")
	cmd.Flags().StringVar(&dir, "dir", "", "work below this `folder`")
	formatFlag(cmd, &format)
	return cmd
}
