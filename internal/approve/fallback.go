package approve

import (
	"context"
	"errors"

	"github.com/lictor-policy/lictor/internal/model"
)

// ErrNoTerminal says that there is no terminal on which a person could be asked.
var ErrNoTerminal = errors.New("there is no terminal to ask on")

// Fallback asks the second approver where the first has no terminal.
type Fallback struct{ First, Second model.Approver }

// Ask implements model.Approver.
func (f Fallback) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := f.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier.
func (f Fallback) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	reply, err := Ask(ctx, f.First, request)
	if errors.Is(err, ErrNoTerminal) && f.Second != nil {
		return Ask(ctx, f.Second, request)
	}
	return reply, err
}
