package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// change is one recorded call that the other policy decides differently.
type change struct {
	Time   string          `json:"ts"`
	Tool   string          `json:"tool"`
	Args   string          `json:"args"`
	Before string          `json:"before"`
	After  string          `json:"after"`
	By     string          `json:"by"`
	Reason string          `json:"reason"`
	Looser bool            `json:"looser"`
	Exact  bool            `json:"exact"`
	Rule   *lictor.RuleRef `json:"rule"`
}

func newAuditReplay(s *streams, flags *auditFlags) *cobra.Command {
	var (
		filter   filterFlags
		settings string
		managed  string
		bundles  []string
		format   string
	)
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Decide recorded calls by another policy and show what would change",
		Long: `replay reads the recorded calls and decides them again: by the project as it is
now, with another settings file (--settings) or another team policy
(--managed-policy). Nothing is run, asked or recorded. The settings file counts as
accepted. The exit code is 1 if something becomes looser.

Secrets were removed from the record, and a call that was too long is not whole:
such rows are marked, because the other policy did not see the very call.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.places()
			if err != nil {
				return err
			}
			dir, f, err := flags.chosen(&filter)
			if err != nil {
				return err
			}
			r := &replayer{options: lictor.Options{
				Root: p.Root, Home: p.Home, ManagedPolicy: managed, Settings: settings, Bundles: bundles, NoRecord: true,
			}}
			if settings != "" {
				r.options.Consent = func(context.Context, lictor.ConsentRequest) (lictor.Answer, error) {
					return lictor.AnswerOnce, nil
				}
			}
			defer r.close()
			changes, total := []change{}, 0
			for call, err := range audit.Calls(cmd.Context(), dir, f) {
				var line *audit.LineError
				if errors.As(err, &line) {
					fmt.Fprintln(s.err, "lictor:", err)
					continue
				}
				if err != nil {
					return &exitError{code: exitDeny, err: err}
				}
				total++
				c, err := r.replay(cmd, call)
				if err != nil {
					return &exitError{code: exitUsage, err: err}
				}
				if c != nil {
					changes = append(changes, *c)
				}
			}
			looser := slices.ContainsFunc(changes, func(c change) bool { return c.Looser })
			if format == "json" {
				if err := writeJSON(s.out, map[string]any{"calls": total, "changes": changes}); err != nil {
					return fail(exitUsage, "writing the changes: %v", err)
				}
			} else {
				for _, c := range changes {
					word := "stricter"
					if c.Looser {
						word = "LOOSER"
					}
					mark := ""
					if !c.Exact {
						mark = " (not the whole call)"
					}
					fmt.Fprintf(s.out, "%-8s %s -> %-5s %s %s%s\n         %s\n", word, c.Before, c.After,
						pathguard.Escape(c.Tool), pathguard.Escape(c.Args), mark, c.Reason)
				}
				fmt.Fprintf(s.out, "%d calls, %d would be decided differently\n", total, len(changes))
			}
			if looser {
				return exit(exitDeny)
			}
			return nil
		},
	}
	filter.register(cmd)
	cmd.Flags().StringVar(&settings, "settings", "", "settings `file` to use in place of the project's")
	cmd.Flags().StringVar(&managed, "managed-policy", "", "team policy `file` to use in place of the machine's")
	cmd.Flags().StringArrayVar(&bundles, "bundle", nil, "another managed bundle, or a `folder` of them")
	formatFlag(cmd, &format)
	return cmd
}

// replayer keeps one engine for each mode and isolation that calls were decided
// under.
type replayer struct {
	options lictor.Options
	engines map[lictor.Isolation]*lictor.Engine
}

func (r *replayer) close() {
	for _, e := range r.engines {
		_ = e.Close() // it records nothing
	}
}

func (r *replayer) replay(cmd *cobra.Command, call *audit.RecordedCall) (*change, error) {
	isolation := call.Isolation
	if isolation == "" {
		isolation = lictor.IsolationNone
	}
	e := r.engines[isolation]
	if e == nil {
		o := r.options
		o.Isolation = isolation
		var err error
		if e, err = lictor.Open(cmd.Context(), o); err != nil {
			return nil, err
		}
		if r.engines == nil {
			r.engines = map[lictor.Isolation]*lictor.Engine{}
		}
		r.engines[isolation] = e
	}
	// A denial for an input or path error is a verdict like any other.
	v, _ := e.Check(cmd.Context(), call.Call)
	if v.Decision == call.Decision {
		return nil, nil
	}
	args := string(call.Call.Args)
	if len(args) > 120 {
		args = args[:120] + "…"
	}
	return &change{
		Time: call.Event.Time.Format("2006-01-02T15:04:05Z07:00"), Tool: call.Call.Tool, Args: args,
		Before: string(call.Decision), After: string(v.Decision), By: v.By, Reason: v.Reason, Rule: v.Rule,
		Looser: strictness[v.Decision] < strictness[call.Decision],
		Exact:  call.Exact && !call.Redacted,
	}, nil
}

// strictness orders decisions.
var strictness = map[lictor.Decision]int{lictor.Allow: 0, lictor.Ask: 1, lictor.Deny: 2}
