package lictor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/sandbox"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// Options of Open. The zero value is a project found from the working folder,
// in build mode, with commands that lictor does not confine and nobody to ask.
type Options struct {
	// Root is the project's folder. Empty means the nearest folder with .lictor or
	// .git above Cwd; never the file system's root, the home folder or above it.
	Root string
	// ProjectDir is the agent's own project folder, used if Root is empty.
	ProjectDir string
	// Cwd is where the search for the root starts. Empty means the working folder.
	Cwd string
	// Home is the user's home folder. Empty means the system's word for it.
	Home string
	// ManagedPolicy replaces the machine's team policy file; for tests.
	ManagedPolicy string
	// Settings replaces the project's settings file, for asking what other settings
	// would change. What it loosens needs consent as the project's own does.
	Settings string
	// Bundles are more managed bundles, or folders of them, besides those of the
	// machine's folder and the home folder.
	Bundles []string
	// Mode is build (the default) or plan.
	Mode Mode
	// Isolation is os only if whoever opens the engine runs every allowed command
	// in lictor's OS sandbox. The default is none.
	Isolation Isolation
	// Shell runs the commands, if it is known.
	Shell Shell
	// Unattended says that nobody can answer, and why.
	Unattended string
	// Approver answers questions. Nil means that every question is a denial in
	// Decide; Check never asks.
	Approver Approver
	// Consent asks the user about parts of the project that loosen safety. Nil
	// means that nobody can answer: only what was accepted before applies.
	Consent ConsentFunc
	// Execute makes the engine able to run commands (Engine.Run): it chooses an
	// executor by the settings, and the isolation follows from it, whatever
	// Isolation says.
	Execute bool
	// Observe lets calls pass that the policy would deny or ask about, and records
	// them: for a first rollout. The team policy can turn it on and off; a project
	// cannot. It is announced by a notice and recorded.
	Observe bool
	// Shadow is a candidate policy to ask beside the active one.
	Shadow *Shadow
	// ShortLived is for a process that decides a call or a few and ends, such as a
	// hook: its records go to a segment of the audit log that such processes share.
	ShortLived bool
	// NoRecord keeps the engine from writing to the audit log, for tools that ask
	// about calls which nobody wants to make. The team policy's audit.enabled
	// outranks it.
	NoRecord bool
	// Notify gets notices about trouble while the engine works, one line each, such
	// as an audit log that cannot be written. Nil drops them.
	Notify func(notice string)
}

// Engine decides calls for one project. It is safe for concurrent use.
type Engine struct {
	options Options
	places  config.Places
	policy  *eval.Engine
	session approve.Session
	presets *netguard.PresetCache
	shadow  *Engine
	state   atomic.Pointer[state]
	// retired are executors that a reload replaced: their commands may still run.
	retired []*sandbox.Sandbox
	reload  sync.Mutex
}

// state is everything that a reload replaces, in one step.
type state struct {
	facts  *facts.Context
	config *config.Config
	table  *toolcall.Table
	env    rules.Env
	log    *audit.Log
	// resolved is what network.allow stands for, network the list of it.
	resolved netguard.Resolved
	network  netguard.List
	// bundles are the managed bundles, the built-in baseline among them.
	bundles *bundle.Set
	// executor runs commands; nil if the engine only decides.
	executor *sandbox.Sandbox
}

// Open finds the project, reads its files and the team policy, and compiles the
// policy. An error names the file, key or folder; then nothing may run.
func Open(ctx context.Context, o Options) (*Engine, error) {
	places, err := findPlaces(&o)
	if err != nil {
		return nil, err
	}
	policy, err := eval.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("compiling the policy: %w", err)
	}
	user, err := netguard.CurrentUser()
	if err != nil {
		return nil, fmt.Errorf("reading the user's tool configuration: %w", err)
	}
	user.Home = places.Home
	e := &Engine{options: o, places: places, policy: policy, presets: &netguard.PresetCache{User: user}}
	if err := e.Reload(ctx); err != nil {
		return nil, err
	}
	if err := e.openShadow(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := e.begin(e.state.Load()); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Reload reads every file again. If one cannot be read the engine keeps what it
// had, and the error names the file. Session answers survive.
func (e *Engine) Reload(ctx context.Context) error {
	e.reload.Lock()
	defer e.reload.Unlock()
	old := e.state.Load()
	s, err := load(ctx, e)
	if err != nil {
		return errors.Join(err, e.recordRefusal(old, err))
	}
	if old != nil && old.log != nil && old.audited() == s.audited() {
		s.log = old.log
	} else if s.log, err = e.openLog(s); err != nil {
		return err
	}
	if err := e.recordPolicy(old, s); err != nil {
		return err
	}
	e.state.Store(s)
	if old != nil && old.executor != nil && old.executor != s.executor {
		e.retired = append(e.retired, old.executor)
	}
	if old != nil && old.log != nil && old.log != s.log {
		return old.log.Close()
	}
	return nil
}

// Close ends the engine: it forgets the session's answers and finishes the audit
// log. The error is that of the log's last write.
func (e *Engine) Close() error {
	e.session.Forget()
	if e.shadow != nil {
		if err := e.shadow.Close(); err != nil {
			return err
		}
	}
	e.reload.Lock()
	defer e.reload.Unlock()
	for _, x := range append(e.retired, e.state.Load().executor) {
		if x != nil {
			x.Close()
		}
	}
	if log := e.state.Load().log; log != nil {
		return log.Close()
	}
	return nil
}

// Root returns the project's folder.
func (e *Engine) Root() string { return e.places.Root }

// Notices says what of the project's files was left out or can never match.
func (e *Engine) Notices() []string {
	s := e.state.Load()
	var out []string
	if by, on := s.observing(&e.options); on {
		out = append(out, "OBSERVE MODE: nothing is stopped, only recorded ("+by+")")
	}
	for _, n := range s.config.Applied.Notices {
		out = append(out, n.String())
	}
	return append(out, s.bundles.Notices()...)
}

// Check decides a call by the policy alone: nobody is asked, nothing is run.
// The verdict is valid beside an error too, and then it denies: an [InputError]
// if the call cannot be read, else whatever kept the call from being decided.
func (e *Engine) Check(ctx context.Context, call Call) (Verdict, error) {
	v, c, err := e.check(ctx, &call)
	d := Decided{Verdict: v}
	passed, observed := e.observe(&d, err)
	if recordErr := e.record(&call, c, &d, observed); recordErr != nil {
		return d.Verdict, errors.Join(err, recordErr)
	}
	return passed.Verdict, err
}

// check walks the road: call, targets, facts, verdict.
func (e *Engine) check(ctx context.Context, call *Call) (Verdict, *facts.Call, error) {
	x := e.state.Load().facts
	if err := ctx.Err(); err != nil {
		return facts.ErrorVerdict(err, x.Revision), nil, err
	}
	c, err := e.gather(ctx, call)
	if err != nil {
		return facts.ErrorVerdict(err, x.Revision), c, err
	}
	outcome, err := e.policy.Decide(ctx, &c.Input)
	if err != nil {
		return facts.ErrorVerdict(err, x.Revision), c, err
	}
	v := x.Verdict(c, outcome)
	return v, c, c.InputErr
}

// gather collects the facts of a call, with what the managed bundles say about it.
// The error is that of a path or a bundle set that failed.
func (e *Engine) gather(ctx context.Context, call *Call) (*facts.Call, error) {
	s := e.state.Load()
	c := s.facts.Gather(call)
	if c.Err != nil || c.InputErr != nil {
		return c, c.Err
	}
	found, err := s.bundles.Evaluate(ctx, &c.Input)
	if err != nil {
		return c, fmt.Errorf("asking the managed bundles: %w", err)
	}
	c.Managed(found)
	return c, nil
}

// Decide checks a call and asks the approver if the verdict is to ask. The
// answers session, always and never are remembered as SPEC says. The decision
// is valid beside an error too, and then it is no.
func (e *Engine) Decide(ctx context.Context, call Call) (Decided, error) {
	v, c, err := e.check(ctx, &call)
	d := Decided{Verdict: v, By: v.By, Reason: v.Reason, Allowed: v.Decision == Allow}
	passed, observed := e.observe(&d, err)
	if err == nil && v.Decision == Ask && !observed {
		d, err = e.ask(ctx, c, d)
		passed = d
	}
	if recordErr := e.record(&call, c, &d, observed); recordErr != nil {
		return d, errors.Join(err, recordErr)
	}
	return passed, err
}

// Input returns the document that the policy reads for a call. The error is the
// one that Check gives; the document is valid beside an [InputError].
func (e *Engine) Input(ctx context.Context, call Call) (Input, error) {
	c, err := e.gather(ctx, &call)
	return c.Input, errors.Join(err, c.InputErr)
}

// Explain decides a call as Check does and says how the verdict came about. The
// explanation is valid beside an error too.
func (e *Engine) Explain(ctx context.Context, call Call) (Explanation, error) {
	v, c, err := e.check(ctx, &call)
	if c == nil {
		return Explanation{Verdict: v}, err
	}
	return e.state.Load().facts.Explain(c, v, e.policy.Steps()), err
}

// Visible returns those of the paths that a tool which reads in bulk (a grep, a
// glob, an index) may show: inside the root, not behind a link that leads out,
// and neither sensitive nor denied. Paths that cannot be resolved are left out.
func (e *Engine) Visible(paths []string) []string {
	return e.state.Load().facts.Visible(paths)
}

// Limits returns what the host must enforce: the settings' limits under the team
// policy's caps.
func (e *Engine) Limits() Limits { return e.state.Load().config.Limits }

// CheckModel returns an error if the team policy does not allow the model. The
// error names the list and its file.
func (e *Engine) CheckModel(name string) error {
	return e.state.Load().config.Policy.CheckModel(name)
}

// ErrorVerdict is the denial to give when an engine could not be opened.
func ErrorVerdict(err error) Verdict { return facts.ErrorVerdict(err, "") }

// InputVerdict is the denial to give for input that is no call at all.
func InputVerdict(err error) Verdict { return facts.InputVerdict(err, "") }
