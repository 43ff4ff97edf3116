package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

func newRules(s *streams) *cobra.Command {
	var flags projectFlags
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List, add, remove, derive and check permission rules",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags.register(cmd)
	cmd.AddCommand(
		newRulesList(s, &flags), newRulesAdd(s, &flags), newRulesRemove(s, &flags),
		newRulesDerive(s, &flags), newRulesLint(s, &flags), newRulesValidate(s, &flags),
	)
	return cmd
}

func newRulesList(s *streams, flags *projectFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every rule, with its file, and whether it applies",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			c, err := config.Load(cmd.Context(), p.places, p.options)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			applies := map[model.Rule]bool{}
			for _, r := range c.Applied.Rules {
				applies[r] = true
			}
			type row struct {
				Effect  model.Effect `json:"effect"`
				Text    string       `json:"text"`
				Source  string       `json:"source"`
				Applies bool         `json:"applies"`
			}
			rows := []row{}
			for _, source := range c.Sources {
				for _, r := range source.Rules {
					rows = append(rows, row{r.Effect, r.Text, r.Source, applies[r]})
				}
			}
			if format == "json" {
				return writeJSON(s.out, rows)
			}
			for _, r := range rows {
				note := ""
				if !r.Applies {
					note = "  (not applied: see `lictor trust show`)"
				}
				fmt.Fprintf(s.out, "%-5s %s  %s%s\n", r.Effect, r.Text, r.Source, note)
			}
			return nil
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

// effectAndRule reads the arguments of add and remove: an effect, "allow" if
// there is none, and the rule.
func effectAndRule(args []string, deny bool) (model.Effect, string, error) {
	effect := model.EffectAllow
	if deny {
		effect = model.EffectDeny
	}
	if len(args) == 1 {
		return effect, args[0], nil
	}
	switch e := model.Effect(args[0]); e {
	case model.EffectAllow, model.EffectDeny:
		if deny && e != model.EffectDeny {
			return "", "", fail(exitUsage, "--deny and %q contradict each other", args[0])
		}
		return e, args[1], nil
	}
	return "", "", fail(exitUsage, "a rule is added to allow or deny, not %q", args[0])
}

func newRulesAdd(s *streams, flags *projectFlags) *cobra.Command {
	var deny, yes bool
	cmd := &cobra.Command{
		Use:   "add [allow|deny] RULE",
		Short: "Add a rule to .lictor/permissions.local.json",
		Example: `  lictor rules add 'Bash(go test *)'
  lictor rules add deny 'Bash(git push *)'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			effect, rule, err := effectAndRule(args, deny)
			if err != nil {
				return err
			}
			parsed, err := rules.Parse(rule, model.SyntaxPermissions, effect, "the command line")
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			perms, options, err := p.permissions()
			if err != nil {
				return err
			}
			for _, w := range rules.Lint([]model.Rule{parsed}, options.Env) {
				switch w.Kind {
				case rules.WarnUnknown, rules.WarnNever:
					return fail(exitUsage, "%s: %s; nothing was added", rule, w.Text)
				case rules.WarnRisky:
					fmt.Fprintln(s.err, "lictor: notice:", rule+":", w.Text)
				}
			}
			return p.rewrite(cmd, s, func() error {
				if effect == model.EffectDeny {
					return perms.AddDeny(rule)
				}
				err := perms.AddAllow(rule)
				var confirmation *rules.RequiresConfirmation
				if errors.As(err, &confirmation) {
					if !yes && !confirm(s, fmt.Sprintf("%s allows every such call; add it?", rule)) {
						return fail(exitUsage, "%v; --yes confirms it", err)
					}
					return perms.AddAllowConfirmed(rule)
				}
				return err
			}, fmt.Sprintf("%s: %s %s", perms.LocalPath(), effect, rule), "added", effect, rule)
		},
	}
	cmd.Flags().BoolVar(&deny, "deny", false, "add a deny rule")
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm a rule that allows very much")
	return cmd
}

// lastRule finds the rule that lictor added last, and that is still there, in the
// audit log.
func (p *project) lastRule(ctx context.Context) ([]string, error) {
	there := map[string]bool{}
	perms, _, err := p.permissions()
	if err != nil {
		return nil, err
	}
	snapshot := perms.Snapshot()
	for _, r := range append(snapshot.Allow, snapshot.Deny...) {
		if r.Source == perms.LocalPath() {
			there[string(r.Effect)+" "+r.Text] = true
		}
	}
	var found []string
	for e, err := range audit.Show(ctx, audit.Dir(p.places.Home, p.places.Root), audit.Filter{Types: []audit.Type{audit.TypePolicy}}) {
		if err != nil || e.Rule == nil || e.Kind != "added" {
			continue
		}
		if there[e.Rule.Effect+" "+e.Rule.Text] {
			found = []string{e.Rule.Effect, e.Rule.Text}
		}
	}
	if found == nil {
		return nil, fail(exitDeny, "%s has no rule that lictor recorded adding", perms.LocalPath())
	}
	return found, nil
}

// recordRule writes down that a rule was added or removed.
func (p *project) recordRule(kind string, effect model.Effect, rule string) error {
	return p.record(audit.Event{
		Type: audit.TypePolicy, Kind: kind, Reason: fmt.Sprintf("%s the %s rule %s by the command line", kind, effect, rule),
		Rule: &model.RuleRef{Text: rule, Effect: string(effect), Source: p.places.LocalPermissions},
	})
}

// record writes an event to the project's audit log.
func (p *project) record(e audit.Event) error {
	log, err := audit.Open(audit.Options{Home: p.places.Home, Root: p.places.Root, Shared: true})
	if err != nil {
		return &exitError{code: exitDeny, err: err}
	}
	if err := errors.Join(log.Record(&e), log.Close()); err != nil {
		return &exitError{code: exitDeny, err: err}
	}
	return nil
}

// rewrite changes the personal rules and keeps the user's consent current.
func (p *project) rewrite(cmd *cobra.Command, s *streams, write func() error, done, kind string, effect model.Effect, rule string) error {
	accepted, err := config.RewriteRules(cmd.Context(), p.places, p.options, write)
	if err != nil {
		var e *exitError
		if errors.As(err, &e) {
			return err
		}
		return &exitError{code: exitDeny, err: err}
	}
	if err := p.recordRule(kind, effect, rule); err != nil {
		return err
	}
	fmt.Fprintln(s.out, done)
	if !accepted {
		fmt.Fprintln(s.err, "lictor: notice: this project loosens things that you have not accepted, so its allow rules do not apply yet: see `lictor trust show`")
	}
	return nil
}

func newRulesRemove(s *streams, flags *projectFlags) *cobra.Command {
	var deny, last bool
	cmd := &cobra.Command{
		Use:   "remove [allow|deny] RULE",
		Short: "Remove a rule from .lictor/permissions.local.json",
		Example: `  lictor rules remove 'Bash(go test *)'
  lictor rules remove --last`,
		Args: cobra.RangeArgs(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last == (len(args) > 0) {
				return fail(exitUsage, "name the rule to remove, or --last for the one that was added last")
			}
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			perms, _, err := p.permissions()
			if err != nil {
				return err
			}
			if last {
				if args, err = p.lastRule(cmd.Context()); err != nil {
					return err
				}
			}
			effect, rule, err := effectAndRule(args, deny)
			if err != nil {
				return err
			}
			return p.rewrite(cmd, s, func() error {
				removed, err := perms.RemoveRule(effect, rule)
				if err == nil && !removed {
					return fail(exitDeny, "%s has no %s rule %s", perms.LocalPath(), effect, rule)
				}
				return err
			}, fmt.Sprintf("%s: removed %s %s", perms.LocalPath(), effect, rule), "removed", effect, rule)
		},
	}
	cmd.Flags().BoolVar(&deny, "deny", false, "remove a deny rule")
	cmd.Flags().BoolVar(&last, "last", false, "the rule that lictor added last, by an answer or by rules add")
	return cmd
}

func newRulesDerive(s *streams, flags *projectFlags) *cobra.Command {
	var (
		calls  callFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "derive",
		Short: "Show the rules that the answers always and never would add for a call",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := calls.check(cmd); err != nil {
				return err
			}
			call, err := calls.one(s)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			env, table, guard, err := p.env()
			if err != nil {
				return err
			}
			x := &facts.Context{Table: table, Guard: guard, Env: env, Mode: model.ModeBuild, Isolation: model.IsolationNone}
			query, err := x.Query(&call)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			out := struct {
				Allow []string `json:"allow"`
				Deny  string   `json:"deny"`
			}{rules.DeriveAllowRules(query, env, nil), rules.DeriveDenyRule(query, env)}
			if format == "json" {
				return writeJSON(s.out, out)
			}
			for _, r := range out.Allow {
				fmt.Fprintln(s.out, "allow", r)
			}
			if len(out.Allow) == 0 {
				fmt.Fprintln(s.out, "no allow rule can be derived from this call")
			}
			if out.Deny != "" {
				fmt.Fprintln(s.out, "deny ", out.Deny)
			}
			return nil
		},
	}
	calls.register(cmd, false)
	formatFlag(cmd, &format)
	return cmd
}

func newRulesLint(s *streams, flags *projectFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "lint",
		Short: "Advise about rules: risky, shadowed, unknown, never matching",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			env, _, _, err := p.env()
			if err != nil {
				return err
			}
			loaded, err := config.Read(cmd.Context(), p.places, p.options)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			var all []model.Rule
			for _, source := range loaded.Sources {
				all = append(all, source.Rules...)
			}
			warnings := rules.Lint(all, env)
			for _, w := range warnings {
				fmt.Fprintln(s.out, w)
			}
			if len(warnings) > 0 {
				return exit(exitDeny)
			}
			fmt.Fprintf(s.out, "%s, nothing to say\n", model.Count(len(all), "rule"))
			return nil
		},
	}
}

func newRulesValidate(s *streams, flags *projectFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check every permission file by itself",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			env, _, _, err := p.env()
			if err != nil {
				return err
			}
			reports := rules.Validate(p.places.Root, rules.Options{Env: env, User: p.places.HomePermissions, System: p.places.ManagedPermissions})
			code := 0
			for _, r := range reports {
				if r.Status == rules.StatusError {
					code = exitDeny
				}
			}
			if format == "json" {
				type row struct {
					Path     string       `json:"path"`
					Status   rules.Status `json:"status"`
					Missing  bool         `json:"missing"`
					Rules    int          `json:"rules"`
					Problems []string     `json:"problems"`
				}
				rows := []row{}
				for _, r := range reports {
					rows = append(rows, row{r.Path, r.Status, r.Missing, r.Rules, append([]string{}, r.Problems...)})
				}
				if err := writeJSON(s.out, rows); err != nil {
					return fail(exitUsage, "writing the reports: %v", err)
				}
				return exit(code)
			}
			for _, r := range reports {
				state := model.Count(r.Rules, "rule")
				if r.Missing {
					state = "not there"
				}
				fmt.Fprintf(s.out, "%-8s %s (%s)\n", r.Status, r.Path, state)
				for _, problem := range r.Problems {
					fmt.Fprintf(s.out, "         %s\n", problem)
				}
			}
			return exit(code)
		},
	}
	formatFlag(cmd, &format)
	return cmd
}
