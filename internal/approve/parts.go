package approve

import (
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

// Parts returns the parts of a call's commands with what covers each of them, for
// Request.Parts: allow rules part by part, or a session answer about the whole
// command. Nothing covers a part of a command that is opaque, unless a rule covers
// every command. Where all parts are covered and the command is not, its
// redirections follow as parts of their own ("> out.log"). session may be nil.
func Parts(q *rules.Query, set *rules.Set, session *Session) []model.AskedPart {
	var out []model.AskedPart
	for i := range q.Targets {
		t := &q.Targets[i]
		if t.Kind != model.KindCommand || t.Command == nil {
			continue
		}
		if len(t.Parts) == 0 {
			out = append(out, model.AskedPart{Text: t.Source})
			continue
		}
		var whole *model.Rule
		if session != nil {
			whole = session.Covers(q.Tool, t)
		}
		for p := range t.Parts {
			part := &t.Parts[p]
			asked := model.AskedPart{Text: part.Text}
			switch {
			case whole != nil:
				asked.Covered, asked.Rule = true, whole.Text
			case part.Neutral && !t.Opaque:
				asked.Covered = true
			default:
				asked.Rule, asked.Covered = partRule(q, set, t, part)
			}
			out = append(out, asked)
		}
		if whole == nil {
			out = append(out, redirections(q, set, t, out[len(out)-len(t.Parts):])...)
		}
	}
	return out
}

// redirections returns what is left to ask about where every part is covered.
func redirections(q *rules.Query, set *rules.Set, t *model.Target, parts []model.AskedPart) []model.AskedPart {
	for i := range parts {
		if !parts[i].Covered {
			return nil
		}
	}
	one := *q
	one.Targets = []model.Target{*t}
	var m rules.Match
	if set != nil {
		set.Match(&one, &m)
	}
	if m.Covered {
		return nil
	}
	var out []model.AskedPart
	for i := range t.Redirections {
		r := &t.Redirections[i]
		sign := "< "
		if r.Access.Changes() {
			sign = "> "
		}
		out = append(out, model.AskedPart{Text: sign + r.Text})
	}
	return out
}

// partRule asks the rules about one part as if it were a command of its own.
func partRule(q *rules.Query, set *rules.Set, t *model.Target, part *model.Part) (string, bool) {
	if set == nil {
		return "", false
	}
	alone := *t
	command := *t.Command
	command.Parts = []model.Part{*part}
	command.Redirects, command.Files = nil, nil
	alone.Command = &command
	alone.Redirections, alone.Mentions = nil, nil
	one := *q
	one.Targets = []model.Target{alone}
	var m rules.Match
	set.Match(&one, &m)
	if !m.Covered {
		return "", false
	}
	for i := range m.Allow {
		if m.Allow[i].Rule != nil {
			return m.Allow[i].Rule.Text, true
		}
	}
	return "", true
}
