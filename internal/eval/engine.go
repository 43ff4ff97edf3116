package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/lictor-policy/lictor/rego"
)

// verdictQuery is the chain.
const verdictQuery = "data.lictor.verdict"

// Engine is the compiled policy. It is safe for concurrent use, and it never
// changes: a new policy is a new engine.
type Engine struct {
	texts    map[string]string
	revision string
	// store is empty and stays so: the policy's tables are Rego. That makes every
	// reference to data without a rule a constant, namely undefined.
	store storage.Store
	txn   storage.Transaction
	// limit bounds one evaluation.
	limit time.Duration

	chain *pool
	// queries compile on first use: a process that asks for verdicts only does not
	// pay for them.
	queries map[string]func() (*pool, error)
	table   *table
	// tableOff says why the table is off; nil if it is on.
	tableOff error
	stuck    stuckLimit
	interned sync.Map
}

// New compiles the embedded policy. It returns an *[Error] with [CodeCompile] if
// the modules do not compile, which a released program never does, or the
// context's error if it has ended.
func New(ctx context.Context) (*Engine, error) {
	texts, err := rego.Modules()
	if err != nil {
		return nil, &Error{Code: CodeCompile, Err: err}
	}
	return newEngine(ctx, texts)
}

// newEngine compiles the given modules, by path.
func newEngine(ctx context.Context, texts map[string]string) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure("", err)
	}
	chain, own := split(texts)
	compiler, err := compile(chain)
	if err != nil {
		return nil, &Error{Code: CodeCompile, Err: err}
	}
	e := &Engine{
		texts:    texts,
		revision: revision(texts),
		store:    inmem.New(),
		limit:    evaluationLimit,
	}
	// One read transaction for the engine's life: nothing ever writes.
	if e.txn, err = e.store.NewTransaction(ctx); err != nil {
		return nil, failure("", err)
	}
	if e.chain, err = e.prepare(compiler, verdictQuery); err != nil {
		return nil, err
	}
	e.queries = make(map[string]func() (*pool, error), len(documents))
	for name, query := range documents {
		e.queries[name] = sync.OnceValues(func() (*pool, error) {
			modules := own[name]
			if len(modules) == 0 {
				modules = chain
			}
			compiler, err := compile(modules)
			if err != nil {
				return nil, &Error{Code: CodeCompile, Query: query, Err: err}
			}
			return e.prepare(compiler, query)
		})
	}
	if e.tableOff = readsFactsOnly(compiler); e.tableOff == nil {
		e.table = new(table)
	}
	return e, nil
}

// standalone are the packages that stand by themselves: the chain does not need
// them, and they need nothing. All but lib are documents; lib is for bundles.
var standalone = []string{"merge", "strict", "consent", "session", "lib"}

// split separates the modules of the chain from the standalone ones by name.
// Where a bundle is loaded beside the policy, the library is part of the chain.
func split(texts map[string]string) (chain map[string]string, own map[string]map[string]string) {
	chain, own = make(map[string]string), make(map[string]map[string]string)
	for path, text := range texts {
		modules := chain
		for _, name := range standalone {
			if strings.HasPrefix(path, "lictor/"+name+"/") {
				if own[name] == nil {
					own[name] = make(map[string]string)
				}
				modules = own[name]
			}
		}
		modules[path] = text
	}
	for path := range texts {
		if !strings.HasPrefix(path, "lictor/") {
			maps.Copy(chain, own["lib"])
			break
		}
	}
	return chain, own
}

// compile parses and compiles modules under [Capabilities]. Prints are left out
// by the compiler unless they are asked for, and they are not.
func compile(texts map[string]string) (*ast.Compiler, error) {
	options := ast.ParserOptions{Capabilities: Capabilities()}
	parsed := make(map[string]*ast.Module, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		module, err := ast.ParseModuleWithOpts(name, texts[name], options)
		if err != nil {
			return nil, err
		}
		if module == nil {
			return nil, fmt.Errorf("%s: empty module", name)
		}
		parsed[name] = module
	}
	compiler := ast.NewCompiler().WithCapabilities(Capabilities()).WithStrict(true)
	if compiler.Compile(parsed); compiler.Failed() {
		return nil, compiler.Errors
	}
	return compiler, nil
}

// revision is the hash of the modules' names and texts.
func revision(texts map[string]string) string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(hash, "%d %s %d %s\n", len(name), name, len(texts[name]), texts[name])
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// Revision names the policy by a hash over its modules: 16 hexadecimal digits,
// equal exactly if the modules are.
func (e *Engine) Revision() string { return e.revision }

// Modules returns the policy's modules by path, for a stock OPA that shall give
// the same verdicts. The map is a copy.
func (e *Engine) Modules() map[string]string { return maps.Clone(e.texts) }

// TableEnabled reports whether outcomes are kept in the table, which they are
// exactly if the chain provably reads nothing but the facts. The embedded policy
// has that property; [Engine.Outcome] needs it.
func (e *Engine) TableEnabled() bool { return e.table != nil }
