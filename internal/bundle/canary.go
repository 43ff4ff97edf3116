package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// probe is a call that every bundle is tried on before it decides anything.
type probe struct {
	what  string
	input model.Input
	// free says that no bundle may deny it: a bundle that does has lost its
	// condition, and an agent that can do nothing gets switched off by its user.
	free bool
}

// probes has one call of each kind. None of them may make a bundle fail.
var probes = []probe{
	{"the command `true`", model.Input{Tool: "bash", Class: "Bash", Targets: []model.Target{{
		Kind: model.KindCommand,
		Command: &model.Command{
			Source: "true", Dialect: "bash", Grade: model.GradeStatic,
			Parts:  []model.Part{{Text: "true", Canonical: "true", Flat: "true", Program: "true", Args: []string{}, Inner: []model.Simple{}}},
			Writes: []string{}, Reads: []string{}, Hosts: []string{},
		},
	}}}, true},
	{"reading README.md", model.Input{Tool: "read_file", Class: "Read", ReadOnly: true, Targets: []model.Target{{
		Kind: model.KindPath, Access: model.AccessRead,
		Path: model.Path{
			Text: "README.md", Rel: "README.md", Abs: "/project/README.md", Real: "/project/README.md", RealRel: "README.md",
			Inside: true, RealInside: true,
		},
	}}}, true},
	{"fetching https://example.com/", model.Input{Tool: "web_fetch", Class: "Fetch", Targets: []model.Target{{
		Kind: model.KindURL, URL: "https://example.com/", Descriptor: "https://example.com/",
		Host: model.Host{Host: "example.com", Port: 443},
	}}}, false},
	{"a call of an unknown tool", model.Input{Tool: "mcp__server__tool", Class: "MCP", Targets: []model.Target{{
		Kind: model.KindInput, Descriptor: "server/tool", JSON: []byte(`{}`),
	}}}, false},
	{"a call that cannot be read", model.Input{Tool: "bash", Error: "command: empty", Targets: []model.Target{}}, false},
}

// try asks a bundle about the probes and about its own examples. It returns why
// the bundle must not be used.
func (b *Bundle) try(ctx context.Context) error {
	var r refusal
	for i := range probes {
		p := &probes[i]
		input := p.input
		input.Mode, input.Isolation, input.Root, input.Home = model.ModeBuild, model.IsolationNone, "/project", "/home/user"
		found, err := b.ask(ctx, &input)
		if err != nil {
			return err
		}
		for _, finding := range found.Deny {
			switch {
			case finding.Kind == KindError:
				r.add("", 0, "", "it fails on %s: %s", p.what, finding.Reason)
			case p.free:
				r.add(b.fileOf(finding.ID), b.lineOf(finding.ID), "deny", "it denies %s (%s), so it would deny everything", p.what, finding.ID)
			}
		}
	}
	for i := range b.examples {
		if err := b.tryExample(ctx, &b.examples[i]); err != nil {
			r.add(b.fileOf(b.examples[i].ID), b.lineOf(b.examples[i].ID), "", "%v", err)
		}
	}
	return r.err(b.source)
}

// tryExample holds one example against the rules.
func (b *Bundle) tryExample(ctx context.Context, e *Example) error {
	kind := map[bool]string{true: "bad", false: "good"}[e.Bad]
	fail := func(format string, args ...any) error {
		return fmt.Errorf("the %s example %q of %s: %w", kind, e.Text, e.ID, fmt.Errorf(format, args...))
	}
	input, err := e.input(ctx)
	if err != nil {
		return fail("%w", err)
	}
	found, err := b.ask(ctx, input)
	if err != nil {
		return err
	}
	all := slices.Concat(found.Deny, found.Ask)
	hit := slices.ContainsFunc(all, func(f Finding) bool { return f.ID == e.ID && f.Kind == "" })
	for _, finding := range all {
		if finding.Kind == KindError {
			return fail("%s", finding.Reason)
		}
	}
	switch {
	case e.Bad && !found.Consulted[0].Asked:
		return fail("no rule is about it: see the declared tools, kinds and programs")
	case e.Bad && !hit && b.fileOf(e.ID) == "":
		return fail("no rule gives a finding of this id: it must be the same in the rule and in %s", examplesRule)
	case e.Bad && !hit:
		return fail("no such finding")
	case !e.Bad && hit:
		return fail("has the finding")
	}
	return nil
}

// ask asks this bundle alone.
func (b *Bundle) ask(ctx context.Context, input *model.Input) (Findings, error) {
	g := newGeneration([]*Bundle{b}, nil)
	return g.evaluate(ctx, input)
}

// errNotLoaded is the error of a set that has never been loaded.
var errNotLoaded = errors.New("the managed bundles were not loaded")

func (b *Bundle) fileOf(id string) string {
	if rule := b.ruleOf(id); rule != nil {
		return rule.File
	}
	return ""
}

func (b *Bundle) lineOf(id string) int {
	if rule := b.ruleOf(id); rule != nil {
		return rule.Line
	}
	return 0
}

func (b *Bundle) ruleOf(id string) *Rule {
	for i := range b.rules {
		if b.rules[i].ID == id {
			return &b.rules[i]
		}
	}
	return nil
}
