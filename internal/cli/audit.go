package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// exitUnreadable is what audit verify ends with when it cannot read the log or what
// it is to be held against. The code of a usage error means a torn line there.
const exitUnreadable = 4

// auditFlags say which log a command is about.
type auditFlags struct{ root, dir string }

func newAudit(s *streams) *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read, verify and export the audit log",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	fl := cmd.PersistentFlags()
	fl.StringVar(&flags.root, "root", "", "the project `folder` that the log is about")
	fl.StringVar(&flags.dir, "dir", "", "the log's own `folder`, in place of --root")
	cmd.AddCommand(
		newAuditShow(s, &flags), newAuditStats(s, &flags), newAuditVerify(s, &flags),
		newAuditHead(s, &flags), newAuditAck(s, &flags), newAuditExport(s, &flags), newAuditReplay(s, &flags),
	)
	return cmd
}

// places finds the project that the log is about.
func (f *auditFlags) places() (config.Places, error) {
	home, root, err := findRoot(f.root)
	if err != nil {
		return config.Places{}, err
	}
	return config.FindPlaces(root, home), nil
}

// folder is the log's folder.
func (f *auditFlags) folder() (string, error) {
	if f.dir != "" {
		// An empty log holds; a folder that is misspelt must not.
		switch info, err := os.Stat(f.dir); {
		case errors.Is(err, fs.ErrNotExist):
			return "", fail(exitUsage, "--dir %s does not exist", f.dir)
		case err != nil:
			return "", &exitError{code: exitUsage, err: err}
		case !info.IsDir():
			return "", fail(exitUsage, "--dir %s is a file: name the folder that holds the log's files", f.dir)
		}
		return f.dir, nil
	}
	p, err := f.places()
	if err != nil {
		return "", err
	}
	return audit.Dir(p.Home, p.Root), nil
}

// filterFlags choose events.
type filterFlags struct {
	denials, system                         bool
	since, until                            string
	tools, classes, risks, agents           []string
	callID, segment, contains, types, limit string
}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.denials, "denials", false, "denials only")
	fl.BoolVar(&f.system, "system", false, "the log's own events too")
	fl.StringVar(&f.since, "since", "", "events since a `time` (RFC 3339, or an age such as 2h)")
	fl.StringVar(&f.until, "until", "", "events before a `time`")
	fl.StringSliceVar(&f.tools, "tool", nil, "events about these `tools` (may end in *)")
	fl.StringSliceVar(&f.classes, "decision", nil, "events of these `classes` (deny_rule, allow_*)")
	fl.StringSliceVar(&f.risks, "risk", nil, "events of these `risks`: low, medium, high, critical")
	fl.StringSliceVar(&f.agents, "agent", nil, "events of these `agents`")
	fl.StringVar(&f.types, "type", "", "events of one `type` (verdict, result, …)")
	fl.StringVar(&f.callID, "call", "", "events of the call with this `id`")
	fl.StringVar(&f.segment, "segment", "", "events of the segment with this `id`")
	fl.StringVar(&f.contains, "contains", "", "lines that hold this `text`")
	fl.StringVar(&f.limit, "limit", "", "the last `n` events")
}

func (f *filterFlags) filter() (audit.Filter, error) {
	out := audit.Filter{
		Denials: f.denials, System: f.system, Tools: f.tools, Agents: f.agents,
		CallID: f.callID, Segment: f.segment, Contains: f.contains,
	}
	for _, c := range f.classes {
		out.Classes = append(out.Classes, audit.Class(c))
	}
	for _, r := range f.risks {
		out.Risks = append(out.Risks, audit.Risk(r))
	}
	if f.types != "" {
		out.Types = []audit.Type{audit.Type(f.types)}
	}
	err := out.Check()
	if err != nil {
		return out, &exitError{code: exitUsage, err: err}
	}
	if out.Since, err = moment("since", f.since); err != nil {
		return out, err
	}
	if out.Until, err = moment("until", f.until); err != nil {
		return out, err
	}
	if f.limit != "" {
		var n int
		if _, err := fmt.Sscan(f.limit, &n); err != nil || n < 0 {
			return out, fail(exitUsage, "--limit is a number of events, not %q", f.limit)
		}
		out.Limit = &n
	}
	return out, nil
}

// chosen are the log's folder and which of its events a command is about.
func (f *auditFlags) chosen(filter *filterFlags) (string, audit.Filter, error) {
	dir, err := f.folder()
	if err != nil {
		return "", audit.Filter{}, err
	}
	out, err := filter.filter()
	return dir, out, err
}

func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fail(exitUsage, "--%s %q is neither a time (2026-01-31T15:04) nor an age (2h)", flag, text)
}

func newAuditShow(s *streams, flags *auditFlags) *cobra.Command {
	var (
		filter filterFlags
		follow bool
		format string
	)
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show events, oldest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, f, err := flags.chosen(&filter)
			if err != nil {
				return err
			}
			events := audit.Show(cmd.Context(), dir, f)
			if follow {
				events = audit.Follow(cmd.Context(), dir, f)
			}
			out := bufio.NewWriter(s.out)
			damaged := false
			for e, err := range events {
				var line *audit.LineError
				switch {
				case errors.As(err, &line):
					damaged = true
					fmt.Fprintln(s.err, "lictor:", err)
				case err != nil:
					return &exitError{code: exitDeny, err: err}
				case format == "json":
					if err := writeJSON(out, e); err != nil {
						return fail(exitUsage, "writing an event: %v", err)
					}
				default:
					printEvent(out, e)
				}
				if follow {
					if err := out.Flush(); err != nil {
						return fail(exitUsage, "writing an event: %v", err)
					}
				}
			}
			if err := out.Flush(); err != nil {
				return fail(exitUsage, "writing events: %v", err)
			}
			if damaged {
				return fail(exitDeny, "some lines cannot be read: `lictor audit verify` says what is wrong with them")
			}
			return nil
		},
	}
	filter.register(cmd)
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what is written")
	formatFlag(cmd, &format)
	return cmd
}

// printEvent prints an event on one line for people. What came from an agent is
// shown with control characters made visible.
func printEvent(w io.Writer, e *audit.Event) {
	what := e.Target
	if what == "" && len(e.Args) > 0 {
		what = string(e.Args)
	}
	if len(what) > 100 {
		what = strings.ToValidUTF8(what[:100], "") + "…"
	}
	class := string(e.Class)
	if class == "" {
		class = "-"
	}
	tool := e.Tool
	if tool == "" {
		tool = "-"
	}
	fmt.Fprintf(w, "%s  %-8s %-15s %-8s %-12s %s", e.Time.Local().Format("2006-01-02 15:04:05"),
		e.Type, class, e.Risk, pathguard.Escape(tool), pathguard.Escape(what))
	if e.Answer != "" {
		fmt.Fprintf(w, "  answer: %s", e.Answer)
	}
	if e.Reason != "" && !e.Class.Allowed() {
		fmt.Fprintf(w, "  (%s)", pathguard.Escape(e.Reason))
	}
	if e.Error != "" {
		fmt.Fprintf(w, "  error: %s", pathguard.Escape(e.Error))
	}
	if s := e.Shadow; s != nil {
		word := "otherwise"
		if s.Looser {
			word = "LOOSER"
		}
		fmt.Fprintf(w, "  %s by %s: %s", word, pathguard.Escape(s.Policy), pathguard.Escape(string(s.Class)))
	}
	fmt.Fprintln(w)
}

func newAuditStats(s *streams, flags *auditFlags) *cobra.Command {
	var (
		filter filterFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count decisions by class, risk, tool and agent",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, f, err := flags.chosen(&filter)
			if err != nil {
				return err
			}
			stats, err := audit.CountStats(cmd.Context(), dir, f)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if format == "json" {
				return writeJSON(s.out, stats)
			}
			fmt.Fprintf(s.out, "%d decisions: %d allowed, %d denied, %d asked\n", stats.Total, stats.Allowed, stats.Denied, stats.Asked)
			fmt.Fprintf(s.out, "%d stopped by team policy, %d of critical risk\n", stats.PolicyBlocked, stats.CriticalCount)
			fmt.Fprintf(s.out, "%d executions: %d failed, %d unfinished\n", stats.Executions, stats.Failed, stats.Unfinished)
			for _, key := range sortedKeys(stats.ByClass) {
				fmt.Fprintf(s.out, "  %-18s %d\n", key, stats.ByClass[key])
			}
			if stats.Lost > 0 || stats.Damaged > 0 || stats.Conflicts > 0 {
				fmt.Fprintf(s.out, "trouble: %s lost, %s damaged, %s: see `lictor audit verify`\n", model.Count(stats.Lost, "event"), model.Count(stats.Damaged, "line"), model.Count(stats.Conflicts, "conflict"))
			}
			return nil
		},
	}
	filter.register(cmd)
	formatFlag(cmd, &format)
	return cmd
}

// verifyFlags say what a log is held against.
type verifyFlags struct {
	keys, anchors []string
	strict        bool
}

func (f *verifyFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.keys, "key", nil, "public `key` that checkpoints must be signed with")
	fl.StringArrayVar(&f.anchors, "anchors", nil, "`file` with the output of `lictor audit head`, kept elsewhere")
	fl.BoolVar(&f.strict, "strict", false, "decode every line too, and refuse unknown members (slower)")
}

func (f *verifyFlags) options() (audit.VerifyOptions, error) {
	o := audit.VerifyOptions{Keys: f.keys, Strict: f.strict}
	for _, name := range f.anchors {
		file, err := os.Open(name)
		if err != nil {
			return o, &exitError{code: exitUsage, err: err}
		}
		anchors, err := audit.ParseAnchors(file)
		file.Close()
		if err != nil {
			return o, fail(exitUsage, "%s: %v", name, err)
		}
		o.Anchors = append(o.Anchors, anchors...)
	}
	return o, nil
}

func newAuditVerify(s *streams, flags *auditFlags) *cobra.Command {
	var (
		verify  verifyFlags
		require bool
		format  string
	)
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is whole and unchanged",
		Long: `verify checks every chain over its exact bytes, the links between files, the
checkpoints and the anchors. It changes nothing. Exit codes: 0 ok or unanchored,
1 tampered, 2 truncated, 3 torn, 4 unreadable, or a flag that is wrong,
5 unanchored with --require-anchor, 6 missing, 7 conflict.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := flags.folder()
			if err != nil {
				return &exitError{code: exitUnreadable, err: err}
			}
			o, err := verify.options()
			if err != nil {
				return &exitError{code: exitUnreadable, err: err}
			}
			if f, ok := s.err.(*os.File); ok && isTerminal(f) {
				o.Progress = func(done, total int64) { fmt.Fprintf(s.err, "\r%3d %% of %d bytes", done*100/max(total, 1), total) }
				defer fmt.Fprintln(s.err)
			}
			report, err := audit.Verify(cmd.Context(), dir, o)
			if err != nil {
				return &exitError{code: exitUnreadable, err: err}
			}
			if format == "json" {
				if err := writeJSON(s.out, report); err != nil {
					return fail(exitUsage, "writing the report: %v", err)
				}
				return exit(report.ExitCode(require))
			}
			fmt.Fprintln(s.out, report)
			for _, f := range report.Findings {
				fmt.Fprintf(s.out, "  %s  %s", f.Status, f.File)
				if f.Line > 0 {
					fmt.Fprintf(s.out, " line %d", f.Line)
				}
				fmt.Fprintf(s.out, ": %s\n", f.Why)
			}
			for _, n := range report.Notes {
				fmt.Fprintf(s.out, "  note: %s\n", n)
			}
			return exit(report.ExitCode(require))
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fail(exitUnreadable, "%v; see `%s --help`", err, cmd.CommandPath())
	})
	verify.register(cmd)
	cmd.Flags().BoolVar(&require, "require-anchor", false, "fail if neither checkpoint nor anchor says how long the log was")
	formatFlag(cmd, &format)
	return cmd
}

func newAuditHead(s *streams, flags *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "head",
		Short: "Print where the log ends now, to be kept where its writer cannot reach",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := flags.folder()
			if err != nil {
				return err
			}
			anchors, err := audit.Head(dir, nil)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			for _, a := range anchors {
				fmt.Fprintln(s.out, a)
			}
			return nil
		},
	}
}

func newAuditAck(s *streams, flags *auditFlags) *cobra.Command {
	var (
		verify   verifyFlags
		who, why string
		yes      bool
	)
	cmd := &cobra.Command{
		Use:   "ack --who NAME --why TEXT",
		Short: "Record that a person has seen what verify finds",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if who == "" || why == "" {
				return fail(exitUsage, "--who and --why are recorded, so both are needed")
			}
			if flags.dir != "" {
				return fail(exitUsage, "ack writes into a project's log: name the project with --root, not --dir")
			}
			p, err := flags.places()
			if err != nil {
				return err
			}
			o, err := verify.options()
			if err != nil {
				return err
			}
			if !yes && !confirm(s, "record that you have seen what `lictor audit verify` finds?") {
				return fail(exitDeny, "nothing was acknowledged")
			}
			found, err := audit.Ack(cmd.Context(), audit.Options{Home: p.Home, Root: p.Root, Shared: true}, o, who, why)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "%d findings acknowledged\n", len(found))
			return nil
		},
	}
	verify.register(cmd)
	cmd.Flags().StringVar(&who, "who", "", "your `name`")
	cmd.Flags().StringVar(&why, "why", "", "why this is all right")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func newAuditExport(s *streams, flags *auditFlags) *cobra.Command {
	var (
		filter filterFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write events as JSON lines, or as events of OPA's decision log",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, f, err := flags.chosen(&filter)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(s.out)
			damaged := 0
			_, err = audit.Export(cmd.Context(), out, dir, f, audit.ExportFormat(format), func(err error) {
				damaged++
				fmt.Fprintln(s.err, "lictor:", err)
			})
			if err == nil {
				err = out.Flush()
			}
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if damaged > 0 {
				return fail(exitDeny, "%s cannot be read: left out", model.Count(damaged, "line"))
			}
			return nil
		},
	}
	filter.register(cmd)
	cmd.Flags().StringVar(&format, "format", string(audit.FormatJSONL), "`format`: jsonl or opa")
	return cmd
}

// sortedKeys returns the keys of a count, the largest first.
func sortedKeys[K ~string](counts map[K]int) []K {
	keys := make([]K, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(string(a), string(b))
	})
	return keys
}
