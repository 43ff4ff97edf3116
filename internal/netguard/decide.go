package netguard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lictor-policy/lictor/internal/model"
)

// BlockedHost is an entry of network.blockedHosts with the file that holds it.
type BlockedHost struct {
	Pattern HostPattern
	File    string
}

// Policy decides about the requests of one run in the order of SPEC section 9:
// port, team policy, the user's deny rules, the list, the chain. Its method
// Decide is made for [Proxy].Decide. It may be used by many goroutines.
type Policy struct {
	// Ports are the open ports; nil means 80 and 443.
	Ports []int
	// Blocked are the team policy's hosts.
	Blocked []BlockedHost
	// Denied returns the user's deny rule network(host) that matches, as a person
	// should read it, and whether there is one. nil: no rules.
	Denied func(host model.Host) (rule string, denied bool)
	// List holds the resolved and pinned hosts of network.allow.
	List List
	// Ask gets what nothing above decides: the chain with tool network. nil denies.
	// It is called once per host and port, however many connections want it, and its
	// answer holds for the run, except for a URL that always needs a person
	// ([AlwaysAsk]). The context ends with the proxy. A denial without a reason gets
	// "not on the list" and the hint; one with a reason keeps what it says.
	Ask func(ctx context.Context, r Request) Decision

	mu      sync.Mutex
	answers map[string]*answer
}

// answer is what Ask said, or will say: done is closed then.
type answer struct {
	done     chan struct{}
	decision Decision
	lost     bool
}

// The values of Decision.By that Policy gives.
const (
	ByPort    = "port"
	ByPolicy  = "policy"
	ByRule    = "rule"
	ByListed  = "listed"
	ByDefault = "default"
)

var defaultPorts = []int{80, 443}

// Decide decides about a request. The host must be in normal form.
func (p *Policy) Decide(ctx context.Context, r Request) Decision {
	ports := p.Ports
	if ports == nil {
		ports = defaultPorts
	}
	if !slices.Contains(ports, r.Port) {
		return Decision{By: ByPort, Reason: "only ports " + joinPorts(ports) + " are open"}
	}
	for _, b := range p.Blocked {
		if b.Pattern.Match(r.Host.Host) {
			return Decision{By: ByPolicy, Rule: b.Pattern.String(), Reason: fmt.Sprintf("blocked by team policy (network.blockedHosts %q in %s)", b.Pattern, b.File)}
		}
	}
	if p.Denied != nil {
		if rule, denied := p.Denied(r.Host); denied {
			return Decision{By: ByRule, Rule: rule, Reason: "denied by the rule " + rule}
		}
	}
	if h, ok := p.List.Find(r.Host.Host); ok {
		return Decision{Allowed: true, By: ByListed, Rule: h.Pattern, Reason: "listed: " + h.Entry, NonPublic: h.NonPublic}
	}
	if p.Ask == nil {
		return notListed(r)
	}
	return p.ask(ctx, r)
}

func notListed(r Request) Decision {
	return Decision{By: ByDefault, Reason: "not on the list", Hint: AllowHint(r.Host.Host)}
}

// maxAnswers bounds what is remembered: names cost a client nothing.
const maxAnswers = 4096

// ask asks once for everybody who wants the same.
func (p *Policy) ask(ctx context.Context, r Request) Decision {
	if r.URL != "" {
		if u, err := ParseURL(r.URL); err != nil || AlwaysAsk(u) {
			return p.askNow(ctx, r)
		}
	}
	key := r.Target()
	for {
		p.mu.Lock()
		if p.answers == nil {
			p.answers = map[string]*answer{}
		}
		a, ok := p.answers[key]
		if !ok {
			if len(p.answers) >= maxAnswers {
				p.mu.Unlock()
				return p.askNow(ctx, r)
			}
			a = &answer{done: make(chan struct{}), lost: true}
			p.answers[key] = a
		}
		p.mu.Unlock()
		if !ok {
			return p.lead(ctx, r, key, a)
		}
		select {
		case <-a.done:
			// Nobody answered because the asking connection went away: ask again.
			if !a.lost {
				return a.decision
			}
		case <-ctx.Done():
			return Decision{By: ByDefault, Reason: "nobody answered in time"}
		}
	}
}

// lead asks and tells the others. An answer that never came is forgotten.
func (p *Policy) lead(ctx context.Context, r Request, key string, a *answer) Decision {
	defer func() {
		if a.lost {
			p.mu.Lock()
			delete(p.answers, key)
			p.mu.Unlock()
		}
		close(a.done)
	}()
	d := p.askNow(ctx, r)
	a.decision, a.lost = d, ctx.Err() != nil
	return d
}

// askNow calls Ask and fills in what a bare denial lacks. An answer never opens
// addresses that are not public: only the list does.
func (p *Policy) askNow(ctx context.Context, r Request) Decision {
	d := p.Ask(ctx, r)
	d.NonPublic = false
	if !d.Allowed && d.Reason == "" {
		bare := notListed(r)
		d.Reason = bare.Reason
		if d.Hint == "" {
			d.Hint = bare.Hint
		}
	}
	return d
}

// joinPorts writes "80 and 443".
func joinPorts(ports []int) string {
	text := make([]string, len(ports))
	for i, n := range ports {
		text[i] = fmt.Sprint(n)
	}
	if len(text) == 2 {
		return text[0] + " and " + text[1]
	}
	return strings.Join(text, ", ")
}
