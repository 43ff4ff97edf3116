package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

var (
	// ErrTimeout says that nobody answered in time.
	ErrTimeout = errors.New("nobody answered in time")
	// ErrUnattended says that nobody is there to answer.
	ErrUnattended = errors.New("nobody is there to answer")
	// ErrWithdrawn says that the question is no longer asked: the call was
	// cancelled.
	ErrWithdrawn = errors.New("the question was withdrawn")
)

// denied is the reply that comes with every error.
var denied = model.Reply{Answer: model.AnswerDeny}

// Ask puts a question to any approver and checks what comes back: an answer that
// is not one of the five or was not offered, hunks that do not exist, or a panic
// is an error, and every error comes with the answer deny. Hunks of a reply that
// allows are sorted and unique; all of them become nil, none of them a denial.
func Ask(ctx context.Context, approver model.Approver, request model.Request) (reply model.Reply, err error) {
	defer func() {
		if r := recover(); r != nil {
			reply, err = denied, fmt.Errorf("the approver failed: %v", r)
		}
	}()
	if approver == nil {
		return denied, ErrUnattended
	}
	if err := ctx.Err(); err != nil {
		return denied, cancelled(ctx)
	}
	if r, ok := approver.(model.Replier); ok {
		reply, err = r.AskReply(ctx, request)
	} else {
		reply.Answer, err = approver.Ask(ctx, request)
	}
	if err != nil {
		return denied, err
	}
	return Checked(&request, reply)
}

// Checked returns the reply in its normal form, or deny and an error that says
// what is wrong with it. A session, always or never without a rule to add is a
// plain yes or no, unless the request's own Choices leave it out.
func Checked(request *model.Request, reply model.Reply) (model.Reply, error) {
	known := slices.Contains(answers, reply.Answer) && len(request.Choices) == 0
	if !known && !slices.Contains(Choices(request), reply.Answer) {
		return denied, fmt.Errorf("the answer %q is none of those that were offered (%s)", reply.Answer, join(Choices(request)))
	}
	if reply.At.IsZero() {
		reply.At = time.Now()
	}
	if reply.For < 0 || reply.For > 0 && reply.Answer != model.AnswerSession {
		return denied, fmt.Errorf("a time limit belongs to the answer %q only", model.AnswerSession)
	}
	if !reply.Answer.Allows() {
		reply.Hunks = nil
		return reply, nil
	}
	if reply.Hunks == nil {
		return reply, nil
	}
	all := len(Hunks(request.Changes))
	hunks := slices.Compact(slices.Sorted(slices.Values(reply.Hunks)))
	for _, n := range hunks {
		if n < 1 || n > all {
			return denied, fmt.Errorf("there is no hunk %d: the change has %d", n, all)
		}
	}
	switch len(hunks) {
	case 0:
		reply.Answer, reply.Hunks, reply.For = model.AnswerDeny, nil, 0
	case all:
		reply.Hunks = nil
	default:
		reply.Hunks = hunks
	}
	return reply, nil
}

// cancelled is the error for a context that is over: the time limit, or the
// caller's own cancellation.
func cancelled(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), ErrTimeout) {
		return ErrTimeout
	}
	return ErrWithdrawn
}

// Unattended is the approver for runs without a person: every question is a no.
type Unattended struct {
	// Reason says why nobody can answer ("the run is a CI job").
	Reason string
}

// Ask implements model.Approver: it returns deny and ErrUnattended.
func (u Unattended) Ask(context.Context, model.Request) (model.Answer, error) {
	if u.Reason == "" {
		return model.AnswerDeny, ErrUnattended
	}
	return model.AnswerDeny, fmt.Errorf("%w: %s", ErrUnattended, u.Reason)
}
