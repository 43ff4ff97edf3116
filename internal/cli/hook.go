package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/hook"
	"github.com/lictor-policy/lictor/internal/model"
)

func newHook(s *streams) *cobra.Command {
	var (
		flags   engineFlags
		ask     bool
		sandbox string
	)
	cmd := &cobra.Command{
		Use:   "hook AGENT",
		Short: "Answer one hook call of an agent, in that agent's JSON",
		Long: `hook reads one hook event of an agent on standard input and answers in that
agent's contract. Whatever goes wrong, the answer is a refusal.

With --sandbox=wrap an allowed command is rewritten so that the agent runs it
through ` + "`lictor exec`" + `, in the OS sandbox; only then does a hook count commands as
confined. It works for agents that let a hook replace the command.

Agents: ` + strings.Join(hook.Names(), ", "),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(exitAsk, "hook takes one agent, not %d arguments; see `lictor hook --help`", len(args))
			}
			return nil
		},
		ValidArgs: hook.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			dialect, err := hook.Find(args[0])
			if err != nil {
				// Exit code 2 is the one that agents read as a refusal.
				return &exitError{code: exitAsk, err: err}
			}
			h := &hooked{cmd: cmd, s: s, flags: &flags, dialect: dialect, wrap: sandbox == "wrap"}
			defer h.close()
			serving := hook.Serving{Decide: h.decide, Observe: h.observe, Options: hook.Options{Ask: ask}}
			if sandbox != "" && sandbox != "wrap" {
				return exit(hook.Emit(dialect.Block(fmt.Sprintf("--sandbox is wrap, not %q", sandbox)), s.out, s.err))
			}
			if h.wrap {
				if !dialect.Contract().Replaces {
					return exit(hook.Emit(dialect.Block(args[0]+" lets no hook replace a command: leave --sandbox=wrap out"), s.out, s.err))
				}
				serving.Replace = h.replace
			}
			return exit(hook.Emit(hook.Serve(cmd.Context(), dialect, s.in, serving), s.out, s.err))
		},
	}
	// A mistake in the installed command blocks like any other failure.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		err = fmt.Errorf("%w; see `lictor hook --help`", err)
		dialect, unknown := hook.Find(cmd.Flags().Arg(0))
		if unknown != nil {
			return &exitError{code: exitAsk, err: err}
		}
		return exit(hook.Emit(dialect.Block(err.Error()), s.out, s.err))
	})
	flags.register(cmd)
	cmd.Flags().BoolVar(&ask, "ask", false, "let the agent ask where its contract cannot promise that it does")
	cmd.Flags().StringVar(&sandbox, "sandbox", "", "wrap: rewrite allowed commands so that they run in the OS sandbox")
	return cmd
}

// hooked decides the calls of one hook event with one engine.
type hooked struct {
	cmd     *cobra.Command
	s       *streams
	flags   *engineFlags
	dialect hook.Dialect
	wrap    bool
	engine  *lictor.Engine
}

func (h *hooked) close() {
	if h.engine != nil {
		if err := h.engine.Close(); err != nil {
			fmt.Fprintln(h.s.err, "lictor:", err)
		}
	}
}

// open opens the engine for the event's project. The event's cwd is not the
// project: it moves while the agent works, and the root must not.
func (h *hooked) open(ctx context.Context, e *hook.Event) error {
	if h.engine != nil {
		return nil
	}
	lean()
	o, err := h.flags.options(h.cmd, h.s)
	if err != nil {
		return err
	}
	o.ProjectDir = hook.Project(h.dialect, e, os.Getenv)
	o.Cwd = e.Call.Cwd
	o.Execute = h.wrap
	h.engine, err = openEngine(ctx, h.s, o)
	return err
}

func (h *hooked) decide(ctx context.Context, e *hook.Event, call model.Call) (model.Verdict, error) {
	if err := h.open(ctx, e); err != nil {
		return model.Verdict{}, err
	}
	v, err := h.engine.Check(ctx, call)
	if e.Doubt != "" && v.Decision == model.Allow {
		// Which server the call goes to is not certain, so a rule for it is not enough.
		v.Decision, v.Reason = model.Ask, e.Doubt
	}
	return v, err
}

// observe records what the agent tells of a call that ran.
func (h *hooked) observe(ctx context.Context, e *hook.Event) error {
	if err := h.open(ctx, e); err != nil {
		return err
	}
	return h.engine.RecordRun(e.Call)
}

// replace is the command with which the agent runs an allowed command in the
// sandbox. A question is put by the agent about the command as it is, so that
// one stays as it is.
func (h *hooked) replace(_ context.Context, e *hook.Event, v *model.Verdict) (string, error) {
	if v.Decision != model.Allow {
		return "", nil
	}
	command, outside, err := commandOf(e.Call)
	if err != nil || command == "" || outside {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("wrapping the command: %w", err)
	}
	words := []string{self, "exec", "--root", h.engine.Root(), "--ask", "none"}
	if e.Call.Mode == model.ModePlan {
		words = append(words, "--mode", "plan")
	}
	return quoteWords(append(words, "-c", command)), nil
}

// commandOf returns the shell text of a call, "" if it is no shell command.
func commandOf(call model.Call) (text string, outside bool, err error) {
	targets, err := lictor.Targets(call)
	if err != nil {
		return "", false, err
	}
	if len(targets) != 1 || targets[0].Kind != model.KindCommand {
		return "", false, nil
	}
	if targets[0].Command == nil {
		return "", false, errors.New("the command cannot be read")
	}
	return targets[0].Source, targets[0].OutsideSandbox, nil
}
