package eval

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/lictor-policy/lictor/rego"
)

// Query is one prepared query over modules that are not lictor's own: those of a
// managed bundle. It has its own compiler, its own data and its own watchdog, so
// that nothing that goes wrong in one bundle reaches another. It is safe for
// concurrent use.
type Query struct {
	engine *Engine
	pool   *pool
}

// NewQuery prepares a query such as "data.lictor.managed.team.deny" over
// compiled modules and the data that belongs to them (nil: none). limit bounds
// one evaluation; zero or less means the limit of the built-in chain.
//
// It returns an *[Error] with [CodeCompile] if the query does not compile.
func NewQuery(ctx context.Context, compiler *ast.Compiler, data map[string]any, query string, limit time.Duration) (q *Query, err error) {
	defer recovered(query, &err)
	var store storage.Store
	if len(data) == 0 {
		store = inmem.New()
	} else {
		store = inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))
	}
	// One read transaction for the query's life: nothing ever writes.
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, failure(query, err)
	}
	if limit <= 0 {
		limit = evaluationLimit
	}
	engine := &Engine{store: store, txn: txn, limit: limit}
	p, err := engine.prepare(compiler, query)
	if err != nil {
		return nil, err
	}
	return &Query{engine: engine, pool: p}, nil
}

// Run evaluates the query over an input document (nil: an empty one) under strict
// builtin errors and returns its value. It returns when the evaluation does, the
// context ends or the time is up, whichever is first; an evaluation that does
// not stop is left behind, and when too many are, every further one fails.
// Undefined is an error too: every failure is an *[Error], and the caller denies.
func (q *Query) Run(ctx context.Context, input ast.Value) (ast.Value, error) {
	if input == nil {
		input = ast.NewObject()
	}
	return q.engine.watched(ctx, q.pool, input)
}

// InputLimit is the longest input document, in bytes of JSON, that a query may
// be given.
const InputLimit = inputLimit

// Library returns the modules of package data.lictor.lib by path, the only ones
// of lictor that a managed bundle may refer to. The map is fresh.
func Library() (map[string]string, error) {
	texts, err := rego.Modules()
	if err != nil {
		return nil, &Error{Code: CodeCompile, Err: err}
	}
	maps.DeleteFunc(texts, func(name, _ string) bool { return !strings.HasPrefix(name, "lictor/lib/") })
	return texts, nil
}
