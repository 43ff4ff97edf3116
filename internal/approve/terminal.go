package approve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/lictor-policy/lictor/internal/model"
)

// settle is how long keys are dropped after a question appeared: who was typing
// at that moment meant something else.
const settle = 400 * time.Millisecond

// patience is how long a question whose time is up may take to put the screen
// back before it is ended the hard way.
const patience = 2 * time.Second

// The smallest window that the full screen needs; a smaller one gets lines.
const (
	minWidth  = 20
	minHeight = 8
)

// TerminalOptions are the options of NewTerminal.
type TerminalOptions struct {
	// Plain asks in plain lines even where the terminal could do more.
	Plain bool
	// NoColour leaves colours out. The NO_COLOR variable does the same.
	NoColour bool
	// LockFile is the absolute path of a file that keeps several processes from
	// asking at once on the same terminal; its folder must be the user's own. ""
	// means that no other process asks.
	LockFile string
	// Environ is the environment that describes the terminal; nil means that of
	// the process.
	Environ []string
}

// Terminal asks on the terminal of the process, which it opens itself: standard
// input and output may belong to somebody else. One question at a time; others
// wait their turn.
type Terminal struct {
	options TerminalOptions
	turn    chan struct{}
	now     func() time.Time
}

// NewTerminal returns an approver for the terminal of the process.
func NewTerminal(options TerminalOptions) *Terminal {
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	return &Terminal{options: options, turn: make(chan struct{}, 1), now: time.Now}
}

// Ask implements model.Approver.
func (t *Terminal) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := t.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier. The error wraps ErrNoTerminal if there is
// no terminal or the process is in its background; it is ErrTimeout or
// ErrWithdrawn when the context ends, and a signal that would end the process
// withdraws the question too. Whatever happens, the screen is put back as it was.
func (t *Terminal) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return denied, cancelled(ctx)
	}
	release, err := t.lock(ctx)
	if err != nil {
		return denied, err
	}
	defer release()
	tty, err := openTerminal()
	if err != nil {
		return denied, fmt.Errorf("%w: %w", ErrNoTerminal, err)
	}
	defer tty.close()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if ctx.Err() != nil {
		return denied, cancelled(ctx)
	}
	before, err := term.GetState(int(tty.in.Fd()))
	if err != nil {
		return denied, fmt.Errorf("%w: %w", ErrNoTerminal, err)
	}
	defer func() { _ = term.Restore(int(tty.in.Fd()), before) }()
	tty.flush()
	var reply model.Reply
	if t.capable(tty) {
		reply, err = t.screen(ctx, tty, &request)
	} else {
		reply, err = t.lines(ctx, tty, &request)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = cancelled(ctx)
		}
		return denied, err
	}
	reply.By, reply.From = Whoami("terminal " + tty.name)
	reply.At = time.Now()
	return Checked(&request, reply)
}

// lock waits until no other process asks.
func (t *Terminal) lock(ctx context.Context) (func(), error) {
	if t.options.LockFile == "" {
		return func() {}, nil
	}
	for {
		l, err := takeLock(t.options.LockFile)
		if err != nil {
			return nil, err
		}
		if l != nil {
			return l.release, nil
		}
		select {
		case <-ctx.Done():
			return nil, cancelled(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// capable reports whether the terminal can show a full screen.
func (t *Terminal) capable(tty *terminal) bool {
	kind := t.env("TERM")
	if t.options.Plain || kind == "dumb" || kind == "" && !windowsConsole {
		return false
	}
	width, height, err := term.GetSize(int(tty.out.Fd()))
	return err == nil && width >= minWidth && height >= minHeight
}

func (t *Terminal) env(name string) string {
	for _, entry := range t.options.Environ {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

func (t *Terminal) colour() bool { return !t.options.NoColour && t.env("NO_COLOR") == "" }

// screen asks on the full screen.
func (t *Terminal) screen(ctx context.Context, tty *terminal, request *model.Request) (model.Reply, error) {
	s := newScreen(request, t.colour())
	s.now = t.now
	s.deadline, _ = ctx.Deadline()
	// The library does not wait for its own reader when its context ends, and
	// closes what that one still reads. So the end of ctx asks it to quit like a
	// key does, and only a program that does not is killed.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	program := tea.NewProgram(guard{s},
		tea.WithContext(life), tea.WithInput(tty.in), tea.WithOutput(tty.out),
		tea.WithEnvironment(t.options.Environ), tea.WithoutSignalHandler(), tea.WithFPS(30))
	defer context.AfterFunc(ctx, func() {
		late := time.AfterFunc(patience, kill)
		defer late.Stop()
		program.Quit()
		<-life.Done()
	})()
	_, err := program.Run()
	switch {
	case s.failed != nil:
		return denied, s.failed
	case s.done:
		return s.reply, nil
	case err != nil:
		return denied, fmt.Errorf("asking on the terminal: %w", err)
	}
	return denied, errors.New("asking on the terminal: it ended without an answer")
}

// guard turns a panic of the screen into an error, so that the program ends in
// order and the terminal is put back.
type guard struct{ *screen }

func (g guard) caught() {
	if r := recover(); r != nil {
		g.failed = fmt.Errorf("the question failed: %v", r)
	}
}

// Init implements tea.Model.
func (g guard) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (g guard) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if g.failed != nil {
			next, cmd = g, tea.Quit
		}
	}()
	defer g.caught()
	return g, g.update(msg)
}

// View implements tea.Model.
func (g guard) View() (view tea.View) {
	defer g.caught()
	view.AltScreen = true
	view.WindowTitle = "lictor asks"
	if g.failed == nil {
		view.Content = g.view()
	}
	return view
}
