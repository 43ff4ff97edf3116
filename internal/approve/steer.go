package approve

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// maxSteer keeps what the model has to read short.
const maxSteer = 1000

// Steer is the text for an agent whose call was refused: what was refused, why
// and by which rule, and what it may do instead. The verdict is the one that
// denied; an ask verdict means that a person said no, or that nobody answered.
//
// It is one line without characters that a terminal would hide. In the strict
// profile, and wherever a person or a rule wants the sandbox, it never mentions a
// way out of it. An empty string means that the verdict refuses nothing.
func Steer(request *model.Request, verdict *model.Verdict) string {
	if verdict.Decision == model.Allow {
		return ""
	}
	var b strings.Builder
	b.WriteString("Refused: ")
	b.WriteString(what(request))
	b.WriteString(". ")
	if why := why(request, verdict); why != "" {
		b.WriteString(sentence(why) + " ")
	}
	advice := instead(request, verdict)
	return short(b.String(), maxSteer-len(advice)) + advice
}

// what names the call in a few words.
func what(request *model.Request) string {
	tool := short(visible(request.Tool), 80)
	if tool == "" {
		tool = "the call"
	}
	for i := range request.Targets {
		if text := targetText(&request.Targets[i]); text != "" {
			more := ""
			if len(request.Targets) > 1 {
				more = " and more"
			}
			return tool + " " + short(visible(text), 120) + more
		}
	}
	return tool
}

func targetText(t *model.Target) string {
	switch t.Kind {
	case model.KindCommand:
		if t.Command != nil {
			return "`" + t.Source + "`"
		}
	case model.KindPath:
		if t.Rel != "" {
			return t.Rel
		}
		return t.Text
	case model.KindURL:
		return t.URL
	}
	return t.Descriptor
}

// why is the verdict's own reason; in the strict profile without the words of
// advice that a reason may carry about another place to run.
func why(request *model.Request, verdict *model.Verdict) string {
	reason := verdict.Reason
	if verdict.Decision == model.Ask {
		reason = ""
		if verdict.By == "rule" && verdict.Rule != nil {
			reason = "the rule " + verdict.Rule.Text + " in " + verdict.Rule.Source + " asks first, and nobody said yes"
		}
	}
	reason = short(visible(reason), 400)
	rule := verdict.Rule
	if verdict.Decision == model.Deny && rule != nil && rule.Text != "" && !strings.Contains(reason, visible(rule.Text)) {
		reason = strings.TrimRight(reason, ". ") + " (" + visible(rule.Effect) + " rule " + short(visible(rule.Text), 120) + " in " + short(visible(rule.Source), 120) + ")"
	}
	if request.Strict {
		reason = withoutWayOut(reason)
	}
	return reason
}

// waysOut are words that could read as a hint to leave the sandbox.
var waysOut = []string{"outside_sandbox", "outside the sandbox", "on the host", "without the sandbox", "executor", "unsandboxed", "disable"}

// withoutWayOut drops the clauses of a reason that speak of a way out.
func withoutWayOut(reason string) string {
	clauses := strings.FieldsFunc(reason, func(r rune) bool { return r == ';' || r == ':' })
	kept := clauses[:0]
	for _, clause := range clauses {
		low := strings.ToLower(clause)
		out := false
		for _, word := range waysOut {
			out = out || strings.Contains(low, word)
		}
		if !out {
			kept = append(kept, strings.TrimSpace(clause))
		}
	}
	if len(kept) == len(clauses) {
		return reason
	}
	return strings.Join(kept, "; ")
}

// instead says what the agent may do now.
func instead(request *model.Request, verdict *model.Verdict) string {
	switch {
	case verdict.Kind == "plan":
		return "Instead: nothing is changed while planning; read what you need and describe this step in the plan."
	case verdict.By == "unattended":
		return "Instead: nobody can answer in this run; go on with what needs no approval and say at the end what was left undone and why."
	case verdict.Decision == model.Ask && verdict.By == "user", verdict.Decision == model.Ask && verdict.Step != "in":
		return "Instead: do not repeat this call or spell it in another way; take a step that needs no approval, or ask the user what they want."
	}
	switch verdict.By {
	case "input":
		return "Instead: correct that argument and make the call again."
	case "error":
		return "Instead: do not try again unchanged; tell the user that the check itself failed."
	case "outside":
		return "Instead: use files inside the project; if it must be this one, ask the user to copy it in or to allow it."
	case "sensitive":
		return "Instead: work without its content; use an example file or the names of the settings, and let the user fill in secrets."
	case "policy":
		return "Instead: reach the goal in a way the policy allows; it cannot be overridden here, so tell the user if there is none."
	}
	switch {
	case verdict.Kind == "protected":
		return "Instead: leave this to the user: tell them what to change and why."
	case wantsOut(request):
		return "Instead: run it inside the sandbox, or tell the user what it needs that the sandbox does not give."
	}
	return "Instead: do not look for another spelling of the same thing; choose a way that no rule forbids, or tell the user what you need and why."
}

func wantsOut(request *model.Request) bool {
	for i := range request.Targets {
		if request.Targets[i].OutsideSandbox {
			return true
		}
	}
	return false
}

// sentence gives a reason its end; its beginning may be a file name and stays.
func sentence(text string) string {
	return "Why: " + strings.TrimRight(text, ". ") + "."
}

// short cuts a text to n runes.
func short(text string, n int) string {
	if len(text) <= n {
		return text
	}
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
