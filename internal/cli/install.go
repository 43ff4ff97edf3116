package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/hook"
	"github.com/lictor-policy/lictor/internal/install"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/sandbox"
)

// installFlags say where an agent's own settings file lies.
type installFlags struct {
	root          string
	project, user bool
}

func (f *installFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.root, "root", "", "the project `folder`, for --project (default: the nearest folder with .lictor or .git)")
	fl.BoolVar(&f.project, "project", false, "the project's settings of the agent")
	fl.BoolVar(&f.user, "user", false, "your settings of the agent, for every project (the default)")
}

func (f *installFlags) options() (install.Scope, install.Options, error) {
	o := install.Options{Getenv: os.Getenv}
	if f.project && f.user {
		return "", o, fail(exitUsage, "--project and --user contradict each other")
	}
	home, cwd, err := whereabouts()
	if err != nil {
		return "", o, err
	}
	o.Home = home
	scope := install.User
	root, err := config.FindRoot(f.root, "", cwd, home)
	if f.project {
		scope = install.Project
		if err != nil {
			return "", o, &exitError{code: exitUsage, err: err}
		}
	}
	if err == nil {
		o.Root = root
	}
	return scope, o, nil
}

// changeFlags are those of the commands that change an agent's settings.
type changeFlags struct {
	installFlags
	ask, warm, dryRun bool
}

func (f *changeFlags) register(cmd *cobra.Command) {
	f.installFlags.register(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the change only")
}

// change does what do does, or with --dry-run only plans it, and shows it.
func (f *changeFlags) change(s *streams, agent string, do, plan func(string, install.Scope, install.Options) (install.Change, error)) error {
	scope, o, err := f.options()
	if err != nil {
		return err
	}
	o.Ask = f.ask
	if f.warm {
		program, err := besides()
		if err != nil {
			return &exitError{code: exitUsage, err: err}
		}
		o.Command = []string{program}
	}
	if f.dryRun {
		do = plan
	}
	change, err := do(agent, scope, o)
	if err != nil {
		return &exitError{code: exitDeny, err: err}
	}
	if !change.Changed() {
		fmt.Fprintf(s.out, "%s: nothing to change\n", change.File)
	} else {
		fmt.Fprint(s.out, change.Diff())
		if f.dryRun {
			fmt.Fprintln(s.out, "nothing was written (--dry-run)")
		}
	}
	for _, n := range change.Notes {
		fmt.Fprintln(s.out, "note:", n)
	}
	return nil
}

func newInstall(s *streams) *cobra.Command {
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Put lictor's hook into an agent's own settings",
		Long: `install adds lictor's hook to the settings file of an agent and keeps everything
else in it byte for byte. Doing it twice changes nothing.

With --daemon the hook is lictor-hook, the small program beside this one: it asks a
daemon that keeps the policy loaded, which it starts itself and which ends by
itself (see lictor serve), and answers in a tenth of the time.

Agents: ` + strings.Join(install.Agents(), ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: install.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			return flags.change(s, args[0], installed, install.Plan)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&flags.ask, "ask", false, "let the agent ask where its contract cannot promise that it does")
	cmd.Flags().BoolVar(&flags.warm, "daemon", false, "let lictor-hook answer, which asks a daemon with warm engines")
	return cmd
}

// installed installs, and notes what doctor would say: that is best said at once.
func installed(agent string, scope install.Scope, o install.Options) (install.Change, error) {
	change, err := install.Install(agent, scope, o)
	if err == nil {
		if st, err := install.Status(agent, scope, o); err == nil {
			change.Notes = append(change.Notes, st.Problems...)
		}
	}
	return change, err
}

// besides is the lictor-hook in the folder of this program.
func besides() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("where lictor is installed is not known: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), "lictor-hook")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return path, fmt.Errorf("there is no program %s: put it beside lictor", path)
	}
	return path, nil
}

func newUninstall(s *streams) *cobra.Command {
	var flags changeFlags
	cmd := &cobra.Command{
		Use:       "uninstall AGENT",
		Short:     "Take lictor's hook out of an agent's own settings",
		Args:      cobra.ExactArgs(1),
		ValidArgs: install.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			return flags.change(s, args[0], install.Uninstall, install.PlanUninstall)
		},
	}
	flags.register(cmd)
	return cmd
}

func newImport(s *streams) *cobra.Command {
	var (
		flags  installFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "import AGENT",
		Short: "Turn an agent's own rules into lictor's, and say what cannot be said",
		Long: `import reads the permission rules of an agent and prints the lictor rules that
say the same, as a permission file, with a report on standard error. Nothing is
written: look at them, then put them where you want them.

Agents: ` + strings.Join(install.Importable(), ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: install.Importable(),
		RunE: func(_ *cobra.Command, args []string) error {
			scope, o, err := flags.options()
			if err != nil {
				return err
			}
			found, report, err := install.Import(args[0], scope, o)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if format == "json" {
				return writeJSON(s.out, map[string]any{"rules": found, "report": report})
			}
			lists := map[string][]string{
				"allow": append([]string{}, found.Allow...), "ask": append([]string{}, found.Ask...), "deny": append([]string{}, found.Deny...),
			}
			if err := writeIndented(s.out, map[string]any{"permissions": lists}); err != nil {
				return fail(exitUsage, "writing the rules: %v", err)
			}
			for _, f := range report.Files {
				fmt.Fprintln(s.err, "read", f)
			}
			if len(report.Files) == 0 {
				other := map[install.Scope]string{install.User: "--project reads the project's", install.Project: "without --project, yours are read"}[scope]
				fmt.Fprintf(s.err, "%s has no file with rules there; %s\n", args[0], other)
			}
			fmt.Fprintf(s.err, "%s taken, %d left out\n", model.Count(len(report.Taken), "rule"), len(report.Left))
			for _, t := range report.Taken {
				if t.Why != "" {
					fmt.Fprintf(s.err, "  taken: %s (%s): %s\n", t.From, t.File, t.Why)
				}
			}
			for _, l := range report.Left {
				fmt.Fprintf(s.err, "  left out: %s (%s): %s\n", l.From, l.File, l.Why)
			}
			for _, n := range report.Notes {
				fmt.Fprintln(s.err, "note:", n)
			}
			return nil
		},
	}
	flags.register(cmd)
	formatFlag(cmd, &format)
	return cmd
}

func newDoctor(s *streams) *cobra.Command {
	var (
		flags  installFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what isolation this machine has, and whether agents' hooks hold",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := sandbox.Diagnose()
			_, o, err := flags.options()
			if err != nil {
				return err
			}
			states, bad := hookStates(cmd.Context(), o)
			if format == "json" {
				if err := writeJSON(s.out, map[string]any{"isolation": d, "hooks": states}); err != nil {
					return fail(exitUsage, "writing the diagnosis: %v", err)
				}
			} else {
				fmt.Fprint(s.out, d)
				for _, st := range states {
					word := "ok"
					if !st.OK() {
						word = "NOT OK"
					}
					fmt.Fprintf(s.out, "hook       %s (%s): %s, %s\n", st.Agent, st.Scope, word, st.File)
					for _, p := range append(st.Problems, st.Notes...) {
						fmt.Fprintf(s.out, "  %s\n", p)
					}
				}
				if len(states) == 0 {
					fmt.Fprintln(s.out, "hook       none is installed: `lictor install AGENT`")
				}
			}
			if bad {
				return fail(exitDeny, "a hook that is installed does not hold")
			}
			return nil
		},
	}
	flags.register(cmd)
	formatFlag(cmd, &format)
	return cmd
}

// hookStates looks at every installed hook, and makes each refuse a canary: a
// call that any policy denies.
func hookStates(ctx context.Context, o install.Options) (states []install.State, bad bool) {
	for _, agent := range install.Agents() {
		for _, scope := range []install.Scope{install.User, install.Project} {
			if scope == install.Project && o.Root == "" {
				continue
			}
			st, err := install.Status(agent, scope, o)
			if err != nil {
				st.Agent, st.Scope = agent, scope
				st.Problems = append(st.Problems, err.Error())
			} else if !st.Installed && len(st.Problems) == 0 {
				continue
			}
			if st.Installed && st.Resolves {
				if err := canary(ctx, agent, o.Root, st.Args); err != nil {
					st.Problems = append(st.Problems, err.Error())
				}
				if o.Root == "" {
					st.Notes = append(st.Notes, "no project here, so the hook denies every call here: run doctor in a project's folder")
				}
				if !ownProgram(st.Program) {
					st.Notes = append(st.Notes, fmt.Sprintf("%s is not of this lictor: it was not tried whether that one denies", st.Program))
				}
			}
			bad = bad || !st.OK()
			states = append(states, st)
		}
	}
	return states, bad
}

// ownProgram reports whether an installed program is this one or the lictor-hook
// beside it. No other is started: a project's file can name any.
func ownProgram(program string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	installed, err := os.Stat(program)
	if err != nil {
		return false
	}
	client, _ := besides()
	for _, name := range []string{self, client} {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, installed) {
			return true
		}
	}
	return false
}

// canary answers a call that must be denied, as the hook with these options would.
func canary(ctx context.Context, agent, root string, options []string) error {
	text, err := hook.Canary(agent, root)
	if err != nil {
		return err
	}
	var out, errOut strings.Builder
	Main(append([]string{"hook", agent}, options...), strings.NewReader(string(text)), &out, &errOut)
	dialect, err := hook.Find(agent)
	if err != nil {
		return err
	}
	reply := hook.Reply{Stdout: []byte(out.String()), Stderr: []byte(errOut.String())}
	command := strings.Join(append([]string{"lictor hook", dialect.Name()}, options...), " ")
	switch said := strings.TrimSpace(out.String() + errOut.String()); {
	case !hook.Denies(reply):
		return fmt.Errorf("a call that must be denied was not denied by `%s`: %s", command, said)
	case root == "":
		// Outside of a project every call is denied, whatever the hook is worth.
	case !hook.Decided(reply):
		return fmt.Errorf("`%s` blocks every call: %s", command, said)
	}
	return ctx.Err()
}
