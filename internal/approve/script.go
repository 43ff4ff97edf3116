package approve

import (
	"context"
	"fmt"
	"sync"

	"github.com/lictor-policy/lictor/internal/model"
)

// Script is an approver for tests and evaluations: it gives the answers of a
// list in order. A question beyond the list is an error, and so a denial.
type Script struct {
	mu      sync.Mutex
	replies []model.Reply
	asked   []model.Request
}

// NewScript returns an approver that gives these answers in order.
func NewScript(answers ...model.Answer) *Script {
	s := &Script{}
	for _, answer := range answers {
		s.replies = append(s.replies, model.Reply{Answer: answer})
	}
	return s
}

// NewScriptReplies is NewScript with whole replies.
func NewScriptReplies(replies ...model.Reply) *Script { return &Script{replies: replies} }

// Ask implements model.Approver.
func (s *Script) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := s.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier. A reply that says nothing of its origin is
// from "script".
func (s *Script) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return denied, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, request)
	if len(s.asked) > len(s.replies) {
		return denied, fmt.Errorf("unexpected question %d about %s: the script has %d answers", len(s.asked), request.Tool, len(s.replies))
	}
	reply := s.replies[len(s.asked)-1]
	if reply.From == "" {
		reply.From = "script"
	}
	return reply, nil
}

// Asked returns the questions so far.
func (s *Script) Asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request(nil), s.asked...)
}

// Left returns how many answers have not been used: a finished script that has
// some left expected questions that never came.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.replies)-len(s.asked), 0)
}
