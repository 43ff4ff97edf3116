package bundle

import (
	"context"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Check holds a bundle against everything that a machine will hold it against,
// except its signature, and tries it on its examples. The error is a *[Refused]
// that names every problem. The advice that it returns besides says what could be
// better: it is no reason to refuse the bundle.
func Check(ctx context.Context, path string) (b *Bundle, advice []Problem, err error) {
	f, err := readPath(path)
	if err != nil {
		return nil, nil, refuse(path, "", err)
	}
	delete(f, signaturesFile)
	if b, err = load(ctx, path, f, LoadOptions{AllowUnsigned: true}); err != nil {
		return nil, nil, err
	}
	if err := b.try(ctx); err != nil {
		return nil, nil, err
	}
	return b, b.advice(), nil
}

// advice looks at style, routing and examples.
func (b *Bundle) advice() (out []Problem) {
	add := func(file string, line int, rule, text string, args ...any) {
		out = append(out, Problem{File: file, Line: line, Rule: rule, Text: fmt.Sprintf(text, args...)})
	}
	if b.serial < 1 {
		add(manifestFile, 0, "", "metadata.serial is missing; a signed bundle needs it")
	}
	for _, name := range b.files.names() {
		if !strings.HasSuffix(name, regoSuffix) {
			continue
		}
		formatted, err := format.SourceWithOpts(name, b.files[name], format.Opts{RegoVersion: ast.RegoV1})
		if err == nil && string(formatted) != string(b.files[name]) {
			add(name, 0, "", "is not formatted; run `opa fmt -w`")
		}
	}
	bad, good := make(map[string]bool), make(map[string]bool)
	for _, e := range b.examples {
		if e.Bad {
			bad[e.ID] = true
		} else {
			good[e.ID] = true
		}
	}
	ids := make(map[string]bool)
	for _, rule := range b.rules {
		ids[rule.ID] = true
		switch {
		case rule.ID == "":
			add(rule.File, rule.Line, rule.Effect, "its id is no plain text, so its examples cannot be found; write the id out")
		case !bad[rule.ID] || !good[rule.ID]:
			add(rule.File, rule.Line, rule.Effect, "%s has no bad or no good example in %s", rule.ID, examplesRule)
		}
		if rule.Route.String() == "every call" {
			add(rule.File, rule.Line, rule.Effect, "declares no tools, kinds, programs, hosts, paths or text, so the bundle is asked about every call")
		}
	}
	for _, e := range b.examples {
		if !ids[e.ID] {
			add("", 0, examplesRule, "%q is the id of no rule", e.ID)
			ids[e.ID] = true
		}
	}
	return out
}
