package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	// evaluationLimit is how long one evaluation may take. The chain needs
	// microseconds; the rest is for a machine that is very busy.
	evaluationLimit = 5 * time.Second
	// inputLimit is the longest input document, in bytes of JSON. Some builtin
	// functions cannot be interrupted, so the time that they can take is bounded
	// by what they are given.
	inputLimit = 4 << 20
	// maxStuck is how many evaluations may be left behind after their time was up.
	maxStuck = 16
)

// documents are the queries of [Engine.Query] by name: everything that lictor
// computes in Rego besides the verdict.
var documents = map[string]string{
	"merge":    "data.lictor.merge.result",
	"strict":   "data.lictor.strict.result",
	"consent":  "data.lictor.consent.result",
	"session":  "data.lictor.session.result",
	"findings": "data.lictor.findings.result",
}

// Query evaluates one of the policy's documents over input and decodes its
// result into out, a pointer, as encoding/json does it, but strictly: an unknown
// key, a wrong type and trailing data are errors. The names are "merge" (team
// policy layers), "strict" (the strict profile), "consent" (what loosens safety
// in a project), "session" (the session rules of a call) and "findings" (of
// managed bundles); each package's Rego says what its input and result are.
//
// Every failure is an *[Error]: the caller must not go on as if there were an
// empty result.
func (e *Engine) Query(ctx context.Context, name string, input, out any) error {
	prepare, ok := e.queries[strings.TrimPrefix(name, "lictor.")]
	if !ok {
		return &Error{Code: CodeInternal, Query: name, Err: errors.New("there is no query of this name")}
	}
	p, err := prepare()
	if err != nil {
		return err
	}
	document, err := inputDocument(p.query, input)
	if err != nil {
		return err
	}
	result, err := e.watched(ctx, p, document)
	if err != nil {
		return err
	}
	if err := decodeJSON(result, out); err != nil {
		return &Error{Code: CodeResult, Query: p.query, Err: err}
	}
	return nil
}

// Evaluate asks the chain about a whole input document, a [model.Input] or
// anything else with the same JSON, without the table. It is what a stock OPA
// does with the same modules and the same document; tests and explanations use
// it. The outcome is shared: never change it.
//
// Every failure is an *[Error]: a document without facts, with an unknown fact or
// longer than 4 MiB ([CodeInput]), no well-formed outcome, or an evaluation that
// took too long. An evaluation that does not stop when it is told to is left
// behind; the call returns all the same.
func (e *Engine) Evaluate(ctx context.Context, input any) (*model.Outcome, error) {
	document, err := inputDocument(verdictQuery, input)
	if err != nil {
		return nil, err
	}
	if err := checkFacts(document); err != nil {
		return nil, &Error{Code: CodeInput, Query: verdictQuery, Err: err}
	}
	result, err := e.watched(ctx, e.chain, document)
	if err != nil {
		return nil, err
	}
	return e.decodeOutcome(result)
}

// inputDocument turns a Go value into an input document by way of its JSON.
func inputDocument(query string, input any) (ast.Value, error) {
	fail := func(err error) (ast.Value, error) {
		return nil, &Error{Code: CodeInput, Query: query, Err: err}
	}
	text, ok := input.(json.RawMessage)
	if !ok {
		var err error
		if text, err = json.Marshal(input); err != nil {
			return fail(err)
		}
	}
	if len(text) > inputLimit {
		return fail(fmt.Errorf("the input document has %d bytes, at most %d are allowed", len(text), inputLimit))
	}
	// The reader of values would stop after the first of several documents, and
	// let the last of two equal keys win.
	if ok {
		if !json.Valid(text) {
			return fail(errors.New("the input document is not JSON"))
		}
		if err := uniqueKeys(json.NewDecoder(bytes.NewReader(text))); err != nil {
			return fail(err)
		}
	}
	value, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		return fail(err)
	}
	return value, nil
}

// uniqueKeys reads one value and refuses an object that has a key twice: of two
// lists of facts only one would be read.
func uniqueKeys(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	opening, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := make(map[string]bool)
	for decoder.More() {
		if opening == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("the input document has the key %q twice", name)
			}
			seen[name] = true
		}
		if err := uniqueKeys(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// checkFacts refuses a document whose facts the chain could misread: a missing
// object, an unknown name (a misspelt prohibition would not hold) and a value
// that is not true.
func checkFacts(document ast.Value) error {
	object, ok := document.(ast.Object)
	if !ok {
		return errors.New("the input document is not an object")
	}
	facts, ok := value(object, "facts").(ast.Object)
	if !ok {
		return errors.New("the input document has no object \"facts\"")
	}
	return facts.Iter(func(name, holds *ast.Term) error {
		text, ok := name.Value.(ast.String)
		if !ok || !slices.Contains(model.FactNames[:], string(text)) {
			return fmt.Errorf("facts: %s is no fact", name)
		}
		if !ast.Boolean(true).Equal(holds.Value) {
			return fmt.Errorf("facts: %s is %s, want true, or no such key", name, holds)
		}
		return nil
	})
}

// decodeJSON decodes a result strictly.
func decodeJSON(result ast.Value, out any) error {
	plain, err := ast.JSON(result)
	if err != nil {
		return err
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("trailing data after the result")
	}
	return nil
}

// stuckLimit counts evaluations that were left behind.
type stuckLimit struct{ count atomic.Int32 }

// watched evaluates in a goroutine of its own and returns when the evaluation
// is done, the context has ended or the time is up, whichever is first. It does
// not wait for an evaluation that ignores its cancellation: some builtin
// functions do.
func (e *Engine) watched(ctx context.Context, p *pool, input ast.Value) (ast.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(p.query, err)
	}
	if e.stuck.count.Load() >= maxStuck {
		return nil, &Error{Code: CodeTimeout, Query: p.query, Err: errors.New("too many evaluations are stuck")}
	}
	limit := e.limit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	type reply struct {
		result ast.Value
		err    error
	}
	// abandoned is set by whichever side is second: it keeps the count right when
	// an evaluation ends just as it is given up.
	var abandoned atomic.Bool
	replies := make(chan reply, 1)
	go func() {
		var r reply
		defer func() {
			replies <- r
			if abandoned.Swap(true) {
				e.stuck.count.Add(-1)
			}
		}()
		defer recovered(p.query, &r.err)
		r.result, r.err = p.run(ctx, input, limit)
	}()
	// The evaluation itself is told to stop after limit and normally does; the
	// grace is for its report, which says more than "too late".
	grace := time.NewTimer(limit + limit/4 + 10*time.Millisecond)
	defer grace.Stop()
	var cause error
	select {
	case r := <-replies:
		return r.result, r.err
	case <-ctx.Done():
		cause = ctx.Err()
	case <-grace.C:
		cause = context.DeadlineExceeded
	}
	e.stuck.count.Add(1)
	if abandoned.Swap(true) {
		e.stuck.count.Add(-1)
	}
	return nil, failure(p.query, cause)
}
