package facts

import (
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// Verdict turns the policy's outcome for a gathered call into a verdict: the
// reason, the rule and the hits are rendered from the evidence.
func (x *Context) Verdict(c *Call, o *model.Outcome) model.Verdict {
	v := model.Verdict{
		Decision: o.Decision, By: o.By, Kind: o.Kind, Step: o.Step, Class: o.Class,
		Revision: x.Revision, Hits: make([]model.Hit, 0, len(o.Hits)),
	}
	v.Rule = x.ruleOf(c, o.Step, o.By, o.Kind)
	v.Reason = x.reason(c, o, v.Rule)
	for _, h := range o.Hits {
		v.Hits = append(v.Hits, model.Hit{
			Step: h.Step, Decision: h.Decision, By: h.By, Kind: h.Kind,
			Rule: x.ruleOf(c, h.Step, h.By, h.Kind),
		})
	}
	return v
}

// ErrorVerdict is the denial for a call that could not be decided: the policy
// or a path failed. There is no revision if the policy could not be loaded.
func ErrorVerdict(err error, revision string) model.Verdict {
	return failed("error", "deny_error", err, revision)
}

// InputVerdict is the denial for input that is no call at all.
func InputVerdict(err error, revision string) model.Verdict {
	return failed("input", "deny_input", err, revision)
}

func failed(by, class string, err error, revision string) model.Verdict {
	return model.Verdict{
		Decision: model.Deny, By: by, Step: "in", Class: class,
		Reason: oneLine(err.Error()), Hits: []model.Hit{}, Revision: revision,
	}
}

// ruleOf returns the rule or policy entry behind a step.
func (x *Context) ruleOf(c *Call, step, by, kind string) *model.RuleRef {
	switch {
	case step == "0" && c.policy != nil:
		return &model.RuleRef{Text: c.policy.text(), Effect: "deny", Source: c.policy.entry.Source}
	case step == "0" && len(c.managed.Deny) > 0:
		return finding(&c.managed.Deny[0], "deny")
	case step == "3d" && len(c.managed.Ask) > 0:
		return finding(&c.managed.Ask[0], "ask")
	case step == "3" && len(c.match.Deny) > 0:
		return ref(c.match.Deny[0].Rule)
	case step == "3" && len(c.gitMatch.Deny) > 0:
		return ref(c.gitMatch.Deny[0].Rule)
	case step == "3b" && kind == "plan", step == "2", step == "1":
		return nil
	case step == "3c" && by != "outside":
		if len(c.match.Ask) > 0 {
			return ref(c.match.Ask[0].Rule)
		}
		if len(c.gitMatch.Ask) > 0 {
			return ref(c.gitMatch.Ask[0].Rule)
		}
		if c.sensitiveAsk != nil {
			return ref(c.sensitiveAsk.rule)
		}
	case by == "session" && c.session != nil:
		return ref(c.session)
	case by == "rule" && len(c.match.Allow) > 0:
		return ref(c.match.Allow[0].Rule)
	}
	return nil
}

func finding(f *bundle.Finding, effect string) *model.RuleRef {
	return &model.RuleRef{Text: f.Bundle + "/" + f.ID, Effect: effect, Source: f.Source}
}

func ref(r *model.Rule) *model.RuleRef {
	if r == nil {
		return nil
	}
	return &model.RuleRef{Text: r.Text, Effect: string(r.Effect), Source: r.Source}
}

// reason is one line for a person or the model: what decided, in which file,
// and where it is a refusal, what to do instead.
func (x *Context) reason(c *Call, o *model.Outcome, rule *model.RuleRef) string {
	switch o.Step {
	case "in":
		return oneLine(c.Input.Error)
	case "0":
		return x.policyReason(c)
	case "0b":
		return x.outsideReason(c.outside) + ": stay inside, or ask the user for an allow rule with an absolute pattern in a permission file"
	case "1":
		return x.sensitiveReason(c, c.sensitive)
	case "2":
		return x.protectedReason(c.protected)
	case "3":
		return x.denyReason(c, rule)
	case "3b":
		return x.planReason(c, o)
	case "3c":
		return x.askReason(c, o, rule)
	case "3d":
		return x.unattended(o, oneLine(c.managed.Ask[0].String()))
	case "4":
		return c.Input.Tool + " only reads"
	case "5":
		return "the command runs in the OS sandbox"
	case "6":
		if o.By == "session" {
			return "covered by an answer for this session: " + rule.Text
		}
		return "covered by " + describe("allow", rule)
	}
	return x.defaultReason(c, o)
}

func describe(effect string, rule *model.RuleRef) string {
	if rule == nil {
		return "the " + effect + " rules"
	}
	return fmt.Sprintf("the %s rule %s in %s", effect, pathguard.Escape(rule.Text), rule.Source)
}

func (x *Context) policyReason(c *Call) string {
	h := c.policy
	if h == nil {
		return oneLine(c.managed.Deny[0].String())
	}
	what, file := pathguard.Escape(short(h.what)), h.entry.Source
	switch h.key {
	case "requireSandbox":
		return fmt.Sprintf("The team policy requires the OS sandbox (requireSandbox in %s), and this command would run outside it: run it through lictor, or without outside_sandbox", file)
	case "disallowedCommands":
		return fmt.Sprintf("%s is disallowed by team policy (disallowedCommands %q in %s): do it another way, or ask the people who own that file", quoted(what), h.entry.Text, file)
	case "denyPaths":
		return fmt.Sprintf("%s is closed by team policy (denyPaths %q in %s): work without it", x.where(h.path), h.entry.Text, file)
	case "network.blockedHosts":
		return fmt.Sprintf("%s is blocked by team policy (network.blockedHosts %q in %s): use another host", what, h.entry.Text, file)
	}
	return fmt.Sprintf("%s is on no allow list, and the strict policy prohibits user overrides (network.strictAllowlist in %s): an allow rule for the host must stand in a rule file", what, file)
}

// text is the policy entry as the verdict's rule shows it.
func (h *policyHit) text() string {
	if h.entry.Text == "" {
		return h.key + ": true"
	}
	return h.key + ": " + h.entry.Text
}

func (x *Context) where(h *pathHit) string {
	shown := x.Guard.Display(h.path)
	if h.real {
		return fmt.Sprintf("%s leads to %s: it", shown, x.Guard.DisplayReal(h.path))
	}
	return shown
}

func (x *Context) outsideReason(h *pathHit) string {
	if h.real {
		return fmt.Sprintf("%s leads to %s, outside the project root %s", x.Guard.Display(h.path), x.Guard.DisplayReal(h.path), x.Guard.Root())
	}
	return fmt.Sprintf("%s lies outside the project root %s", x.Guard.Display(h.path), x.Guard.Root())
}

func (x *Context) sensitiveReason(c *Call, h *pathHit) string {
	name := x.Guard.Display(h.path)
	if h.real {
		name = fmt.Sprintf("%s leads to %s: it", name, x.Guard.DisplayReal(h.path))
	}
	if c.Input.Facts.Has(model.FactCommand) {
		return name + " may hold secrets, and no rule for a command names a file: work without its content, or ask the user for a rule that names it for a file tool"
	}
	return name + " may hold secrets, and no allow rule names it: work without its content, or ask the user for a rule that names this file"
}

func (x *Context) protectedReason(h *protectedHit) string {
	if h.command != "" {
		return fmt.Sprintf("%s answers for the user: only the user may run it", quoted(pathguard.Escape(short(h.command))))
	}
	return x.where(&h.pathHit) + " is protected (git, lictor or an agent would act on it): ask the user to make this change"
}

func (x *Context) denyReason(c *Call, rule *model.RuleRef) string {
	out := "denied by " + describe("deny", rule)
	ev, target := (*model.Evidence)(nil), c.git
	if len(c.match.Deny) > 0 {
		ev = &c.match.Deny[0]
		target = &c.Input.Targets[ev.Target]
	} else {
		ev = &c.gitMatch.Deny[0]
	}
	path := &target.Path
	if r := reference(target, ev.Ref); r != nil {
		path = &r.Path
	}
	switch {
	case ev.ViaReal:
		out = fmt.Sprintf("%s leads to %s: %s", x.Guard.Display(*path), x.Guard.DisplayReal(*path), out)
	case ev.Ref >= 0 && path.Rel != "":
		out = fmt.Sprintf("%s: %s", x.Guard.Display(*path), out)
	case target.Kind == model.KindCommand && ev.Matched != "" && ev.Matched != target.Source:
		out = fmt.Sprintf("%s, which matches %s", out, quoted(pathguard.Escape(short(ev.Matched))))
	}
	return out + ": do it another way, or ask the user"
}

func (x *Context) planReason(c *Call, o *model.Outcome) string {
	switch {
	case o.Decision == model.Allow && o.By == "sandbox":
		return "the command runs in the OS sandbox, with the project read-only"
	case o.Decision == model.Allow:
		return "covered by " + describe("allow", x.ruleOf(c, o.Step, o.By, o.Kind))
	case c.Input.Facts.Has(model.FactCommand):
		return "plan mode: commands run only in the OS sandbox; put this command into the plan"
	}
	return "plan mode: nothing is changed now; put this change into the plan"
}

func (x *Context) askReason(c *Call, o *model.Outcome, rule *model.RuleRef) string {
	var why string
	switch {
	case o.By == "outside" || rule == nil && c.outsideAsk != nil:
		why = x.outsideReason(c.outsideAsk)
	case c.sensitiveAsk != nil:
		why = fmt.Sprintf("%s may hold secrets, and %s names it", x.where(c.sensitiveAsk), describe("ask", rule))
	default:
		why = "asked by " + describe("ask", rule)
	}
	return x.unattended(o, why)
}

func (x *Context) defaultReason(c *Call, o *model.Outcome) string {
	why := "no rule decides about this call"
	if missing := x.uncovered(c); missing != "" {
		why = missing
	}
	for i := range c.Input.Targets {
		t := &c.Input.Targets[i]
		if t.Kind == model.KindURL && t.AlwaysAsk {
			why = "data could leave in this URL, or its caller wants a question"
		}
		if t.Command != nil && t.Opaque {
			why = "the command may run something that cannot be told from its text: " + strings.Join(opaqueWords(t.Command), "; ")
		}
	}
	return x.unattended(o, why)
}

// uncovered says which parts of a command, or which places outside the root, keep
// allow rules from covering a call; "" if that is not what is missing.
func (x *Context) uncovered(c *Call) string {
	var missing []string
	covered := 0
	for _, part := range approve.Parts(&c.query, x.Rules, x.Session) {
		if part.Covered {
			covered++
		} else if len(missing) < 3 {
			missing = append(missing, quoted(pathguard.Escape(short(part.Text))))
		}
	}
	if covered > 0 && len(missing) > 0 {
		return "no rule covers " + strings.Join(missing, " and ")
	}
	for i := range c.Input.Targets {
		t := &c.Input.Targets[i]
		for j := range t.Mentions {
			if m := &t.Mentions[j]; covered > 0 && !m.Guess && (!m.Inside || !m.RealInside) {
				return x.Guard.Display(m.Path) + " lies outside the project root, where the rules for this command do not reach"
			}
		}
	}
	return ""
}

func (x *Context) unattended(o *model.Outcome, why string) string {
	if o.Decision == model.Deny {
		return fmt.Sprintf("%s, and it cannot be asked about: %s", why, oneLine(x.Unattended))
	}
	return why
}

func quoted(s string) string { return "\"" + s + "\"" }

// short cuts a text that is too long for one line.
func short(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

func oneLine(s string) string { return pathguard.Escape(s) }
