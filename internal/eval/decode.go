package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// steps are the steps of the chain, in order.
var steps = []string{"in", "0", "0b", "1", "2", "3", "3b", "3c", "3d", "4", "5", "6", "7"}

// Every word that an outcome may hold. A word that is none of these is an
// error, and so is an allow by something that cannot allow.
var (
	decisions = []string{string(model.Allow), string(model.Deny), string(model.Ask)}
	deciders  = map[model.Decision][]string{
		model.Deny:  {"input", "policy", "outside", "sensitive", "rule", "unattended"},
		model.Ask:   {"policy", "outside", "rule", "default"},
		model.Allow: {"read_only", "sandbox", "rule", "session"},
	}
	classes = map[model.Decision][]string{
		model.Deny: {
			"deny_input", "deny_policy", "deny_outside", "deny_sensitive", "deny_protected", "deny_rule",
			"deny_plan", "deny_unattended",
		},
		model.Ask:   {"ask"},
		model.Allow: {"allow_readonly", "allow_sandbox", "allow_rule", "allow_session"},
	}
	kinds = []string{"", "protected", "plan"}
)

// decodeOutcome decodes the chain's result. Nothing is forgiven: an unknown
// field, a missing one, a wrong type and an unknown word are all [CodeResult].
// Equal outcomes come back as one pointer, which keeps the table small.
func (e *Engine) decodeOutcome(result ast.Value) (*model.Outcome, error) {
	outcome, err := outcomeOf(result)
	if err != nil {
		return nil, &Error{Code: CodeResult, Query: verdictQuery, Err: err}
	}
	shared, _ := e.interned.LoadOrStore(outcomeKey(outcome), outcome)
	return shared.(*model.Outcome), nil
}

func outcomeKey(outcome *model.Outcome) string {
	var key strings.Builder
	for _, word := range []string{string(outcome.Decision), outcome.By, outcome.Kind, outcome.Step, outcome.Class} {
		key.WriteString(word)
		key.WriteByte('|')
	}
	for _, hit := range outcome.Hits {
		for _, word := range []string{hit.Step, string(hit.Decision), hit.By, hit.Kind} {
			key.WriteString(word)
			key.WriteByte('|')
		}
	}
	return key.String()
}

func outcomeOf(result ast.Value) (*model.Outcome, error) {
	object, ok := result.(ast.Object)
	if !ok {
		return nil, fmt.Errorf("the verdict is not an object but %s", ast.ValueName(result))
	}
	if object.Len() != 6 {
		return nil, fmt.Errorf("the verdict has the keys %s, want by, class, decision, hits, kind, step", object.Keys())
	}
	var outcome model.Outcome
	var err error
	if outcome.Step, outcome.Decision, outcome.By, outcome.Kind, err = decodeStep(object); err != nil {
		return nil, err
	}
	if outcome.Class, err = word(object, "class", classes[outcome.Decision]); err != nil {
		return nil, err
	}
	hits, ok := value(object, "hits").(*ast.Array)
	if !ok {
		return nil, errors.New("the verdict's hits are not an array")
	}
	outcome.Hits = make([]model.OutcomeHit, 0, hits.Len())
	last := slices.Index(steps, outcome.Step)
	for i := range hits.Len() {
		object, ok := hits.Elem(i).Value.(ast.Object)
		if !ok || object.Len() != 4 {
			return nil, fmt.Errorf("hit %d is not an object of by, decision, kind, step", i)
		}
		var hit model.OutcomeHit
		if hit.Step, hit.Decision, hit.By, hit.Kind, err = decodeStep(object); err != nil {
			return nil, fmt.Errorf("hit %d: %w", i, err)
		}
		rank := slices.Index(steps, hit.Step)
		if rank <= last {
			return nil, fmt.Errorf("hit %d: step %q does not rank below the step before it", i, hit.Step)
		}
		last = rank
		outcome.Hits = append(outcome.Hits, hit)
	}
	return &outcome, nil
}

// decodeStep decodes what an outcome and a hit have in common.
func decodeStep(object ast.Object) (step string, decision model.Decision, by, kind string, err error) {
	if step, err = word(object, "step", steps); err != nil {
		return
	}
	text, err := word(object, "decision", decisions)
	if err != nil {
		return
	}
	decision = model.Decision(text)
	if by, err = word(object, "by", deciders[decision]); err != nil {
		return
	}
	kind, err = word(object, "kind", kinds)
	return
}

// word returns the text under a key, which must be one of the known words.
func word(object ast.Object, key string, known []string) (string, error) {
	text, ok := value(object, key).(ast.String)
	if !ok {
		return "", fmt.Errorf("%q is missing or no text", key)
	}
	if !slices.Contains(known, string(text)) {
		return "", fmt.Errorf("%q is %q, want one of %q", key, string(text), known)
	}
	return string(text), nil
}

// value returns the value under a key, or nil.
func value(object ast.Object, key string) ast.Value {
	if term := object.Get(keyTerms[key]); term != nil {
		return term.Value
	}
	return nil
}

// keyTerms are the keys of a document that are looked up, made once.
var keyTerms = func() map[string]*ast.Term {
	terms := make(map[string]*ast.Term)
	for _, key := range []string{"by", "class", "decision", "facts", "hits", "kind", "step"} {
		terms[key] = ast.StringTerm(key)
	}
	return terms
}()
