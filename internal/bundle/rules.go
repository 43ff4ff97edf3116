package bundle

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/model"
)

// ownRulePrefix begins the names that the deny and ask rules get when they are
// compiled: each is a set of its own, so that only those are evaluated that can
// apply, and a wrong type or result belongs to one rule.
const ownRulePrefix = "_lictor_rule_"

// maxRules bounds the rules of a bundle: the subsets are bit sets.
const (
	maxRules   = 512
	maxSubsets = 64
)

// subset is a set of rules by their index.
type subset [maxRules / 64]uint64

func (s *subset) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *subset) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// separate returns the modules with every deny and ask rule renamed to a set of
// its own, in the order of checkModules.
func separate(modules map[string]*ast.Module) map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(modules))
	n := 0
	for _, file := range sortedKeys(modules) {
		module := modules[file].Copy()
		for _, rule := range module.Rules {
			if slices.Contains(findingRules, headName(rule)) {
				rule.Head.Name = ast.Var(ownRuleName(n))
				rule.Head.Reference = ast.Ref{ast.VarTerm(ownRuleName(n)).SetLocation(rule.Loc())}
				n++
			}
		}
		out[file] = module
	}
	return out
}

func ownRuleName(i int) string { return fmt.Sprintf("%s%d", ownRulePrefix, i) }

// queries prepares and keeps the queries of the subsets that calls ask for. Most
// calls of a session have one of a handful.
type queries struct {
	modules *eval.Modules
	name    string
	count   int

	mu    sync.RWMutex
	known map[subset]*eval.Query
	all   *eval.Query
}

func newQueries(modules *eval.Modules, name string, count int) (*queries, error) {
	q := &queries{modules: modules, name: name, count: count, known: make(map[subset]*eval.Query)}
	var every subset
	for i := range count {
		every.add(i)
	}
	var err error
	q.all, err = q.prepare(every)
	return q, err
}

// get returns the query of a subset, or one of more rules.
func (q *queries) get(wanted subset) (*eval.Query, error) {
	q.mu.RLock()
	query, full := q.known[wanted], len(q.known) >= maxSubsets
	q.mu.RUnlock()
	if query != nil {
		return query, nil
	}
	if full {
		return q.all, nil
	}
	query, err := q.prepare(wanted)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known[wanted] = query
	return query, nil
}

// prepare asks for an object from index to the set of a rule.
func (q *queries) prepare(wanted subset) (*eval.Query, error) {
	var fields []string
	for i := range q.count {
		if wanted.has(i) {
			fields = append(fields, fmt.Sprintf("%d: data.lictor.managed.%s.%s", i, q.name, ownRuleName(i)))
		}
	}
	return q.modules.Query("{" + strings.Join(fields, ", ") + "}")
}

// applicable returns the rules that could say something about the call, and the
// bundle that has them; nil if there is no such rule.
func (b *Bundle) applicable(input *model.Input) (full *Bundle, wanted subset, err error) {
	if !b.routes.apply(input) {
		return nil, wanted, nil
	}
	if b, err = b.whole(); err != nil {
		return nil, wanted, err
	}
	for i := range b.conditions {
		if b.conditions[i].route.applies(input) && b.conditions[i].need.met(input) {
			wanted.add(i)
			full = b
		}
	}
	return full, wanted, nil
}

// whole returns the bundle with everything that it has.
func (b *Bundle) whole() (*Bundle, error) {
	if b.full == nil {
		return b, nil
	}
	return b.full()
}

// condition is when one rule can apply: what it declares and what it needs.
type condition struct {
	route compiledRoute
	need  need
}
