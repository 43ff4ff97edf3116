package eval

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// answer is the variable that a query binds.
const answer = ast.Var("answer")

// pool hands out runners of one compiled query. A runner is used by one
// goroutine at a time; reusing it saves most of an evaluation's fixed cost.
type pool struct {
	query   string
	runners sync.Pool
}

// runner is one reusable evaluation.
type runner struct {
	query  *topdown.Query
	cancel topdown.Cancel
	// input is the term that the query was built with; only its value changes.
	input  ast.Term
	result ast.Value
	cache  flatCache
	each   func(topdown.QueryResult) error
}

// prepare compiles a query such as "data.lictor.verdict".
func (e *Engine) prepare(compiler *ast.Compiler, query string) (*pool, error) {
	body, err := ast.ParseBody(string(answer) + " = " + query)
	if err != nil {
		return nil, &Error{Code: CodeCompile, Query: query, Err: err}
	}
	queryCompiler := compiler.QueryCompiler()
	compiled, err := queryCompiler.Compile(body)
	if err != nil {
		return nil, &Error{Code: CodeCompile, Query: query, Err: err}
	}
	p := &pool{query: query}
	p.runners.New = func() any {
		r := &runner{cancel: topdown.NewCancel()}
		r.each = func(found topdown.QueryResult) error {
			if term, ok := found[answer]; ok {
				r.result = term.Value
			}
			return nil
		}
		r.query = topdown.NewQuery(compiled).
			WithQueryCompiler(queryCompiler).
			WithCompiler(compiler).
			WithStore(e.store).
			WithTransaction(e.txn).
			WithInput(&r.input).
			WithCancel(r.cancel).
			WithStrictBuiltinErrors(true).
			WithMetrics(metrics.NoOp()).
			// Nothing may read the clock or random numbers, so fixed ones spare two
			// system calls.
			WithTime(time.Unix(0, 1)).
			WithSeed(strings.NewReader("")).
			WithVirtualCache(&r.cache)
		return r
	}
	return p, nil
}

// run evaluates the query over input and returns the value of its answer, or an
// *[Error]. It returns when the evaluation does; limit is when that is told to
// stop.
func (p *pool) run(ctx context.Context, input ast.Value, limit time.Duration) (ast.Value, error) {
	r := p.runners.Get().(*runner)
	r.input.Value, r.result = input, nil
	r.cache.reset()
	watchdog := time.AfterFunc(limit, r.cancel.Cancel)
	err := r.query.Iter(ctx, r.each)
	inTime := watchdog.Stop()
	result := r.result
	r.input.Value, r.result = nil, nil
	// A cancelled runner stays cancelled, so one whose time was up is dropped.
	if inTime {
		p.runners.Put(r)
	}
	switch {
	case err != nil:
		return nil, failure(p.query, err)
	case result == nil:
		return nil, &Error{Code: CodeUndefined, Query: p.query, Err: errUndefined}
	}
	return result, nil
}

// recovered turns a panic of the engine into an error: a defect there must deny
// and not take the session down.
func recovered(query string, err *error) {
	if cause := recover(); cause != nil {
		*err = &Error{Code: CodeInternal, Query: query, Err: fmt.Errorf("the engine failed: %v", cause)}
	}
}
