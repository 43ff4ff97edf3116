package lictor

import (
	"context"
	"fmt"

	"github.com/lictor-policy/lictor/internal/audit"
)

// Shadow is a candidate policy that is asked beside the active one: differences
// are recorded, nothing else comes of them.
type Shadow struct {
	// Settings, ManagedPolicy and Bundles stand in place of the active ones; empty
	// ones are the active ones.
	Settings, ManagedPolicy string
	Bundles                 []string
}

// openShadow opens the engine of a candidate policy. It records nothing, asks
// nobody and runs nothing; what its settings loosen counts as accepted, because
// it allows nothing for real.
func (e *Engine) openShadow(ctx context.Context) error {
	s := e.options.Shadow
	if s == nil {
		return nil
	}
	o := e.options
	o.Shadow, o.Observe, o.NoRecord, o.Execute, o.Approver, o.Notify = nil, false, true, false, nil, nil
	o.Isolation = e.state.Load().facts.Isolation
	o.Consent = func(context.Context, ConsentRequest) (Answer, error) { return AnswerOnce, nil }
	if s.Settings != "" {
		o.Settings = s.Settings
	}
	if s.ManagedPolicy != "" {
		o.ManagedPolicy = s.ManagedPolicy
	}
	if len(s.Bundles) > 0 {
		o.Bundles = s.Bundles
	}
	shadow, err := Open(ctx, o)
	if err != nil {
		return fmt.Errorf("the candidate policy: %w", err)
	}
	e.shadow = shadow
	return nil
}

// shadowed asks the candidate policy about a call; nil if it says the same. A
// candidate that fails differs, and its error is what it says.
func (e *Engine) shadowed(call *Call, v *Verdict) *audit.Shadow {
	if e.shadow == nil {
		return nil
	}
	other, _, _ := e.shadow.check(context.Background(), call)
	if other.Decision == v.Decision && other.By == v.By {
		return nil
	}
	policy := e.options.Shadow.Settings
	for _, name := range append([]string{e.options.Shadow.ManagedPolicy}, e.options.Shadow.Bundles...) {
		if policy == "" {
			policy = name
		}
	}
	return &audit.Shadow{
		Policy: policy, Class: audit.Classify(other.Decision, other.By, other.Kind), By: other.By, Reason: other.Reason,
		Looser: strictness(other.Decision) < strictness(v.Decision),
	}
}

func strictness(d Decision) int {
	switch d {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// observing reports whether what would be stopped is only recorded, and which
// file or option says so.
func (s *state) observing(o *Options) (by string, on bool) {
	if p := s.config.Policy; p != nil {
		if p.Observe {
			return "audit.observe in " + p.Sources["audit.observe"], true
		}
		if p.Sources["audit.observe"] != "" {
			return "", false // a layer says no
		}
	}
	if o.Observe {
		return "an option of this session", true
	}
	return "", false
}

// observe lets a call pass that the policy would deny or ask about, in observe
// mode. What could not be read or decided stays a denial.
func (e *Engine) observe(d *Decided, err error) (observed Decided, passed bool) {
	s := e.state.Load()
	if _, on := s.observing(&e.options); !on || err != nil || d.Verdict.Decision == Allow {
		return *d, false
	}
	out := *d
	out.Allowed, out.By = true, "observe"
	out.Verdict.Decision, out.Verdict.By, out.Verdict.Class = Allow, "observe", "allow_observe"
	out.Verdict.Reason = fmt.Sprintf("observe mode lets it pass; it would be: %s, %s", d.Verdict.Decision, d.Verdict.Reason)
	out.Reason = out.Verdict.Reason
	return out, true
}

// begin records how a session starts where that matters: in observe mode.
func (e *Engine) begin(s *state) error {
	by, on := s.observing(&e.options)
	if !on || s.log == nil {
		return nil
	}
	return s.log.Record(&audit.Event{
		Type: audit.TypeSession, Reason: "observe mode: nothing is stopped (" + by + ")", Revision: s.facts.Revision, Observed: true,
	})
}
