package approve

import (
	"context"
	"errors"
	"sync"

	"github.com/lictor-policy/lictor/internal/model"
)

// Switch is an approver that can be replaced while the program runs: a person
// goes away and the queue takes over. A question that is open at that moment is
// withdrawn from the old approver and put to the new one.
type Switch struct {
	mu      sync.Mutex
	current model.Approver
	changed chan struct{}
}

var errSwitched = errors.New("another approver took over")

// NewSwitch returns a switch that stands on the approver; nil denies everything.
func NewSwitch(approver model.Approver) *Switch {
	return &Switch{current: approver, changed: make(chan struct{})}
}

// Set puts another approver in place and returns the one before.
func (s *Switch) Set(approver model.Approver) model.Approver {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current
	s.current = approver
	close(s.changed)
	s.changed = make(chan struct{})
	return before
}

// Current returns the approver that would be asked now.
func (s *Switch) Current() model.Approver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Ask implements model.Approver.
func (s *Switch) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := s.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier. An answer that arrives while the switch
// moves still counts: somebody gave it.
func (s *Switch) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	for {
		s.mu.Lock()
		approver, changed := s.current, s.changed
		s.mu.Unlock()
		sub, cancel := context.WithCancelCause(ctx)
		done := make(chan struct{})
		go func() {
			select {
			case <-changed:
				cancel(errSwitched)
			case <-done:
			}
		}()
		reply, err := Ask(sub, approver, request)
		close(done)
		switched := errors.Is(context.Cause(sub), errSwitched)
		cancel(nil)
		if err != nil && switched && ctx.Err() == nil {
			continue
		}
		return reply, err
	}
}
