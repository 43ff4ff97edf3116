package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lictor-policy/lictor"
)

// engineFlags are the flags of every command that opens an engine.
type engineFlags struct {
	root, managed, mode, isolation, unattended, shell string
	bundles                                           []string
	observe                                           bool
	shadow                                            lictor.Shadow
	// noRecord is for commands that ask about calls which nobody wants to make.
	noRecord bool
	// longLived is for commands that decide many calls.
	longLived bool
}

func (f *engineFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.root, "root", "", "the project `folder` (default: the nearest folder with .lictor or .git)")
	fl.StringVar(&f.managed, "managed-policy", "", "team policy `file` to use in place of the system's (for tests)")
	fl.StringArrayVar(&f.bundles, "bundle", nil, "another managed bundle, or a `folder` of them")
	fl.BoolVar(&f.observe, "observe", false, "record what would be denied or asked, and let it pass")
	fl.StringVar(&f.shadow.Settings, "shadow-settings", "", "candidate settings `file` to ask beside the active ones")
	fl.StringVar(&f.shadow.ManagedPolicy, "shadow-policy", "", "candidate team policy `file` to ask beside the active one")
	fl.StringArrayVar(&f.shadow.Bundles, "shadow-bundle", nil, "candidate `bundle` to ask beside the active ones")
	fl.StringVar(&f.mode, "mode", "build", "what the agent is doing: build or plan")
	fl.StringVar(&f.isolation, "isolation", "none", "who confines commands: none, or os if lictor runs them")
	fl.StringVar(&f.unattended, "unattended", "", "nobody can answer: deny what would be asked, for this `reason`")
	fl.StringVar(&f.shell, "shell", "", "the shell that will run commands: bash, zsh or sh (default: not known)")
	complete := func(values ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	_ = cmd.RegisterFlagCompletionFunc("mode", complete("build", "plan"))
	_ = cmd.RegisterFlagCompletionFunc("isolation", complete("none", "os"))
	_ = cmd.RegisterFlagCompletionFunc("shell", complete("bash", "zsh", "sh"))
}

// options checks the flags and turns them into the engine's options.
func (f *engineFlags) options(cmd *cobra.Command, s *streams) (lictor.Options, error) {
	o := lictor.Options{
		Root: f.root, ManagedPolicy: f.managed, Bundles: f.bundles,
		Observe: f.observe, ShortLived: !f.longLived, NoRecord: f.noRecord,
		Mode: lictor.Mode(f.mode), Isolation: lictor.Isolation(f.isolation), Shell: lictor.Shell(f.shell),
	}
	o.Notify = func(notice string) { fmt.Fprintln(s.err, "lictor: notice:", notice) }
	if f.shadow.Settings != "" || f.shadow.ManagedPolicy != "" || len(f.shadow.Bundles) > 0 {
		o.Shadow = &f.shadow
	}
	if cmd.Flags().Changed("unattended") {
		o.Unattended = f.unattended
		if o.Unattended == "" {
			o.Unattended = "nobody is there to answer"
		}
	}
	switch {
	case f.mode != "build" && f.mode != "plan":
		return o, fail(exitUsage, "--mode is build or plan, not %q", f.mode)
	case f.isolation != "none" && f.isolation != "os":
		return o, fail(exitUsage, "--isolation is none or os, not %q", f.isolation)
	case f.shell != "" && f.shell != "bash" && f.shell != "zsh" && f.shell != "sh":
		return o, fail(exitUsage, "--shell is bash, zsh or sh, not %q", f.shell)
	}
	// The flags start at the working folder of this process; an event of an agent
	// brings another one.
	if o.Root != "" {
		root, err := filepath.Abs(o.Root)
		if err != nil {
			return o, fmt.Errorf("--root: %w", err)
		}
		o.Root = root
	}
	return o, nil
}

// lean lets the heap of a process that decides a call and ends grow to 32 MB before
// the first collection: to compile the policy allocates about as much, and to
// collect it in between costs more than the decision.
func lean() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}

// formatFlag is the flag of the commands that print for people or as JSON. Another
// word is a usage error: a script that gets text where it asked for JSON would read
// it wrongly.
func formatFlag(cmd *cobra.Command, format *string) {
	*format = "text"
	cmd.Flags().Var((*formatValue)(format), "format", "output `format`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// formatValue is the value of --format.
type formatValue string

func (f *formatValue) String() string { return string(*f) }
func (f *formatValue) Type() string   { return "string" }
func (f *formatValue) Set(text string) error {
	if text != "text" && text != "json" {
		return errors.New("want text or json")
	}
	*f = formatValue(text)
	return nil
}

// open opens the engine that the flags describe.
func (f *engineFlags) open(ctx context.Context, cmd *cobra.Command, s *streams) (*lictor.Engine, error) {
	o, err := f.options(cmd, s)
	if err != nil {
		return nil, err
	}
	engine, err := openEngine(ctx, s, o)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return engine, nil
}

// openEngine opens an engine and says its notices on standard error.
func openEngine(ctx context.Context, s *streams, o lictor.Options) (*lictor.Engine, error) {
	engine, err := lictor.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, n := range engine.Notices() {
		fmt.Fprintln(s.err, "lictor: notice:", n)
	}
	return engine, nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
