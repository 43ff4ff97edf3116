package eval

import "github.com/lictor-policy/lictor/internal/model"

// reference is SPEC section 3 and 6 once more, in plain Go and in another shape:
// every step says by itself whether it holds, and the first that does decides.
// It is a third opinion beside the table and the Rego chain, written from the
// specification and not from the Rego.
func reference(f model.Facts) *model.Outcome {
	type row struct {
		holds                               bool
		step, decision, by, kind, className string
	}
	has := func(fact model.Facts) bool { return f&fact != 0 }
	unattended := has(model.FactUnattended)
	question := func(holds bool, step, by string) row {
		if unattended {
			return row{holds, step, "deny", "unattended", "", "deny_unattended"}
		}
		return row{holds, step, "ask", by, "", "ask"}
	}

	covered := has(model.FactAllowed) || has(model.FactSession)
	ruleAsks := has(model.FactAsked) && (!covered || has(model.FactAskFirst)) || has(model.FactSensitiveAsk)
	askedBy := "outside"
	if ruleAsks {
		askedBy = "rule"
	}
	sandboxed := has(model.FactCommand) && has(model.FactConfined) && !has(model.FactUnparseable) && !has(model.FactChange)
	coveredBy := row{covered && !has(model.FactAlwaysAsk), "6", "allow", "session", "", "allow_session"}
	if has(model.FactAllowed) {
		coveredBy.by, coveredBy.className = "rule", "allow_rule"
	}

	planned := row{has(model.FactPlan) && !has(model.FactReadOnly), "3b", "deny", "rule", "plan", "deny_plan"}
	wouldAsk := has(model.FactAsked) || has(model.FactSensitiveAsk) || has(model.FactOutsideAsk) || has(model.FactManagedAsk)
	switch {
	case wouldAsk || has(model.FactChange):
	case sandboxed:
		planned = row{planned.holds, "3b", "allow", "sandbox", "", "allow_sandbox"}
	case has(model.FactCommand):
	case has(model.FactAllowed) && !has(model.FactAlwaysAsk):
		planned = row{planned.holds, "3b", "allow", "rule", "", "allow_rule"}
	}

	rows := []row{
		{has(model.FactInputError), "in", "deny", "input", "", "deny_input"},
		{has(model.FactPolicy) || has(model.FactManagedDeny), "0", "deny", "policy", "", "deny_policy"},
		{has(model.FactOutside), "0b", "deny", "outside", "", "deny_outside"},
		{has(model.FactSensitive), "1", "deny", "sensitive", "", "deny_sensitive"},
		{has(model.FactProtected), "2", "deny", "rule", "protected", "deny_protected"},
		{has(model.FactDenied), "3", "deny", "rule", "", "deny_rule"},
		planned,
		question(ruleAsks || has(model.FactOutsideAsk), "3c", askedBy),
		question(has(model.FactManagedAsk), "3d", "policy"),
		{has(model.FactReadOnly), "4", "allow", "read_only", "", "allow_readonly"},
		{sandboxed, "5", "allow", "sandbox", "", "allow_sandbox"},
		coveredBy,
	}
	var outcome *model.Outcome
	for _, r := range rows {
		switch {
		case !r.holds:
		case outcome == nil:
			outcome = &model.Outcome{
				Decision: model.Decision(r.decision), By: r.by, Kind: r.kind, Step: r.step, Class: r.className,
				Hits: []model.OutcomeHit{},
			}
		default:
			outcome.Hits = append(outcome.Hits, model.OutcomeHit{
				Step: r.step, Decision: model.Decision(r.decision), By: r.by, Kind: r.kind,
			})
		}
	}
	if outcome == nil {
		last := question(true, "7", "default")
		outcome = &model.Outcome{
			Decision: model.Decision(last.decision), By: last.by, Step: last.step, Class: last.className,
			Hits: []model.OutcomeHit{},
		}
	}
	return outcome
}
