package eval

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// Decide returns what the chain says about a call: from the table by its facts,
// or, where the table is off, by an evaluation over the whole document. The
// outcome is shared between callers: never change it.
//
// Every failure is an *[Error], and the caller denies.
func (e *Engine) Decide(ctx context.Context, input *model.Input) (*model.Outcome, error) {
	if e.table == nil {
		return e.Evaluate(ctx, input)
	}
	return e.Outcome(input.Facts)
}

// Outcome returns what the chain says about a vector of facts. A vector that
// was seen before costs two loads and no allocation; a new one costs one
// evaluation of the Rego chain. The outcome is shared between callers: never
// change it.
//
// It returns an *[Error] if the vector has bits that are no facts, if the chain
// gives no well-formed outcome, or if the table is off: then the facts are not
// everything that the chain reads, and [Engine.Decide] or [Engine.Evaluate] must
// be asked. The caller denies. Errors are not kept.
func (e *Engine) Outcome(facts model.Facts) (*model.Outcome, error) {
	if e.table == nil {
		return nil, &Error{
			Code: CodeInput, Query: verdictQuery,
			Err: fmt.Errorf("the facts are not everything that the policy reads: %w", e.tableOff),
		}
	}
	if outcome := e.table.get(facts); outcome != nil {
		return outcome, nil
	}
	outcome, err := e.evaluateFacts(facts)
	if err != nil {
		return nil, err
	}
	e.table.put(facts, outcome)
	return outcome, nil
}

// evaluateFacts evaluates the chain over the facts alone.
func (e *Engine) evaluateFacts(facts model.Facts) (outcome *model.Outcome, err error) {
	defer recovered(verdictQuery, &err)
	if facts&^model.FactMask != 0 {
		return nil, &Error{
			Code: CodeInput, Query: verdictQuery,
			Err: fmt.Errorf("bits %#x are no facts", uint32(facts&^model.FactMask)),
		}
	}
	result, err := e.chain.run(context.Background(), factsDocument(facts), e.limit)
	if err != nil {
		return nil, err
	}
	return e.decodeOutcome(result)
}

var (
	factsKey  = ast.StringTerm("facts")
	factTerms = func() (terms [model.FactBits]*ast.Term) {
		for bit, name := range model.FactNames {
			terms[bit] = ast.StringTerm(name)
		}
		return terms
	}()
	holds = ast.InternedTerm(true)
)

// factsDocument is the input document {"facts": {name: true, …}}. A fact that
// does not hold is left out, so that the rules' index skips what needs it.
func factsDocument(facts model.Facts) ast.Value {
	pairs := make([][2]*ast.Term, 0, model.FactBits)
	for bit := range model.FactBits {
		if facts&(1<<bit) != 0 {
			pairs = append(pairs, [2]*ast.Term{factTerms[bit], holds})
		}
	}
	return ast.NewObject([2]*ast.Term{factsKey, ast.NewTerm(ast.NewObject(pairs...))})
}
