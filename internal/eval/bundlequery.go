package eval

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/lictor-policy/lictor/rego"
)

// Modules are compiled modules that are not lictor's own, those of a managed
// bundle, together with their data. They have a compiler, a store and a watchdog
// of their own, so that nothing that goes wrong in one bundle reaches another.
type Modules struct {
	engine *Engine
	// compiler compiles queries; that is not safe for concurrent use.
	compiling sync.Mutex
	compiler  *ast.Compiler
}

// NewModules puts compiled modules and the data that belongs to them (nil: none)
// together. limit bounds one evaluation; zero or less means the limit of the
// built-in chain.
func NewModules(ctx context.Context, compiler *ast.Compiler, data map[string]any, limit time.Duration) (*Modules, error) {
	var store storage.Store
	if len(data) == 0 {
		store = inmem.New()
	} else {
		store = inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))
	}
	// One read transaction for their life: nothing ever writes.
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, failure("", err)
	}
	if limit <= 0 {
		limit = evaluationLimit
	}
	return &Modules{compiler: compiler, engine: &Engine{store: store, txn: txn, limit: limit}}, nil
}

// Query is one prepared query over [Modules]. It is safe for concurrent use.
type Query struct {
	pool  *pool
	limit time.Duration
	stuck stuckLimit
}

// Query prepares a query such as "data.lictor.managed.team.deny". It returns an
// *[Error] with [CodeCompile] if the query does not compile.
func (m *Modules) Query(query string) (q *Query, err error) {
	m.compiling.Lock()
	defer m.compiling.Unlock()
	defer recovered(query, &err)
	p, err := m.engine.prepare(m.compiler, query)
	if err != nil {
		return nil, err
	}
	return &Query{pool: p, limit: m.engine.limit}, nil
}

// Run evaluates the query over an input document (nil: an empty one) under strict
// builtin errors and returns its value. It returns when the evaluation does, the
// context ends or the time is up, whichever is first; an evaluation that does
// not stop is left behind, and when too many are, every further one fails.
// Undefined is an error too: every failure is an *[Error], and the caller denies.
func (q *Query) Run(ctx context.Context, input ast.Value) (ast.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(q.pool.query, err)
	}
	if q.stuck.count.Load() >= maxStuck {
		return nil, &Error{Code: CodeTimeout, Query: q.pool.query, Err: errors.New("too many evaluations are stuck")}
	}
	if input == nil {
		input = ast.NewObject()
	}
	limit := q.limit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	w := hire()
	w.jobs <- job{ctx: ctx, pool: q.pool, input: input, limit: limit}
	// The evaluation itself is told to stop after limit and normally does; the
	// grace is for its report, which says more than "too late".
	w.grace.Reset(limit + limit/4 + 10*time.Millisecond)
	var cause error
	select {
	case r := <-w.replies:
		w.grace.Stop()
		w.rest()
		return r.result, r.err
	case <-ctx.Done():
		cause = ctx.Err()
	case <-w.grace.C:
		cause = context.DeadlineExceeded
	}
	q.stuck.count.Add(1)
	go func() {
		<-w.replies
		q.stuck.count.Add(-1)
		close(w.jobs)
	}()
	return nil, failure(q.pool.query, cause)
}

// job is one evaluation, reply what came of it.
type (
	job struct {
		ctx   context.Context
		pool  *pool
		input ast.Value
		limit time.Duration
	}
	reply struct {
		result ast.Value
		err    error
	}
)

// worker evaluates in a goroutine that lives on: an evaluation goes deep, and to
// grow a new stack for each costs as much as the evaluation.
type worker struct {
	jobs    chan job
	replies chan reply
	grace   *time.Timer
}

// idle are the workers that wait for work, those of all queries together.
var idle = make(chan *worker, 16)

// hire returns a worker that nobody else has.
func hire() *worker {
	select {
	case w := <-idle:
		return w
	default:
	}
	w := &worker{jobs: make(chan job, 1), replies: make(chan reply, 1), grace: time.NewTimer(time.Hour)}
	w.grace.Stop()
	go func() {
		for j := range w.jobs {
			w.replies <- j.run()
		}
	}()
	return w
}

// rest gives a worker back that has replied.
func (w *worker) rest() {
	select {
	case idle <- w:
	default:
		close(w.jobs)
	}
}

func (j *job) run() (r reply) {
	defer recovered(j.pool.query, &r.err)
	r.result, r.err = j.pool.run(j.ctx, j.input, j.limit)
	return r
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
