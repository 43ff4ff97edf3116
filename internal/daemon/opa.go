//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/hook"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// opa is the policy alone, for documents that hold their facts already.
type opa struct {
	mu     sync.Mutex
	policy *eval.Engine
}

func (o *opa) get(ctx context.Context) (*eval.Engine, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.policy != nil {
		return o.policy, nil
	}
	policy, err := eval.New(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	o.policy = policy
	return policy, nil
}

// verdict is OPA's data API for data.lictor.verdict. The input is a call with its
// project's root (as `root`, or found from `cwd`): it is decided and recorded as
// a hook's. Or it is a whole input document, as `lictor input` prints it: then
// the result is the policy's outcome for these facts, as a stock OPA gives it,
// and nothing is recorded.
func (w *web) verdict(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		problem(out, http.StatusRequestEntityTooLarge, "invalid_parameter", "reading the body: "+err.Error())
		return
	}
	input, err := inputOf(body)
	if err != nil {
		problem(out, http.StatusBadRequest, "invalid_parameter", err.Error())
		return
	}
	var result any
	if _, document := input["facts"]; document {
		result, err = w.outcome(r.Context(), input)
	} else {
		result, err = w.decideCall(r.Context(), input)
	}
	var bad *badInput
	switch {
	case errors.As(err, &bad):
		problem(out, http.StatusBadRequest, "invalid_parameter", err.Error())
	case err != nil:
		problem(out, http.StatusInternalServerError, "internal_error", err.Error())
	default:
		text, err := json.Marshal(map[string]any{"result": result})
		if err != nil {
			problem(out, http.StatusInternalServerError, "internal_error", err.Error())
			return
		}
		send(out, "application/json", append(text, '\n'))
	}
}

// badInput is an error of whoever sent the request.
type badInput struct{ error }

// inputOf is the member "input" of a request.
func inputOf(body []byte) (map[string]json.RawMessage, error) {
	if err := toolcall.Strict(body); err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	var request struct {
		Input map[string]json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &request); err != nil || request.Input == nil {
		return nil, errors.New(`the body must be an object with an object "input": a call, or an input document`)
	}
	return request.Input, nil
}

func (w *web) outcome(ctx context.Context, input map[string]json.RawMessage) (any, error) {
	policy, err := w.opa.get(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	outcome, err := policy.Evaluate(ctx, json.RawMessage(text))
	var failure *eval.Error
	if errors.As(err, &failure) && failure.Code == eval.CodeInput {
		return nil, &badInput{err}
	}
	return outcome, err
}

func (w *web) decideCall(ctx context.Context, input map[string]json.RawMessage) (any, error) {
	var p project
	if raw, ok := input["root"]; ok {
		if err := json.Unmarshal(raw, &p.dir); err != nil {
			return nil, &badInput{errors.New("input.root must be a text")}
		}
		delete(input, "root")
	}
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	call, err := lictor.ParseCall(text)
	if err != nil {
		return nil, &badInput{err}
	}
	if p.cwd = call.Cwd; p.dir == "" && p.cwd == "" {
		return nil, &badInput{errors.New("input.root: missing; it names the project's folder")}
	}
	return w.decideDirectly(ctx, p, call), nil
}

// decideDirectly decides one call that came without a hook. Every failure is a
// denial that says why.
func (w *web) decideDirectly(ctx context.Context, p project, call lictor.Call) lictor.Verdict {
	w.last.Store(time.Now().UnixNano())
	if w.self.replaced() {
		w.stop(errReplaced)
		return lictor.ErrorVerdict(errReplaced)
	}
	ctx, cancel := context.WithTimeout(ctx, hook.Deadline)
	defer cancel()
	select {
	case w.calls <- struct{}{}:
		defer func() { <-w.calls }()
	case <-ctx.Done():
		return lictor.ErrorVerdict(ctx.Err())
	}
	v, _, err := w.roots.check(ctx, p, call, nil)
	if err != nil && v.Decision != lictor.Deny {
		v = lictor.ErrorVerdict(err)
	}
	w.metrics.verdict(v.Decision)
	return v
}
