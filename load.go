package lictor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// findPlaces fixes the root and says where all files lie. It fills the options'
// defaults.
func findPlaces(o *Options) (config.Places, error) {
	var err error
	if o.Home == "" {
		if o.Home, err = config.HomeFolder(); err != nil {
			return config.Places{}, err
		}
	}
	if o.Cwd == "" {
		if o.Cwd, err = os.Getwd(); err != nil {
			return config.Places{}, fmt.Errorf("working folder unknown: %w", err)
		}
	}
	root, err := config.FindRoot(o.Root, o.ProjectDir, o.Cwd, o.Home)
	if err != nil {
		return config.Places{}, err
	}
	if o.ManagedPolicy != "" {
		if o.ManagedPolicy, err = filepath.Abs(o.ManagedPolicy); err != nil {
			return config.Places{}, fmt.Errorf("managed policy: %w", err)
		}
	}
	if o.Mode == "" {
		o.Mode = ModeBuild
	}
	if o.Isolation == "" {
		o.Isolation = IsolationNone
	}
	if o.Settings != "" {
		if o.Settings, err = filepath.Abs(o.Settings); err != nil {
			return config.Places{}, fmt.Errorf("settings: %w", err)
		}
	}
	return config.FindPlaces(root, o.Home).WithManagedPolicy(o.ManagedPolicy).WithSettings(o.Settings), nil
}

// load reads all files and builds what decides from them.
func load(ctx context.Context, e *Engine) (*state, error) {
	set, layers, err := loadBundles(ctx, e, false)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(ctx, e.places, config.Options{Rego: e.policy, Ask: e.options.Consent, Bundles: layers, Hosts: e.presets.Hosts})
	if err != nil {
		return nil, err
	}
	if c.Strict {
		// The strict profile takes signed bundles only.
		if set, _, err = loadBundles(ctx, e, true); err != nil {
			return nil, err
		}
	}
	s := &state{config: c, bundles: set}
	if by, on := s.observing(&e.options); on && c.Strict {
		return nil, fmt.Errorf("observe mode (%s) and the strict profile (%s) contradict each other: turn one of them off", by, c.StrictBy)
	}
	if s.table, err = builtinTable(); err != nil {
		return nil, err
	}
	if tools := c.Applied.Settings.Tools; len(tools) > 0 {
		if s.table, err = s.table.With(tools, e.places.Settings); err != nil {
			return nil, err
		}
	}
	guard, err := pathguard.New(e.places.Root, pathguard.WithHome(e.places.Home))
	if err != nil {
		return nil, err
	}
	s.env = facts.Env(guard, s.table)
	index, notices, err := rules.Compile(c.Applied.Rules, s.env)
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		if c.Strict {
			return nil, fmt.Errorf("%s (the strict profile takes no rule that does nothing: mend or remove it)", n)
		}
		c.Applied.Notices = append(c.Applied.Notices, config.Notice{
			File: n.Rule.Source, Text: fmt.Sprintf("%s rule %s: %s", n.Rule.Effect, n.Rule.Text, n.Text),
		})
	}
	x := &facts.Context{
		Table: s.table, Guard: guard, Rules: index, Env: s.env, Session: &e.session,
		Shell: e.options.Shell, Mode: e.options.Mode, Isolation: e.options.Isolation,
		Unattended: e.options.Unattended, AskFirst: c.AskFirst,
		AskOutside: c.OutsideRoot == config.OutsideAsk, Strict: c.Strict, Fold: guard.Fold(),
		Lifts: c.Lifts,
	}
	if err := e.openNetwork(ctx, s); err != nil {
		return nil, err
	}
	if e.options.Execute {
		if s.executor, err = e.executor(c); err != nil {
			return nil, err
		}
		x.Isolation = IsolationNone
		if choice := s.executor.Choice(); choice.Isolation == string(IsolationOS) {
			x.Isolation = IsolationOS
		} else if choice.Notice != "" {
			c.Applied.Notices = append(c.Applied.Notices, config.Notice{File: e.places.Settings, Text: choice.Notice})
		}
	}
	if x.Shell == model.ShellUnknown {
		x.Shell = c.Shell()
	}
	if x.Team, err = compileTeam(c, s.env); err != nil {
		return nil, err
	}
	x.Revision = revision(e.policy.Revision()+set.Revision(), c)
	s.facts = x
	return s, nil
}

// loadBundles loads the managed bundles and returns their team policy documents.
func loadBundles(ctx context.Context, e *Engine, strict bool) (*bundle.Set, []config.PolicyLayer, error) {
	set := bundle.NewSet(bundle.Options{
		Folders: e.places.BundleDirs, Paths: e.options.Bundles, Strict: strict,
		Keys:  []string{filepath.Join(e.places.ManagedDir, "keys")},
		State: filepath.Join(e.places.HomeDir, "bundles.state"),
	})
	if err := set.Reload(ctx); err != nil {
		return nil, nil, err
	}
	var layers []config.PolicyLayer
	for _, d := range set.Policies() {
		layers = append(layers, config.PolicyLayer{Origin: d.Source, Text: d.Text})
	}
	return set, layers, nil
}

// audited is what the audit log depends on.
func (s *state) audited() [3]string {
	p := s.config.Policy
	if p == nil {
		return [3]string{}
	}
	return [3]string{p.AuditLevel, fmt.Sprint(p.AuditCheckpoint), fmt.Sprint(p.AuditEnabled)}
}

func compileTeam(c *config.Config, env rules.Env) (*facts.Team, error) {
	p := c.Policy
	if p == nil {
		return nil, nil
	}
	t := facts.TeamRules{
		DisallowedCommands: entries(p.DisallowedCommands),
		DenyPaths:          entries(p.DenyPaths),
		BlockedHosts:       entries(p.BlockedHosts),
	}
	if p.RequireSandbox {
		t.RequireSandbox = p.Sources["requireSandbox"]
	}
	if p.StrictAllowlist {
		t.StrictAllowlist = p.Sources["network.strictAllowlist"]
	}
	return facts.CompileTeam(t, c.Applied.Rules, env)
}

func entries(list []config.PolicyEntry) []facts.Entry {
	out := make([]facts.Entry, len(list))
	for i, e := range list {
		out[i] = facts.Entry{Text: e.Text, Source: e.Source}
	}
	return out
}
