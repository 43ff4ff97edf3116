package lictor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/sandbox"
)

type (
	// ExecPolicy is everything that a command may touch.
	ExecPolicy = sandbox.ExecPolicy
	// RunResult is what came of a command.
	RunResult = sandbox.Result
	// Terminal is a person's terminal, to be handed to a command.
	Terminal = sandbox.Terminal
)

// ExecOptions choose between the policies that a command may run under.
type ExecOptions struct {
	// Sandbox confines the command; without it the command runs on the host with
	// the environment allowlist only.
	Sandbox bool
	// ReadOnlyRoot is plan mode: the root cannot be written.
	ReadOnlyRoot bool
}

// RunOptions say how Run executes a command.
type RunOptions struct {
	// Argv is the program and its arguments. Empty means that bash runs the text of
	// the call's command.
	Argv []string
	// Dir is the working folder, the root or below it. Empty means the root.
	Dir string
	// Stdin is read by the command; nil is /dev/null. Stdout and Stderr get the
	// output as it comes, besides what the result keeps.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal gives the command a terminal of its own, joined to this one.
	Terminal *Terminal
	// Timeout ends the command and everything it started; 0 is none.
	Timeout time.Duration
}

// ErrNotRun is the error of Run for a call that was decided with no.
var ErrNotRun = errors.New("the call was not allowed, so it did not run")

// ErrNoExecutor is the error of Run for an engine that was opened without
// Options.Execute.
var ErrNoExecutor = errors.New("this engine decides only: open it with Execute to run commands")

// Run decides a call with one command target, asks if need be, records what is
// about to happen, runs the command under the project's policy and records what
// came of it. The decision is valid beside every error; a call that was not
// allowed gives ErrNotRun. The result's exit code is the command's own, so a
// command that fails is no error; a sandbox that fails is.
func (e *Engine) Run(ctx context.Context, call Call, o RunOptions) (d Decided, result *RunResult, err error) {
	s := e.state.Load()
	if s.executor == nil {
		return Decided{}, nil, ErrNoExecutor
	}
	v, c, err := e.check(ctx, &call)
	d = Decided{Verdict: v, By: v.By, Reason: v.Reason, Allowed: v.Decision == Allow}
	passed, observed := e.observe(&d, err)
	if observed {
		if err := e.record(&call, c, &d, true); err != nil {
			return d, nil, err
		}
		d = passed
	} else if err == nil && v.Decision == Ask {
		d, err = e.ask(ctx, c, d)
	}
	if err == nil && d.Allowed && (len(c.Input.Targets) != 1 || c.Input.Targets[0].Kind != model.KindCommand) {
		err = fmt.Errorf("%s: only a call with one command can be run", call.Tool)
		d.Allowed = false
	}
	if err != nil || !d.Allowed {
		if recordErr := e.record(&call, c, &d, false); recordErr != nil {
			return d, nil, errors.Join(err, recordErr)
		}
		if err == nil {
			err = ErrNotRun
		}
		return d, nil, err
	}
	target := &c.Input.Targets[0]
	policy, err := s.execPolicy(o.Timeout, ExecOptions{
		Sandbox:      !target.OutsideSandbox,
		ReadOnlyRoot: c.Input.Mode == ModePlan,
	})
	if err != nil {
		return d, nil, err
	}
	if len(o.Argv) == 0 {
		o.Argv = []string{"bash", "-c", target.Source}
	}
	ref, err := e.intent(&call, c, &d)
	if err != nil {
		return d, nil, err
	}
	command := sandbox.Command{
		Argv: o.Argv, Dir: o.Dir, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Terminal: o.Terminal,
	}
	if policy.Proxy {
		proxy := e.newProxy(s, &call, ref)
		defer proxy.Close()
		command.ProxyListener = func(l net.Listener) { go proxy.Serve(l) }
		defer func() {
			if result != nil {
				result.Notices = append(result.Notices, proxy.Report()...)
			}
		}()
	}
	result, err = s.executor.Run(ctx, policy, command)
	return d, result, errors.Join(err, e.result(ref, &call, &d, result, err))
}

// intent records that the call is about to run.
func (e *Engine) intent(call *Call, c *factsCall, d *Decided) (audit.Ref, error) {
	log := e.state.Load().log
	if log == nil {
		return audit.Ref{}, nil
	}
	entry := e.entry(call, c, d)
	ref, err := log.Intent(&entry)
	if err != nil {
		d.Allowed = false
	}
	return ref, err
}

// result records what came of it.
func (e *Engine) result(ref audit.Ref, call *Call, d *Decided, r *RunResult, runErr error) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	by := d.By
	ran := audit.Ran{Tool: call.Tool, CallID: call.CallID, Agent: call.Agent, Class: audit.Classify(Allow, by, d.Verdict.Kind)}
	var command *sandbox.CommandError
	if runErr != nil {
		ran.Error = runErr.Error()
	}
	if r != nil {
		ran.Started = !errors.As(runErr, &command)
		ran.Exit, ran.Duration = &r.ExitCode, r.Duration
		switch {
		case r.TimedOut:
			ran.Error = "the time was up"
		case r.Canceled:
			ran.Error = "cancelled"
		case len(r.Violations) > 0:
			ran.Error = "after the run: " + r.Violations[0].String()
		}
	}
	return log.Result(ref, &ran)
}

// ExecPolicy returns what a command of the host's own may touch, for hosts that
// run commands themselves (SPEC section 8).
func (e *Engine) ExecPolicy(timeout time.Duration, o ExecOptions) (*ExecPolicy, error) {
	return e.state.Load().execPolicy(timeout, o)
}

// ServerPolicy returns what a language or MCP server may touch: it reads the
// root, writes nothing there and has no network; its output is not cut.
func (e *Engine) ServerPolicy() (*ExecPolicy, error) {
	in := e.state.Load().policyInput()
	in.Server, in.Sandbox = true, true
	return sandbox.NewPolicy(in)
}

// RunServer runs a language or MCP server under ServerPolicy until it ends or ctx
// does. An engine that was opened without Options.Execute gives ErrNoExecutor; a
// server that ends with an exit code is an error that names it.
func (e *Engine) RunServer(ctx context.Context, c sandbox.Command) error {
	s := e.state.Load()
	if s.executor == nil {
		return ErrNoExecutor
	}
	policy, err := e.ServerPolicy()
	if err != nil {
		return err
	}
	r, err := s.executor.Run(ctx, policy, c)
	if err == nil && r.ExitCode != 0 && !r.Canceled {
		err = fmt.Errorf("%s ended with exit code %d", c.Argv[0], r.ExitCode)
	}
	return err
}

// Executor says how commands run, or why they cannot; "" for an engine that was
// opened without Options.Execute.
func (e *Engine) Executor() string {
	if x := e.state.Load().executor; x != nil {
		return x.Choice().String()
	}
	return ""
}

// SandboxPlan returns what the sandbox would do for a command, without doing it.
func (e *Engine) SandboxPlan(ctx context.Context, o ExecOptions) (*sandbox.Plan, error) {
	s := e.state.Load()
	if s.executor == nil {
		return nil, ErrNoExecutor
	}
	policy, err := s.execPolicy(0, o)
	if err != nil {
		return nil, err
	}
	return s.executor.Plan(ctx, policy)
}

func (s *state) execPolicy(timeout time.Duration, o ExecOptions) (*ExecPolicy, error) {
	in := s.policyInput()
	in.Sandbox, in.ReadOnlyRoot, in.Timeout = o.Sandbox, o.ReadOnlyRoot, timeout
	in.Network = !o.Sandbox
	// On the host there is no loopback of the command's own: whoever listens at the
	// proxy's port there is not lictor.
	onHost := s.executor != nil && s.executor.Choice().Executor == sandbox.Host
	in.Proxy = o.Sandbox && s.network.Len() > 0 && !onHost
	return sandbox.NewPolicy(in)
}

// policyInput is what settings and team policy say about running commands.
func (s *state) policyInput() sandbox.Input {
	p, settings := s.config.Places, s.config.Applied.Settings
	in := sandbox.Input{
		Root: s.facts.Guard.RealRoot(), Home: p.Home, StateDir: p.HomeDir, Strict: s.config.Strict,
		EnvAllow:   settings.Env.Allow,
		WritePaths: settings.Sandbox.WritePaths, DenyRead: settings.Sandbox.DenyRead,
		PrivateTmp: settings.Sandbox.PrivateTmp,
		Unreadable: []string{p.AuditDir, p.ApprovalsDir, p.Trust, p.KeysDir},
	}
	if s.facts.Team != nil {
		if deny := s.facts.Team.DeniesPath; s.facts.Team.HasDenyPaths() {
			in.Deny = func(rel string, _ bool) bool { return deny(rel) }
		}
	}
	return in
}

// executor chooses how commands run. In the strict profile, or where the team
// requires the sandbox, a machine without one is an error. A reload keeps the
// executor, which may be running commands, as long as it is what the settings
// ask for.
func (e *Engine) executor(c *config.Config) (*sandbox.Sandbox, error) {
	selection := sandbox.Selection{
		Setting: c.Applied.Settings.Executor, Strict: c.Strict,
		RequireSandbox: c.Policy != nil && c.Policy.RequireSandbox, StateDir: e.places.HomeDir,
	}
	if old := e.state.Load(); old != nil && old.executor != nil {
		choice, err := sandbox.Choose(selection)
		if err != nil {
			return nil, err
		}
		if choice.Executor == old.executor.Choice().Executor {
			return old.executor, nil
		}
	}
	return sandbox.Open(selection)
}
