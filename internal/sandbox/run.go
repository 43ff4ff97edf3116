package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Command is one command to run under an ExecPolicy.
type Command struct {
	// Argv is the program and its arguments. A name without "/" is looked up in the
	// policy's PATH, from inside.
	Argv []string
	// Dir is the working folder: the root or below it ("" is the root).
	Dir string
	// Stdin is read by the command; nil is /dev/null. An *os.File that is no terminal
	// is handed over as it is.
	Stdin io.Reader
	// Stdout and Stderr get the output as it comes, whole, besides what is kept.
	Stdout, Stderr io.Writer
	// Terminal gives the command a terminal of its own, joined to this one. Stdin,
	// Stdout and Stderr are then not used, and everything is in Result.Stdout.
	Terminal *Terminal
	// ProxyListener is called with the listening socket of 127.0.0.1:3128 inside the
	// sandbox before the command starts, when the policy asks for the proxy. The
	// callee serves and closes it; it ends by itself with the sandbox.
	ProxyListener func(net.Listener)
}

// Terminal is a person's terminal.
type Terminal struct {
	// In is read raw, Out written to. They may be the same file.
	In, Out *os.File
}

// Result is what came of a command.
type Result struct {
	// ExitCode is the command's own, 128+n after signal n, 127 and 126 if it could
	// not be started.
	ExitCode int `json:"exitCode"`
	// Signal is the number of the signal that ended it, 0 if none.
	Signal int    `json:"signal"`
	Stdout Output `json:"stdout"`
	Stderr Output `json:"stderr"`
	// TimedOut and Canceled say why it was ended from outside.
	TimedOut bool          `json:"timedOut"`
	Canceled bool          `json:"canceled"`
	Duration time.Duration `json:"duration"`
	Executor Executor      `json:"executor"`
	// Isolation is "os", "degraded" or "none".
	Isolation string `json:"isolation"`
	// Violations are what the post-check found; with any, the run has failed
	// whatever its exit code.
	Violations []Violation `json:"violations,omitempty"`
	Notices    []string    `json:"notices,omitempty"`
}

// Failed reports whether the run must be treated as failed.
func (r *Result) Failed() bool {
	return r.ExitCode != 0 || r.TimedOut || r.Canceled || len(r.Violations) > 0
}

// ErrClosed is returned by a Sandbox that was closed.
var ErrClosed = errors.New("sandbox: closed")

// Sandbox runs commands with one executor. It shares nothing with any other:
// closing one ends its own commands and no others. Safe for concurrent use.
type Sandbox struct {
	choice Choice
	mu     sync.Mutex
	closed bool
	stop   map[int]context.CancelFunc
	next   int
	done   sync.WaitGroup
}

// Open chooses an executor (see Choose for the errors) and removes what killed
// runs left behind.
func Open(sel Selection) (*Sandbox, error) {
	c, err := Choose(sel)
	if err != nil {
		return nil, err
	}
	if sel.StateDir != "" {
		_ = Reclaim(sel.StateDir) // every run tries again and says what is wrong
	}
	return &Sandbox{choice: c, stop: map[int]context.CancelFunc{}}, nil
}

// Choice returns the executor and why it was chosen.
func (s *Sandbox) Choice() Choice { return s.choice }

// Close ends every command of this Sandbox and waits for them.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.closed = true
	for _, cancel := range s.stop {
		cancel()
	}
	s.mu.Unlock()
	s.done.Wait()
}

// enter registers a run.
func (s *Sandbox) enter(cancel context.CancelFunc) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ErrClosed
	}
	s.next++
	s.stop[s.next] = cancel
	s.done.Add(1)
	return s.next, nil
}

func (s *Sandbox) leave(id int) {
	s.mu.Lock()
	delete(s.stop, id)
	s.mu.Unlock()
	s.done.Done()
}

// Plan returns what Run would do for a policy, without doing it.
func (s *Sandbox) Plan(ctx context.Context, p *ExecPolicy) (*Plan, error) {
	pl, _, err := makePlan(ctx, p, s.executor(p))
	return pl, err
}

// executor is the chosen one, or the host for a policy that asks for no sandbox.
func (s *Sandbox) executor(p *ExecPolicy) Executor {
	if !p.Sandbox {
		return Host
	}
	return s.choice.Executor
}

func makePlan(ctx context.Context, p *ExecPolicy, e Executor) (*Plan, *Facts, error) {
	f, err := Inspect(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	pl, err := MakePlan(p, f)
	if err != nil {
		return nil, nil, err
	}
	if e != Native && e != Bubblewrap {
		pl.dropPlaceholders()
	}
	pl.Gaps = gaps(e, pl)
	return pl, f, nil
}

// dropPlaceholders is for executors that mount nothing: a placeholder would protect
// nothing there.
func (pl *Plan) dropPlaceholders() {
	pl.Mounts = slices.DeleteFunc(pl.Mounts, func(m Mount) bool { return planned(pl, m.Path) })
	pl.Placeholders = nil
}

// Run runs a command and returns what came of it. A *Result comes with every error
// except those of the preparation: *SetupError (the sandbox could not be built; the
// command did not run), *PathsOverflowError and other errors of the plan, ErrClosed.
// *CommandError means that the program could not be started. Timeout, cancellation
// and violations are no errors; Result says them.
func (s *Sandbox) Run(ctx context.Context, p *ExecPolicy, c Command) (*Result, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("sandbox: empty command")
	}
	e := s.executor(p)
	if p.Strict && e.Isolation() != "os" {
		return nil, &StrictProfileError{Reason: "the command would run in the " + string(e) + " executor; start a new session in which an OS sandbox works"}
	}
	if p.Proxy && c.ProxyListener == nil {
		return nil, errors.New("sandbox: the policy asks for the proxy, but nobody serves it")
	}
	dir, err := workingDir(p, c.Dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id, err := s.enter(cancel)
	if err != nil {
		return nil, err
	}
	defer s.leave(id)
	if e == Host {
		return runHost(ctx, p, c, dir)
	}
	return runConfined(ctx, e, p, c, dir)
}

// workingDir checks that dir is the root or lies below it, links followed.
func workingDir(p *ExecPolicy, dir string) (string, error) {
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return "", fmt.Errorf("exec policy: root: %w", err)
	}
	if dir == "" {
		return root, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("working folder: %w", err)
	}
	if !within(real, root) {
		return "", fmt.Errorf("working folder %q is outside the root %q; a command starts at the root or below it", dir, p.Root)
	}
	return real, nil
}

// runConfined prepares, runs and checks.
func runConfined(ctx context.Context, e Executor, p *ExecPolicy, c Command, dir string) (*Result, error) {
	prep, err := prepare(ctx, e, p)
	if err != nil {
		return nil, err
	}
	res, err := execute(ctx, e, p, prep.plan, c, dir)
	prep.finish(p, res, err == nil || isCommandError(err))
	if res != nil {
		res.Executor, res.Isolation = e, e.Isolation()
		res.Notices = append(append(res.Notices, prep.plan.Notices...), prep.plan.Gaps...)
	}
	return res, err
}

func isCommandError(err error) bool {
	var ce *CommandError
	return errors.As(err, &ce)
}

// prepared is a plan whose traces on the disk exist.
type prepared struct {
	plan   *Plan
	facts  *Facts
	reg    *registration
	dir    *registry
	before *snapshot
}

// maxAttempts bounds how often a plan is made anew because the root changed.
const maxAttempts = 8

func prepare(ctx context.Context, e Executor, p *ExecPolicy) (*prepared, error) {
	dir, err := openRegistry(p.StateDir)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		pl, f, err := makePlan(ctx, p, e)
		if err != nil {
			return nil, err
		}
		if err := pl.makeFolders(p); err != nil {
			return nil, err
		}
		reg, err := dir.hold(pl)
		if errors.Is(err, errStale) && try < maxAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &prepared{plan: pl, facts: f, reg: reg, dir: dir, before: takeSnapshot(e, p, pl, f, reg)}, nil
	}
}

// finish takes back the placeholders and, if the command ran, checks what it left.
func (pr *prepared) finish(p *ExecPolicy, res *Result, ran bool) {
	if err := pr.dir.release(pr.reg); err != nil && res != nil {
		res.Notices = append(res.Notices, err.Error())
	}
	if ran && res != nil {
		res.Violations = append(res.Violations, pr.postcheck(p)...)
	}
}

// makeFolders makes caches and mount points that the plan needs.
func (pl *Plan) makeFolders(p *ExecPolicy) error {
	for _, c := range pl.Create {
		_ = os.MkdirAll(c, 0o700) // if it cannot be made the command cannot either
	}
	if p.PrivateTemp == "" {
		return nil
	}
	if err := makePrivateTemp(p.PrivateTemp); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.PrivateTemp)
	if err != nil {
		return fmt.Errorf("private temp folder: %w", err)
	}
	defer root.Close()
	for _, m := range pl.MountPoints {
		rel, err := filepath.Rel(p.PrivateTemp, m)
		if err != nil {
			return err
		}
		if m[len(m)-1] != '/' {
			if err := mkdirAll(root, filepath.Dir(rel), 0o700); err != nil {
				return fmt.Errorf("private temp folder: %w", err)
			}
			f, err := root.OpenFile(rel, os.O_CREATE|os.O_RDONLY, 0o600)
			if err != nil {
				return fmt.Errorf("private temp folder: %w", err)
			}
			_ = f.Close()
			continue
		}
		if err := mkdirAll(root, rel, 0o700); err != nil {
			return fmt.Errorf("private temp folder: %w", err)
		}
	}
	return nil
}

// mkdirAll never leaves root, whatever links a command has made in it.
func mkdirAll(root *os.Root, rel string, mode os.FileMode) error {
	if fi, err := root.Lstat(rel); err == nil && fi.IsDir() {
		return nil
	}
	return root.MkdirAll(rel, mode)
}
