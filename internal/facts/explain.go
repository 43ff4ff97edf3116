package facts

import (
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
)

// Explain says how the verdict of a gathered call came about: every step of the
// chain with its outcome, what the analysis saw, and what would have allowed it.
func (x *Context) Explain(c *Call, v model.Verdict, steps []model.Step) model.Explanation {
	out := model.Explanation{
		Verdict: v, Facts: c.Input.Facts.Names(), Notes: x.notes(c), Allows: []string{},
		Steps: make([]model.StepOutcome, 0, len(steps)),
	}
	if out.Facts == nil {
		out.Facts = []string{}
	}
	held := map[string]model.Hit{}
	for _, h := range v.Hits {
		held[h.Step] = h
	}
	for _, s := range steps {
		o := model.StepOutcome{Step: s, Outcome: "does not hold"}
		if s.Step == v.Step {
			o.Outcome, o.Decision, o.Rule = "decides", v.Decision, v.Rule
		} else if h, ok := held[s.Step]; ok {
			o.Outcome, o.Decision, o.Rule = "holds too", h.Decision, h.Rule
		}
		out.Steps = append(out.Steps, o)
	}
	if v.Decision != model.Allow {
		out.Allows = x.allows(c, v)
	}
	return out
}

// notes are what the rooms saw that a reader of the verdict would ask about.
func (x *Context) notes(c *Call) []string {
	notes := []string{}
	for i := range c.Input.Targets {
		t := &c.Input.Targets[i]
		switch t.Kind {
		case model.KindPath:
			notes = append(notes, x.pathNote("", &t.Path)...)
		case model.KindCommand:
			notes = append(notes, x.commandNotes(t)...)
		}
	}
	return notes
}

func (x *Context) pathNote(prefix string, p *model.Path) []string {
	if !p.Moved {
		return nil
	}
	return []string{fmt.Sprintf("%s%s leads to %s", prefix, x.Guard.Display(*p), x.Guard.DisplayReal(*p))}
}

func (x *Context) commandNotes(t *model.Target) []string {
	var notes []string
	for i := range t.Parts {
		p := &t.Parts[i]
		note := "part: " + pathguard.Escape(p.Canonical)
		var inner []string
		for j := range p.Inner {
			inner = append(inner, pathguard.Escape(p.Inner[j].Flat))
		}
		if len(inner) > 0 {
			note += " (runs " + strings.Join(inner, "; ") + ")"
		}
		notes = append(notes, note)
	}
	for i := range t.Redirections {
		r := &t.Redirections[i]
		notes = append(notes, fmt.Sprintf("redirection: %ss %s", r.Access, pathguard.Escape(r.Text)))
		notes = append(notes, x.pathNote("redirection: ", &r.Path)...)
	}
	for i := range t.Mentions {
		m := &t.Mentions[i]
		notes = append(notes, fmt.Sprintf("operand: %ss %s", m.Access, pathguard.Escape(m.Text)))
		notes = append(notes, x.pathNote("operand: ", &m.Path)...)
	}
	for _, why := range opaqueWords(t.Command) {
		notes = append(notes, "opaque: "+why)
	}
	return notes
}

// allows says what would have allowed the call. Only what is really enough is
// named: where several steps stand in the way, each is.
func (x *Context) allows(c *Call, v model.Verdict) []string {
	if v.By == "input" || v.By == "error" {
		return []string{"a call without this error"}
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	f := c.Input.Facts
	if f.Has(model.FactPolicy) || f.Has(model.FactManagedDeny) {
		add("nothing in this project: the team policy stands above it; it is changed in its own file only")
		return out
	}
	if f.Has(model.FactProtected) {
		add("nothing: protected files and answers are the user's own, by hand")
		return out
	}
	if h := c.outside; h != nil {
		add("an allow rule with an absolute pattern that matches %s, such as %s", pathguard.Escape(h.path.Real), outsideRule(c, h))
	}
	if h := c.sensitive; h != nil {
		add("%s", namingRule(c, h))
	}
	for i := range c.match.Deny {
		add("removing or narrowing the deny rule %s in %s", pathguard.Escape(c.match.Deny[i].Rule.Text), c.match.Deny[i].Rule.Source)
	}
	if f.Has(model.FactPlan) && !f.Has(model.FactReadOnly) {
		add("build mode: plan mode changes nothing")
	}
	if len(out) > 0 && v.Decision == model.Deny && v.By != "unattended" {
		return out
	}
	return append(out, x.allowsQuestion(c)...)
}

// allowsQuestion says what would have spared the question.
func (x *Context) allowsQuestion(c *Call) []string {
	var out []string
	f := c.Input.Facts
	if len(c.match.Ask) > 0 && f.Has(model.FactAskFirst) {
		out = append(out, "a yes: with askFirst an ask rule outranks every allow rule")
	} else if derived := rules.DeriveAllowRules(&c.query, x.Env, nil); len(derived) > 0 {
		out = append(out, "allow rules such as "+strings.Join(derived, ", ")+" in "+".lictor/permissions.local.json")
	} else if f.Has(model.FactCommand) {
		out = append(out, "a yes to the question; no general rule can be derived from this command")
	} else {
		out = append(out, "a yes to the question, or an allow rule for "+c.Input.Tool)
	}
	if f.Has(model.FactCommand) && !f.Has(model.FactConfined) && !f.Has(model.FactUnparseable) {
		out = append(out, "running the command in lictor's OS sandbox")
	}
	return out
}

// outsideRule is the smallest permission rule that reaches a path outside the
// root for this call.
func outsideRule(c *Call, h *pathHit) string {
	class := c.Input.Class
	switch {
	case c.Input.Facts.Has(model.FactCommand), class != "" && !ofPaths[class]:
		class = accessClass[h.access]
	case class == "Copy" || class == "Move":
		return pairRule(c)
	case class == "":
		class = c.Input.Tool
	}
	return class + "(" + h.path.Real + ")"
}

// namingRule says which allow rule would name a sensitive file for this call.
func namingRule(c *Call, h *pathHit) string {
	const naming = "an allow rule that names the file, such as "
	path := rulePath(&h.path)
	switch class := c.Input.Class; {
	case class == "Copy" || class == "Move":
		return naming + pairRule(c)
	case class == "Grep" || class == "Glob":
		return naming + c.Input.Tool + "(" + path + ") in .lictor/settings.json"
	case ofPaths[class]:
		return naming + class + "(" + path + ")"
	case class == "" && !c.Input.Facts.Has(model.FactCommand):
		return naming + c.Input.Tool + "(" + path + ")"
	}
	return "no allow rule: none for " + c.Input.Tool + " names a file; " + accessClass[h.access] + "(" + path + ") names it for a file tool"
}

// ofPaths are the classes whose patterns are paths.
var ofPaths = map[string]bool{
	"Read": true, "Write": true, "Edit": true, "Mkdir": true, "Copy": true, "Move": true, "Delete": true, "List": true,
}

// accessClass is the class whose rules speak of an access by any other tool.
var accessClass = map[model.Access]string{
	model.AccessRead: "Read", model.AccessWrite: "Write", model.AccessDelete: "Delete", model.AccessList: "List",
}

// pairRule is the rule for both sides of a copy or move.
func pairRule(c *Call) string {
	var src, dst string
	for i := range c.Input.Targets {
		if t := &c.Input.Targets[i]; t.Role == model.RoleSource {
			src = rulePath(&t.Path)
		} else {
			dst = rulePath(&t.Path)
		}
	}
	return c.Input.Class + "(" + src + " -> " + dst + ")"
}

// rulePath is a real path as a permission rule writes it.
func rulePath(p *model.Path) string {
	if p.RealInside {
		return p.RealRel
	}
	return p.Real
}

// Visible returns the paths that a bulk reader may show.
func (x *Context) Visible(paths []string) []string {
	return x.Guard.Filter(paths, func(p model.Path) bool {
		c := &Call{Input: model.Input{
			Tool: "read_file", Class: "Read",
			Targets: []model.Target{{Kind: model.KindPath, Access: model.AccessRead, Path: p}},
		}}
		c.query = rules.Query{Tool: "read_file", Called: "read_file", Class: "Read", Targets: c.Input.Targets}
		x.Rules.Match(&c.query, &c.match)
		if len(c.match.Deny) > 0 {
			return true
		}
		if x.Team != nil && x.Team.check(x, c) != nil {
			return true
		}
		x.observePaths(c, func(model.Facts, bool) {})
		return c.sensitive != nil || c.sensitiveAsk != nil
	})
}
