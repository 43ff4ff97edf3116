package eval

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// readsFactsOnly proves that the verdict is a function of the facts: it walks
// every rule that data.lictor.verdict can reach in the compiled modules and
// returns nil if each reference is one of
//
//   - input.facts, or input.facts.<known fact>, each of which is a function of
//     the vector that the table is keyed by,
//   - a rule or function of the policy, which is walked in its turn,
//   - data without a rule: the engine's store is empty for good, so it is
//     undefined whatever the call is,
//   - a deterministic builtin function, or something local to the rule.
//
// Otherwise the error names the rule, where it stands and what it reads.
func readsFactsOnly(compiler *ast.Compiler) error {
	proof := proof{compiler: compiler, seen: make(map[*ast.Rule]bool)}
	proof.follow(ast.MustParseRef(verdictQuery))
	if len(proof.queue) == 0 {
		return fmt.Errorf("there is no rule %s", verdictQuery)
	}
	for len(proof.queue) > 0 {
		rule := proof.queue[0]
		proof.queue = proof.queue[1:]
		if err := proof.check(rule); err != nil {
			return fmt.Errorf("%s: rule %s: %w", rule.Loc(), rule.Ref(), err)
		}
	}
	return nil
}

// proof is a walk over the rules that are still to be checked.
type proof struct {
	compiler *ast.Compiler
	queue    []*ast.Rule
	seen     map[*ast.Rule]bool
}

// follow queues every rule that a reference can reach, once.
func (p *proof) follow(ref ast.Ref) {
	for _, rule := range p.compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true}) {
		if !p.seen[rule] {
			p.seen[rule] = true
			p.queue = append(p.queue, rule)
		}
	}
}

// check looks at everything in one rule, its else branches included.
func (p *proof) check(rule *ast.Rule) (err error) {
	stop := func(format string, args ...any) bool {
		if err == nil {
			err = fmt.Errorf(format, args...)
		}
		return true
	}
	visitor := ast.NewGenericVisitor(func(node any) bool {
		switch node := node.(type) {
		case *ast.With:
			return stop("replaces %s", node.Target)
		case ast.Ref:
			if problem := p.reference(node); problem != nil {
				return stop("%w", problem)
			}
			// The head is dealt with; what stands in brackets is walked below.
			for _, term := range node[1:] {
				if err == nil && !ast.IsConstant(term.Value) {
					err = p.brackets(term)
				}
			}
			return true
		case ast.Var:
			if isDocument(node) {
				return stop("reads %s as a whole", node)
			}
		}
		return err != nil
	})
	visitor.Walk(rule)
	return err
}

// brackets checks what a reference is indexed with, such as the inner reference
// of data.x[input.y].
func (p *proof) brackets(term *ast.Term) error {
	return p.check(&ast.Rule{Head: &ast.Head{Value: term}})
}

// reference judges one reference by its head.
func (p *proof) reference(ref ast.Ref) error {
	head, ok := ref[0].Value.(ast.Var)
	switch {
	case !ok:
		// A call's result or a literal that is indexed; its parts are terms that
		// the brackets cover, except this one.
		return p.brackets(ref[0])
	case head.Equal(ast.DefaultRootDocument.Value):
		p.follow(ref)
		return nil
	case head.Equal(ast.InputRootDocument.Value):
		return factReference(ref)
	}
	if builtin, ok := ast.BuiltinMap[ref.String()]; ok && builtin.IsNondeterministic() {
		return fmt.Errorf("calls %s, which is not deterministic", ref)
	}
	return nil
}

// factReference allows input.facts and input.facts.<known fact>.
func factReference(ref ast.Ref) error {
	if len(ref) < 2 || !ref[1].Equal(factsKey) {
		return fmt.Errorf("reads %s, which is not a fact", ref)
	}
	if len(ref) == 2 {
		return nil
	}
	name, ok := ref[2].Value.(ast.String)
	if !ok || len(ref) != 3 || !slices.Contains(model.FactNames[:], string(name)) {
		return fmt.Errorf("reads %s, which is not a known fact", ref)
	}
	return nil
}

// isDocument reports whether a variable is one of the two global documents.
func isDocument(v ast.Var) bool {
	return v.Equal(ast.InputRootDocument.Value) || v.Equal(ast.DefaultRootDocument.Value)
}
