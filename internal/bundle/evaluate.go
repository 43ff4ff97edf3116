package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/model"
)

// KindError is the kind of a finding that a bundle did not say: the bundle
// failed, and that denies.
const KindError = "error"

// Finding is what one rule of one bundle says about a call.
type Finding struct {
	// Bundle, Revision and Source name the bundle and where it was read.
	Bundle   string `json:"bundle"`
	Revision string `json:"revision"`
	Source   string `json:"source"`
	// ID and Reason are the rule's words, the reason on one line.
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// Kind is empty, or KindError.
	Kind string `json:"kind,omitempty"`
}

// String is the reason with the rule that gives it.
func (f Finding) String() string {
	return fmt.Sprintf("%s (bundle %s, rule %s)", f.Reason, f.Bundle, f.ID)
}

// Consulted says for one bundle that it was asked about a call, or why it need
// not be.
type Consulted struct {
	Bundle   string `json:"bundle"`
	Revision string `json:"revision"`
	// Asked says that the bundle's rules were evaluated. If not, no rule of it is
	// about anything that the call has.
	Asked bool `json:"asked"`
	// Error is the code of a failed evaluation ("timeout"), or empty.
	Error eval.Code `json:"error,omitempty"`
}

// Findings are what all bundles of a set say about one call.
type Findings struct {
	// Deny and Ask are in the order of the bundles, then by id and reason.
	Deny []Finding
	Ask  []Finding
	// Consulted has one entry for each bundle of the set, in order.
	Consulted []Consulted
}

// Facts returns the findings as facts of the chain.
func (f *Findings) Facts() (facts model.Facts) {
	if len(f.Deny) > 0 {
		facts |= model.FactManagedDeny
	}
	if len(f.Ask) > 0 {
		facts |= model.FactManagedAsk
	}
	return facts
}

// evaluate asks one bundle.
func (b *Bundle) evaluate(ctx context.Context, wanted subset, input ast.Value, out *Findings) {
	deny, ask, err := b.findings(ctx, wanted, input)
	if err != nil {
		b.failed(err, out)
		return
	}
	out.Deny = append(out.Deny, deny...)
	out.Ask = append(out.Ask, ask...)
	out.Consulted = append(out.Consulted, Consulted{Bundle: b.name, Revision: b.revision, Asked: true})
}

// failed puts a denial down for a bundle that could not be asked.
func (b *Bundle) failed(err error, out *Findings) {
	code := eval.CodeInternal
	if known, ok := errors.AsType[*eval.Error](err); ok {
		code = known.Code
	}
	out.Deny = append(out.Deny, b.finding(KindError, fmt.Sprintf("the bundle could not be asked: %v", err), KindError))
	out.Consulted = append(out.Consulted, Consulted{Bundle: b.name, Revision: b.revision, Asked: true, Error: code})
}

// findings evaluates the wanted rules and decodes what they say.
func (b *Bundle) findings(ctx context.Context, wanted subset, input ast.Value) (deny, ask []Finding, err error) {
	query, err := b.queries.get(wanted)
	if err != nil {
		return nil, nil, err
	}
	value, err := query.Run(ctx, input)
	if err != nil {
		return nil, nil, err
	}
	object, ok := value.(ast.Object)
	if !ok {
		return nil, nil, malformed("the result is not what was asked for")
	}
	for i := range b.rules {
		if !wanted.has(i) {
			continue
		}
		rule := &b.rules[i]
		term := object.Get(ast.InternedTerm(i))
		if term == nil {
			return nil, nil, malformed("%s:%d: rule %s has no result", rule.File, rule.Line, rule.Effect)
		}
		list := &deny
		if rule.Effect == "ask" {
			list = &ask
		}
		if *list, err = b.decode(rule, term.Value, *list); err != nil {
			return nil, nil, err
		}
	}
	return inOrder(deny), inOrder(ask), nil
}

// inOrder sorts findings by id and reason and drops what is there twice.
func inOrder(list []Finding) []Finding {
	if len(list) < 2 {
		return list
	}
	slices.SortFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason)) })
	return slices.Compact(list)
}

// decode appends the findings of a set. Anything but a set of objects of id and
// reason, both texts that are not empty, is an error.
func (b *Bundle) decode(rule *Rule, value ast.Value, out []Finding) ([]Finding, error) {
	set, ok := value.(ast.Set)
	if !ok {
		return nil, malformed("%s:%d: rule %s is not a set but %s", rule.File, rule.Line, rule.Effect, ast.ValueName(value))
	}
	err := set.Iter(func(term *ast.Term) error {
		object, ok := term.Value.(ast.Object)
		if !ok || object.Len() != 2 {
			return malformed("%s:%d: rule %s has %s, which is no finding", rule.File, rule.Line, rule.Effect, term)
		}
		id, reason := textOf(object, "id"), textOf(object, "reason")
		if id == "" || reason == "" {
			return malformed("%s:%d: rule %s has %s, whose id or reason is no text or empty", rule.File, rule.Line, rule.Effect, term)
		}
		out = append(out, b.finding(id, reason, ""))
		return nil
	})
	return out, err
}

func (b *Bundle) finding(id, reason, kind string) Finding {
	return Finding{Bundle: b.name, Revision: b.revision, Source: b.source, ID: oneLine(id), Reason: oneLine(reason), Kind: kind}
}

func textOf(object ast.Object, key string) string {
	if term := object.Get(ast.InternedTerm(key)); term != nil {
		if text, ok := term.Value.(ast.String); ok {
			return string(text)
		}
	}
	return ""
}

func malformed(format string, args ...any) error {
	return &eval.Error{Code: eval.CodeResult, Err: fmt.Errorf(format, args...)}
}

// oneLine keeps a bundle's words from writing further lines into a terminal or a
// log.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
