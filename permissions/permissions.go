// Package permissions is the permission-file API by itself: which rules of a
// project's permission files speak about a call, without the other steps of the
// chain (team policy, sensitive files, the root guard, plan mode).
//
// A host that wants lictor's decisions uses the package lictor. This package is
// for tools that read, write and explain permission files.
//
//	perms, err := permissions.Load("/home/me/project", permissions.Options{})
//	outcome, err := perms.Evaluate("run_bash", json.RawMessage(`{"command":"go test ./..."}`))
//
// Files: `.lictor/permissions.json` (shared, committed), `.lictor/permissions.local.json`
// (personal; the only one that rules are written to), `~/.lictor/permissions.json`
// and the machine's file. A missing or blank file has no rules; a malformed one is
// an error that names file and rule.
package permissions

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/toolcall"
	"github.com/lictor-policy/lictor/rego"
)

type (
	// Outcome is what rules alone say about a call.
	Outcome = rules.Outcome
	// Rule is one rule, with the file that it stands in.
	Rule = model.Rule
	// Snapshot are all rules at one moment, by effect.
	Snapshot = rules.Snapshot
	// Warning is advice about a rule, FileReport about a file.
	Warning    = rules.Warning
	FileReport = rules.FileReport
	// RequiresConfirmation is the error of AddAllow for a rule that allows so much
	// that a person must confirm it by itself.
	RequiresConfirmation = rules.RequiresConfirmation
	// InputError says which argument of a call could not be read.
	InputError = toolcall.InputError
)

// The outcomes; Default means that no rule decides.
const (
	Allow   = rules.OutcomeAllow
	Ask     = rules.OutcomeAsk
	Deny    = rules.OutcomeDeny
	Default = rules.OutcomeDefault
)

// The states of a file in a FileReport.
const (
	StatusOK      = rules.StatusOK
	StatusWarning = rules.StatusWarning
	StatusError   = rules.StatusError
)

// Options of Load. The zero value reads the project's files and those of the
// user and the machine.
type Options struct {
	// Home is the user's home folder; empty means the system's word for it.
	Home string
	// ProjectOnly leaves the user's and the machine's files out.
	ProjectOnly bool
	// AskFirst lets an ask rule outrank an allow rule.
	AskFirst bool
	// Normalize, if not nil, rewrites absolute paths before rules are derived from
	// them (a temporary worktree to the project that it stands for).
	Normalize func(abs string) string
}

// Permissions are the rules of a project's permission files. It is safe for
// concurrent use.
type Permissions struct {
	*rules.Permissions
	context   *facts.Context
	normalize func(string) string
}

// Load reads the permission files for a root.
func Load(root string, o Options) (*Permissions, error) {
	p, options, err := open(root, o)
	if err != nil {
		return nil, err
	}
	if p.Permissions, err = rules.Load(p.context.Guard.Root(), options); err != nil {
		return nil, err
	}
	return p, nil
}

// LoadEmpty returns permissions without rules for a root; Reload reads the files.
func LoadEmpty(root string, o Options) (*Permissions, error) {
	p, options, err := open(root, o)
	if err != nil {
		return nil, err
	}
	p.Permissions = rules.LoadEmpty(p.context.Guard.Root(), options)
	return p, nil
}

func open(root string, o Options) (*Permissions, rules.Options, error) {
	fail := func(err error) (*Permissions, rules.Options, error) { return nil, rules.Options{}, err }
	var err error
	if root, err = filepath.Abs(root); err != nil {
		return fail(fmt.Errorf("root %q: %w", root, err))
	}
	if o.Home == "" {
		if o.Home, err = config.HomeFolder(); err != nil {
			return fail(err)
		}
	}
	table, err := toolcall.LoadTable(rego.Tools)
	if err != nil {
		return fail(err)
	}
	guard, err := pathguard.New(root, pathguard.WithHome(o.Home))
	if err != nil {
		return fail(err)
	}
	env := facts.Env(guard, table)
	options := rules.Options{Env: env, AskFirst: o.AskFirst}
	if !o.ProjectOnly {
		places := config.FindPlaces(root, o.Home)
		options.User, options.System = places.HomePermissions, places.ManagedPermissions
	}
	context := &facts.Context{Table: table, Guard: guard, Env: env, Mode: model.ModeBuild, Isolation: model.IsolationNone}
	return &Permissions{context: context, normalize: o.Normalize}, options, nil
}

// Evaluate says what the rules alone say about a call: deny before allow before
// ask (with AskFirst: ask before allow), Default if no rule decides. A call that
// cannot be read is denied, with an *InputError.
func (p *Permissions) Evaluate(tool string, args json.RawMessage) (Outcome, error) {
	outcome, _, err := p.EvaluateWithRule(tool, args)
	return outcome, err
}

// EvaluateWithRule is Evaluate, with the first rule that decided (nil if none
// did).
func (p *Permissions) EvaluateWithRule(tool string, args json.RawMessage) (Outcome, *Rule, error) {
	query, err := p.query(tool, args)
	if err != nil {
		return Deny, nil, err
	}
	outcome, rule := p.Permissions.EvaluateWithRule(query)
	return outcome, rule, nil
}

// DeriveAllowRules returns the rules that the answer "always" would add for a
// call, or nil where none should be offered.
func (p *Permissions) DeriveAllowRules(tool string, args json.RawMessage) ([]string, error) {
	query, err := p.query(tool, args)
	if err != nil {
		return nil, err
	}
	return rules.DeriveAllowRules(query, p.context.Env, p.normalize), nil
}

// DeriveDenyRule returns the rule that the answer "never" would add, or "".
func (p *Permissions) DeriveDenyRule(tool string, args json.RawMessage) (string, error) {
	query, err := p.query(tool, args)
	if err != nil {
		return "", err
	}
	return rules.DeriveDenyRule(query, p.context.Env), nil
}

func (p *Permissions) query(tool string, args json.RawMessage) (*rules.Query, error) {
	return p.context.Query(&model.Call{Tool: tool, Args: args})
}

// Lint advises about the rules of all files: unknown, risky, shadowed, never
// matching.
func (p *Permissions) Lint() []Warning {
	s := p.Snapshot()
	all := append(append(append([]Rule{}, s.Allow...), s.Ask...), s.Deny...)
	return rules.Lint(all, p.context.Env)
}

// Validate reports on every file of a root by itself, so that one broken file
// does not hide the others.
func Validate(root string, o Options) ([]FileReport, error) {
	p, options, err := open(root, o)
	if err != nil {
		return nil, err
	}
	return rules.Validate(p.context.Guard.Root(), options), nil
}

// ParseDiffPaths returns the paths that a unified diff touches: both sides of
// every header, cut at a tab, unquoted, without a/ and b/ and /dev/null, unique
// and in order.
func ParseDiffPaths(diff string) []string { return toolcall.ParseDiffPaths(diff) }
