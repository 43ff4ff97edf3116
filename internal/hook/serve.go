package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	// HostTimeout is how long the installed hooks let lictor take, as the agent's
	// settings say.
	HostTimeout = 10 * time.Second
	// Deadline is lictor's own: it lies below HostTimeout, because what comes after
	// that, a host takes for a hook that did not object.
	Deadline = 8 * time.Second
	// MaxInput is how long a hook's input may be.
	MaxInput = 64 << 20
)

// Serving is how Serve decides.
type Serving struct {
	// Decide checks one call of an event that decides. An error is a refusal,
	// whatever the verdict, unless the verdict denies with a reason of its own.
	// It is called once for the event's Call and once for each of Also.
	Decide func(ctx context.Context, e *Event, call model.Call) (model.Verdict, error)
	// Observe is told of events that only tell; nil passes over them.
	Observe func(ctx context.Context, e *Event) error
	// Options are how the verdict is said. Replace, if not nil, is asked for
	// Options.Command once the verdict is not a deny ("" leaves the command).
	Options Options
	Replace func(ctx context.Context, e *Event, v *model.Verdict) (string, error)
	// Limit is the deadline; 0 means Deadline.
	Limit time.Duration
}

// Serve answers one hook call: it reads the input, decodes it, decides and
// encodes, all of it under the deadline. Whatever fails (an input that cannot be
// read or does not end, an error, a panic, a deadline) is a refusal in the
// dialect's words; it never returns an allow that Decide did not give.
func Serve(ctx context.Context, d Dialect, in io.Reader, s Serving) Reply {
	limit := s.Limit
	if limit <= 0 {
		limit = Deadline
	}
	// The event is handed over a channel, because a refusal at the deadline is
	// written while the work may still go on.
	known := make(chan *Event, 1)
	refuse := func(reason string) Reply {
		select {
		case e := <-known:
			known <- e
			return d.Refuse(e, reason)
		default:
			return d.Block(reason)
		}
	}
	return WithDeadline(ctx, limit, refuse, func(ctx context.Context) Reply {
		data, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
		if err != nil {
			return d.Block("reading the hook's input: " + err.Error())
		}
		if len(data) > MaxInput {
			return d.Block(fmt.Sprintf("the hook's input is longer than %d bytes", MaxInput))
		}
		event, err := d.Decode(data)
		if err != nil {
			return d.Refuse(event, err.Error())
		}
		known <- event
		return s.answer(ctx, d, event)
	})
}

func (s Serving) answer(ctx context.Context, d Dialect, e *Event) Reply {
	if !e.Kind.Decides() {
		if s.Observe != nil {
			if err := s.Observe(ctx, e); err != nil {
				return d.Refuse(e, err.Error())
			}
		}
		return d.Answer(e, nil, s.Options)
	}
	v, err := s.strictest(ctx, e)
	if err != nil {
		return d.Refuse(e, err.Error())
	}
	o := s.Options
	if s.Replace != nil && v.Decision != model.Deny {
		if o.Command, err = s.Replace(ctx, e, &v); err != nil {
			return d.Refuse(e, err.Error())
		}
	}
	return d.Answer(e, &v, o)
}

// strictest checks all calls of an event: deny before ask before allow.
func (s Serving) strictest(ctx context.Context, e *Event) (model.Verdict, error) {
	if s.Decide == nil {
		return model.Verdict{}, errors.New("nobody decides")
	}
	rank := map[model.Decision]int{model.Allow: 1, model.Ask: 2, model.Deny: 3}
	var out model.Verdict
	for i, call := range append([]model.Call{e.Call}, e.Also...) {
		v, err := s.Decide(ctx, e, call)
		if err != nil && v.Decision != model.Deny {
			return out, err
		}
		if rank[v.Decision] == 0 {
			return out, fmt.Errorf("lictor came to no decision (%q)", v.Decision)
		}
		if i == 0 || rank[v.Decision] > rank[out.Decision] {
			out = v
		}
	}
	return out, nil
}

// WithDeadline runs work and returns its reply, or what refuse says if work
// panics, takes longer than limit, or ctx is cancelled before. It does not wait
// for work that takes longer: the process is about to end.
func WithDeadline(ctx context.Context, limit time.Duration, refuse func(reason string) Reply, work func(context.Context) Reply) Reply {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan Reply, 1)
	go func() {
		finished := false
		defer func() {
			switch p := recover(); {
			case p != nil:
				done <- refuse(fmt.Sprintf("internal error: %v", p))
			case !finished:
				// The goroutine was ended from inside (runtime.Goexit).
				done <- refuse("internal error: the check ended without a decision")
			}
		}()
		r := work(ctx)
		finished = true
		done <- r
	}()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return refuse(fmt.Sprintf("no decision within %s", limit))
		}
		return refuse("the check was interrupted")
	}
}
