package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// Code says in one word what went wrong with an evaluation; it is stable and
// may be written to the audit.
type Code string

// The codes of an [Error].
const (
	// CodeCompile: the modules could not be parsed or compiled.
	CodeCompile Code = "compile"
	// CodeInput: the input document is too long, or not what the policy reads.
	CodeInput Code = "input"
	// CodeUndefined: the query has no result.
	CodeUndefined Code = "undefined"
	// CodeConflict: two rules gave different results.
	CodeConflict Code = "conflict"
	// CodeBuiltin: a builtin function refused its arguments.
	CodeBuiltin Code = "builtin"
	// CodeResult: the result is not of the shape that it must have.
	CodeResult Code = "result"
	// CodeTimeout: the evaluation took too long.
	CodeTimeout Code = "timeout"
	// CodeCancelled: the caller's context ended first.
	CodeCancelled Code = "cancelled"
	// CodeInternal: anything else; a defect of lictor or of its engine.
	CodeInternal Code = "internal"
)

// Error is a failed evaluation. Whoever gets one denies the call.
type Error struct {
	// Code is the kind of failure.
	Code Code
	// Query is what was asked ("data.lictor.verdict"), or empty while compiling.
	Query string
	// Err is the cause.
	Err error
}

// Error says what was asked and why there is no answer.
func (e *Error) Error() string {
	if e.Query == "" {
		return fmt.Sprintf("policy: %s: %v", e.Code, e.Err)
	}
	return fmt.Sprintf("policy: %s: %s: %v", e.Query, e.Code, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errUndefined is the cause of every [CodeUndefined].
var errUndefined = errors.New("the policy gives no result")

// failure wraps the error of an evaluation. An error that is one already stays
// as it is.
func failure(query string, err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	code := CodeInternal
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = CodeTimeout
	case errors.Is(err, context.Canceled):
		code = CodeCancelled
	default:
		if evaluation, ok := errors.AsType[*topdown.Error](err); ok {
			code = evaluationCode(evaluation.Code)
		}
	}
	return &Error{Code: code, Query: query, Err: err}
}

func evaluationCode(code string) Code {
	switch code {
	case topdown.CancelErr:
		return CodeTimeout
	case topdown.ConflictErr:
		return CodeConflict
	case topdown.BuiltinErr, topdown.TypeErr:
		return CodeBuiltin
	default:
		return CodeInternal
	}
}
