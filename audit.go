package lictor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/facts"
)

// openLog opens the audit log as the team policy wants it; nil if the options
// want no record and the policy does not insist.
func (e *Engine) openLog(s *state) (*audit.Log, error) {
	o := audit.Options{
		Home: e.places.Home, Root: e.places.Root,
		Shared: e.options.ShortLived, Notify: e.options.Notify,
	}
	if p := s.config.Policy; p != nil {
		o.Level, o.Checkpoint, o.Mandatory = audit.Level(p.AuditLevel), p.AuditCheckpoint, p.AuditEnabled
	}
	if e.options.NoRecord && !o.Mandatory {
		return nil, nil
	}
	log, err := audit.Open(o)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	return log, nil
}

// record writes down what was decided about a call. If the team policy makes the
// record mandatory and it cannot be written, the decision is a denial: no record,
// no execution.
func (e *Engine) record(call *Call, c *facts.Call, d *Decided, observed bool) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	entry := e.entry(call, c, d)
	entry.Observed = observed
	if err := log.Verdict(&entry); err != nil {
		*d = Decided{Verdict: facts.ErrorVerdict(err, d.Verdict.Revision), By: "error", Reason: err.Error()}
		return err
	}
	return nil
}

// entry is what the log keeps of a decision.
func (e *Engine) entry(call *Call, c *factsCall, d *Decided) audit.Decided {
	entry := audit.Decided{
		Call: *call, Verdict: d.Verdict, Answer: string(d.Answer),
		Mode: e.options.Mode, Isolation: e.options.Isolation, Shell: e.options.Shell,
	}
	if c != nil {
		entry.Mode = c.Input.Mode
		if c.Err != nil {
			entry.Error = c.Err.Error()
		}
		for i := range c.Input.Targets {
			t := &c.Input.Targets[i]
			if i == 0 {
				entry.TargetKind = t.Kind
			}
			entry.OutsideSandbox = entry.OutsideSandbox || t.OutsideSandbox
		}
	}
	entry.Shadow = e.shadowed(call, &d.Verdict)
	return entry
}

// factsCall is a gathered call.
type factsCall = facts.Call

// recordReply writes down who answered a question, from where and when, and for
// how long a grant holds.
func (e *Engine) recordReply(c *factsCall, d *Decided) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	r := &d.Reply
	reason := "answered " + string(r.Answer)
	if r.By != "" {
		reason += " by " + r.By
	}
	if r.From != "" {
		reason += " from " + r.From
	}
	if r.For > 0 {
		reason += " for " + r.For.String()
	}
	return log.Record(&audit.Event{
		Type: audit.TypeApproval, Tool: c.Input.Called, CallID: c.Input.CallID, Agent: c.Input.Agent,
		Answer: string(r.Answer), Reason: reason, Args: c.Input.Args, Revision: d.Verdict.Revision,
	})
}

// recordPolicy writes down which bundles decide from now on, and that the policy
// changed while the engine worked. A process that ends after a call or a few
// leaves the bundles out: each of its verdicts names the revision.
func (e *Engine) recordPolicy(old, s *state) error {
	if s.log == nil {
		return nil
	}
	if old != nil && old.facts.Revision != s.facts.Revision {
		err := s.log.Record(&audit.Event{
			Type: audit.TypePolicy, Kind: "changed", Revision: s.facts.Revision,
			Reason: "the policy changed from revision " + old.facts.Revision + " to " + s.facts.Revision,
		})
		if err != nil {
			return err
		}
	}
	if e.options.ShortLived || old != nil && old.bundles.Revision() == s.bundles.Revision() {
		return nil
	}
	for _, b := range s.bundles.Added() {
		err := s.log.Record(&audit.Event{
			Type: audit.TypeBundle, Kind: "loaded", Revision: b.Revision(),
			Reason: fmt.Sprintf("bundle %s, digest %s, signed by %q, from %s", b.Name(), b.Digest(), b.KeyID(), b.Source()),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordRefusal writes down that a bundle was refused, so that a set that never
// became active leaves a trace.
func (e *Engine) recordRefusal(old *state, cause error) error {
	var refused *bundle.Refused
	if !errors.As(cause, &refused) || e.options.NoRecord {
		return nil
	}
	log, err := (*audit.Log)(nil), error(nil)
	if old != nil {
		log = old.log
	} else if log, err = audit.Open(audit.Options{Home: e.places.Home, Root: e.places.Root, Shared: true, Notify: e.options.Notify}); err == nil {
		defer log.Close()
	}
	if err != nil || log == nil {
		return err
	}
	return log.Record(&audit.Event{Type: audit.TypeBundle, Kind: "refused", Reason: oneLine(refused.Error()), Error: oneLine(refused.Error())})
}

// oneLine makes a text of several lines fit the record.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
