package config

import "fmt"

// Limits are limits that a host enforces; 0 is no limit.
type Limits struct {
	MaxSteps    int `json:"maxSteps,omitempty"`
	TokenBudget int `json:"tokenBudget,omitempty"`
}

// EffectiveLimits are the limits of a session and of its helpers.
type EffectiveLimits struct {
	Limits
	Subagents Limits `json:"subagents"`
	MoE       Limits `json:"moe"`
}

// CapLimits returns the settings' limits under the team policy's caps: the
// smaller value wins, and no value is no limit. Neither argument is changed; a
// nil policy caps nothing.
func CapLimits(s Settings, policy *Policy) EffectiveLimits {
	var caps Limits
	if policy != nil {
		caps = policy.Limits
	}
	return EffectiveLimits{
		Limits:    Limits{s.Limits.MaxSteps, s.Limits.TokenBudget}.cap(caps),
		Subagents: Limits{s.Subagents.MaxSteps, s.Subagents.TokenBudget}.cap(caps),
		MoE:       Limits{s.MoE.MaxSteps, s.MoE.TokenBudget}.cap(caps),
	}
}

func (l Limits) cap(caps Limits) Limits {
	return Limits{smaller(l.MaxSteps, caps.MaxSteps), smaller(l.TokenBudget, caps.TokenBudget)}
}

// smaller returns the smaller of two limits, where 0 is no limit.
func smaller(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// CheckModel returns nil if the model's name matches at least one pattern of
// every layer's allowedModels, else an error that names the list it is not in.
// `*` in a pattern is any text; letter case counts. A nil policy allows every
// model.
func (p *Policy) CheckModel(name string) error {
	if p == nil {
		return nil
	}
	for _, list := range p.AllowedModels {
		if !list.allows(name) {
			return fmt.Errorf("model %q is not allowed by %s: it must match one of %q", name, list.Source, list.Patterns)
		}
	}
	return nil
}

func (l ModelList) allows(name string) bool {
	for _, pattern := range l.Patterns {
		if matchStar(pattern, name) {
			return true
		}
	}
	return len(l.Patterns) == 0
}

// matchStar matches text against a pattern in which `*` is any text, in linear
// memory and at most len(pattern)·len(text) steps.
func matchStar(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
