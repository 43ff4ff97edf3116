package lictor

import (
	"context"
	"encoding/json"
	"net"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// NetworkList says which hosts sandboxed commands may reach, one line a host with
// where it comes from; nothing if there is no network.
func (e *Engine) NetworkList() []string {
	s := e.state.Load()
	if s.network.Len() == 0 {
		return nil
	}
	return s.resolved.Lines()
}

// Proxy serves the allowlist proxy on a listener until the context ends, and
// returns what it blocked, one line a host. The listener is closed. credentials
// are "user:password" that clients must give, "" for none.
func (e *Engine) Proxy(ctx context.Context, l net.Listener, credentials string) ([]string, error) {
	p := e.newProxy(e.state.Load(), &Call{}, audit.Ref{})
	p.Credentials = credentials
	stop := context.AfterFunc(ctx, func() { p.Close() })
	defer stop()
	err := p.Serve(l)
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	return p.Report(), err
}

// newProxy makes the proxy of one run: listed hosts pass, what the team policy
// blocks or a rule denies does not, and the chain is asked about the rest. What is
// recorded names the call whose command runs behind the proxy, and its intent, so
// that the log says which command caused a block (SPEC section 9).
func (e *Engine) newProxy(s *state, call *Call, intent audit.Ref) *netguard.Proxy {
	policy := &netguard.Policy{
		List:   s.network,
		Denied: s.deniedHost,
		Ask: func(ctx context.Context, r netguard.Request) netguard.Decision {
			args, err := json.Marshal(map[string]string{"url": r.TargetURL()})
			if err != nil {
				return netguard.Decision{By: "error", Reason: err.Error()}
			}
			d, err := e.Decide(ctx, Call{Tool: "network", Args: args, Agent: "proxy", CallID: call.CallID})
			out := netguard.Decision{Allowed: d.Allowed && err == nil, By: d.By}
			if d.Verdict.Rule != nil {
				out.Rule = d.Verdict.Rule.Text
			}
			if !out.Allowed && d.By != "user" && d.By != "default" {
				out.Reason, out.Hint = d.Reason, netguard.AllowHint(r.Host.Host)
			}
			return out
		},
	}
	if s.facts.Team != nil {
		policy.Blocked = s.facts.Team.BlockedHosts()
	}
	record := func(class audit.Class, by, rule, target, reason string) {
		log := e.state.Load().log
		if log == nil {
			return
		}
		event := audit.Event{
			Type: audit.TypeNetwork, Tool: "network", Class: class, By: by, Reason: reason,
			TargetKind: model.KindURL, Target: target, Revision: s.facts.Revision,
			Risk:   audit.RiskOf(class, model.KindURL, false),
			CallID: call.CallID, Agent: call.Agent, Intent: intent.Seq, IntentSegment: intent.Segment,
		}
		if rule != "" {
			event.Rule = &model.RuleRef{Text: rule}
		}
		if err := log.Record(&event); err != nil && e.options.Notify != nil {
			e.options.Notify(err.Error())
		}
	}
	proxy := &netguard.Proxy{
		Decide: policy.Decide,
		OnBlock: func(b netguard.Block) {
			class := audit.DenyRule
			switch b.By {
			case netguard.ByPolicy:
				class = audit.DenyPolicy
			case "unattended", "default": // nobody could be asked
				class = audit.DenyUnattended
			case "user":
				class = audit.DenyUser
			}
			record(class, b.By, b.Rule, b.Target(), b.Reason)
		},
		OnAllow: func(r netguard.Request, d netguard.Decision) {
			class := audit.AllowRule
			if d.By == "user" || d.By == "session" {
				class = audit.Class("allow_" + d.By)
			}
			record(class, d.By, d.Rule, r.Target(), d.Reason)
		},
	}
	if adjustProxy != nil {
		adjustProxy(e, proxy)
	}
	return proxy
}

// adjustProxy lets tests put a resolver and a dialer of their own into the proxy
// of a run: a test has no names of its own and no server at port 443. It is nil
// in every program, and tests set it before anything runs. What may be reached is
// not up to it.
var adjustProxy func(*Engine, *netguard.Proxy)

// deniedHost returns the user's deny rule for a host, if there is one.
func (s *state) deniedHost(host model.Host) (string, bool) {
	q := rules.Query{
		Tool: "network", Called: "network", Class: s.table.Class("network"),
		Targets: []model.Target{{Kind: model.KindURL, URL: "https://" + host.Host + "/", Host: host}},
	}
	var m rules.Match
	s.facts.Rules.Match(&q, &m)
	if len(m.Deny) == 0 {
		return "", false
	}
	return m.Deny[0].Rule.Text + " in " + m.Deny[0].Rule.Source, true
}

// openNetwork resolves network.allow, as far as the user accepted it.
func (e *Engine) openNetwork(ctx context.Context, s *state) error {
	settings := s.config.Applied.Settings.Network
	if settings == nil || len(settings.Allow) == 0 {
		return nil
	}
	var err error
	if s.resolved, err = e.presets.Resolve(ctx, settings.Allow); err != nil {
		return err
	}
	s.network, err = s.resolved.List()
	return err
}
