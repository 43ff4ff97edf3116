// Package approve asks people and remembers their answers for a session.
//
// An approver is anything that implements model.Approver: [Terminal] asks on the
// terminal, [Queue] lets a person answer from elsewhere, [Script] is for tests,
// [Unattended] says no. [Serial] shows one question at a time and gives up in
// time, [Switch] changes the approver while the program runs. [Ask] puts a
// question to any of them and checks the reply: everything that is not a clear
// yes is a no.
package approve

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// Session is the memory of "session" answers. It lives as long as the engine,
// survives a reload of rules, and is never written anywhere. The zero value is
// ready to use and safe for concurrent use.
type Session struct {
	mu    sync.RWMutex
	rules map[model.SessionRule]grant
	now   func() time.Time
}

// grant is a remembered rule; a zero until means as long as the session lives.
type grant struct {
	rule  *model.Rule
	until time.Time
}

// Grant is one remembered answer.
type Grant struct {
	Rule model.SessionRule
	// Text is the rule as people write it ("bash(go test ./...)").
	Text string
	// Until is when it is forgotten; zero means at the end of the session.
	Until time.Time
}

// Remember adds a rule; a rule that is there already changes nothing. A command
// is remembered by its syntax tree, so that blanks do not matter and nothing
// else passes for it.
func (s *Session) Remember(rule model.SessionRule) { s.RememberUntil(rule, time.Time{}) }

// RememberUntil is Remember for a limited time: from until on, the rule covers
// nothing. A zero time means as long as the session lives. Of two answers about
// the same the one that lasts longer holds. The caller records the grant.
func (s *Session) RememberUntil(rule model.SessionRule, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rules == nil {
		s.rules = map[model.SessionRule]grant{}
	}
	if !until.IsZero() {
		now := s.clock()
		for key, g := range s.rules {
			if g.over(now) {
				delete(s.rules, key)
			}
		}
	}
	key := keyOf(rule)
	if old, there := s.rules[key]; there && (old.until.IsZero() || !until.IsZero() && !until.After(old.until)) {
		return
	}
	s.rules[key] = grant{until: until, rule: &model.Rule{
		Tool: rule.Tool, Text: ruleText(rule), Effect: model.EffectAllow,
		Syntax: model.SyntaxSettings, Source: "session",
	}}
}

// Covers returns the remembered rule that covers the one target of a call to
// the tool, or nil. The rule is shared: do not change it.
func (s *Session) Covers(tool string, target *model.Target) *model.Rule {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.rules) == 0 {
		return nil
	}
	rule := model.SessionRule{Kind: model.SessionTool, Tool: tool}
	switch target.Kind {
	case model.KindCommand:
		if target.Command == nil {
			return nil
		}
		rule = model.SessionRule{
			Kind: model.SessionCommand, Tool: tool,
			Command: target.Source, OutsideSandbox: target.OutsideSandbox,
		}
	case model.KindURL:
		rule = model.SessionRule{Kind: model.SessionHost, Tool: tool, Host: target.Host.Host}
	}
	found, ok := s.rules[keyOf(rule)]
	if !ok || !found.until.IsZero() && found.over(s.clock()) {
		return nil
	}
	return found.rule
}

// Len returns how many rules are remembered.
func (s *Session) Len() int { return len(s.Grants()) }

// Grants returns what is remembered, in the order of its text.
func (s *Session) Grants() []Grant {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.clock()
	out := make([]Grant, 0, len(s.rules))
	for rule, g := range s.rules {
		if !g.over(now) {
			out = append(out, Grant{Rule: rule, Text: g.rule.Text, Until: g.until})
		}
	}
	slices.SortFunc(out, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), a.Until.Compare(b.Until))
	})
	return out
}

// Forget drops every rule.
func (s *Session) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

func (g grant) over(now time.Time) bool { return !g.until.IsZero() && !now.Before(g.until) }

func (s *Session) clock() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

func keyOf(rule model.SessionRule) model.SessionRule {
	if rule.Kind == model.SessionCommand {
		rule.Command = shell.Key(rule.Command, model.ShellUnknown)
	}
	return rule
}

// ruleText is a session rule as people write it.
func ruleText(rule model.SessionRule) string {
	switch rule.Kind {
	case model.SessionCommand:
		return rule.Tool + "(" + rule.Command + ")"
	case model.SessionHost:
		return rule.Tool + "(" + rule.Host + ")"
	}
	return rule.Tool
}
