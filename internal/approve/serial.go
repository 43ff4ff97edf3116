package approve

import (
	"context"
	"fmt"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// grace is how long an approver may take to return after it was cancelled.
const grace = 5 * time.Second

// SerialOptions are the options of NewSerial.
type SerialOptions struct {
	// Limit is how long a person has for one question, counted from the moment
	// that it is shown. 0 means no limit but the caller's context.
	Limit time.Duration
	// Recheck is called when a question's turn comes, because the answer to the
	// one before may cover it ("session"). Nil never knows.
	Recheck func(ctx context.Context, request model.Request) (model.Reply, bool)
}

// Serial is an approver that shows one question at a time and gives up when the
// time is over or the caller's context ends. Safe for concurrent use.
type Serial struct {
	inner   model.Approver
	options SerialOptions
	turn    chan struct{}
	// stuck holds a token while an approver that was cancelled has not returned.
	stuck chan struct{}
}

// NewSerial wraps an approver.
func NewSerial(inner model.Approver, options SerialOptions) *Serial {
	return &Serial{inner: inner, options: options, turn: make(chan struct{}, 1), stuck: make(chan struct{}, 1)}
}

// Ask implements model.Approver.
func (s *Serial) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := s.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier. It returns deny with ErrTimeout when the
// time is over, and with ErrWithdrawn when the caller cancelled. It returns then
// even if the approver below does not; until that one has returned, nothing else
// is shown, and after a grace period waiting questions fail.
func (s *Serial) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	if ctx.Err() != nil {
		return denied, cancelled(ctx)
	}
	if err := s.wait(ctx); err != nil {
		return denied, err
	}
	if s.options.Recheck != nil {
		if reply, ok := s.recheck(ctx, request); ok {
			<-s.turn
			return Checked(&request, reply)
		}
	}
	sub, cancel := context.WithCancel(ctx)
	if s.options.Limit > 0 {
		sub, cancel = context.WithTimeoutCause(ctx, s.options.Limit, ErrTimeout)
	}
	defer cancel()
	type result struct {
		reply model.Reply
		err   error
	}
	done := make(chan result, 1)
	go func() {
		reply, err := Ask(sub, s.inner, request)
		done <- result{reply, err}
	}()
	select {
	case r := <-done:
		<-s.turn
		if r.err != nil && sub.Err() != nil {
			return denied, cancelled(sub)
		}
		return r.reply, r.err
	case <-sub.Done():
	}
	// The approver has a moment to clear its screen before the next question.
	go func() {
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
			s.stuck <- struct{}{}
			<-done
			<-s.stuck
		}
		<-s.turn
	}()
	return denied, cancelled(sub)
}

// wait waits for the turn.
func (s *Serial) wait(ctx context.Context) error {
	check := time.NewTicker(time.Second)
	defer check.Stop()
	for {
		select {
		case s.turn <- struct{}{}:
			if ctx.Err() != nil {
				<-s.turn
				return cancelled(ctx)
			}
			return nil
		case <-ctx.Done():
			return cancelled(ctx)
		case <-check.C:
			if len(s.stuck) > 0 {
				return fmt.Errorf("the question before this one does not end: %w", ErrTimeout)
			}
		}
	}
}

// recheck guards the turn against a panic of the caller's function.
func (s *Serial) recheck(ctx context.Context, request model.Request) (reply model.Reply, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.options.Recheck(ctx, request)
}
