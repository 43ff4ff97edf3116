package lictor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

// ask puts the question to the approver and remembers the answer. Everything
// that is not a clear yes is a no.
func (e *Engine) ask(ctx context.Context, c *facts.Call, d Decided) (Decided, error) {
	if e.options.Approver == nil {
		d.Reason += "; nobody is there to answer"
		return d, nil
	}
	d.By = "user"
	request, err := e.request(ctx, c, d.Verdict)
	if err != nil {
		d.By = "error"
		return d, err
	}
	reply, err := approve.Ask(ctx, e.options.Approver, request)
	d.Answer, d.Reply = reply.Answer, reply
	if err != nil {
		d.Reason = fmt.Sprintf("the question could not be answered: %v", err)
		return d, fmt.Errorf("asking about %s: %w", c.Input.Tool, err)
	}
	d.Allowed = reply.Answer.Allows()
	if !d.Allowed {
		d.Reason = approve.Steer(&request, &d.Verdict)
		if reply.Answer == AnswerNever && request.Never != "" {
			d.Reason = strings.TrimSuffix(d.Reason, ".") + e.write(ctx, model.EffectDeny, []string{request.Never}, (*rules.Permissions).AddDeny)
		}
		return d, e.recordReply(c, &d)
	}
	d.Reason = "the user said yes"
	switch reply.Answer {
	case AnswerSession:
		for _, rule := range request.Session {
			if reply.For > 0 {
				e.session.RememberUntil(rule, time.Now().Add(reply.For))
			} else {
				e.session.Remember(rule)
			}
		}
	case AnswerAlways:
		d.Reason += e.write(ctx, model.EffectAllow, request.Always, func(p *rules.Permissions, rule string) error { return p.AddAllowConfirmed(rule) })
	}
	if err := e.recordReply(c, &d); err != nil {
		d.Allowed, d.Reason = false, err.Error()
		return d, err
	}
	return d, nil
}

// write adds rules to the personal permission file, keeps the consent current
// and reads everything again. It returns what to add to the reason: the person
// has answered, so a file that cannot be written changes what is remembered, not
// the answer.
func (e *Engine) write(ctx context.Context, effect model.Effect, texts []string, add func(*rules.Permissions, string) error) string {
	if len(texts) == 0 {
		return "; no rule can be derived from this call, so it will be asked about again"
	}
	s := e.state.Load()
	perms, err := rules.Load(e.places.Root, rules.Options{Env: s.env, User: e.places.HomePermissions, System: e.places.ManagedPermissions})
	if err != nil {
		return fmt.Sprintf("; the rule was not written: %v", err)
	}
	accepted, err := config.RewriteRules(ctx, e.places, config.Options{Rego: e.policy, Hosts: e.presets.Hosts}, func() error {
		for _, text := range texts {
			if err := add(perms, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Sprintf("; the rule was not written: %v", err)
	}
	if log := s.log; log != nil {
		for _, text := range texts {
			event := audit.Event{
				Type: audit.TypePolicy, Kind: "added", Reason: "added a rule on the user's answer",
				Rule: &model.RuleRef{Text: text, Effect: string(effect), Source: perms.LocalPath()},
			}
			if err := log.Record(&event); err != nil {
				return fmt.Sprintf("; the rule was written, but not recorded: %v", err)
			}
		}
	}
	if err := e.Reload(ctx); err != nil {
		return fmt.Sprintf("; the rule was written, but the files cannot be read again: %v", err)
	}
	note := fmt.Sprintf("; added the %s rule %s to %s", effect, strings.Join(texts, ", "), perms.LocalPath())
	if !accepted {
		note += ", where it does not apply until `lictor trust accept`"
	}
	return note
}

// request builds the question, with the rules that each answer would add.
func (e *Engine) request(ctx context.Context, c *facts.Call, v Verdict) (Request, error) {
	s := e.state.Load()
	r := Request{
		Parts: approve.Parts(c.Query(), s.facts.Rules, &e.session), Strict: s.config.Strict,
		Changes: changes(s, c),
		Tool:    c.Input.Tool, Targets: c.Input.Targets, Isolation: c.Input.Isolation,
		Verdict: v, CallID: c.Input.CallID,
		Always: rules.DeriveAllowRules(c.Query(), s.env, nil),
		Never:  rules.DeriveDenyRule(c.Query(), s.env),
	}
	rules, err := e.sessionRules(ctx, c)
	r.Session = rules
	return r, err
}

// sessionRules asks the policy which rules the answer "session" would remember:
// one for each target, or none at all.
func (e *Engine) sessionRules(ctx context.Context, c *facts.Call) ([]model.SessionRule, error) {
	var out struct {
		Rules []model.SessionRule `json:"rules"`
	}
	if err := e.policy.Query(ctx, "session", c.Input, &out); err != nil {
		return nil, fmt.Errorf("deriving the session rules: %w", err)
	}
	return out.Rules, nil
}
