package approve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestSteer(t *testing.T) {
	rule := &model.RuleRef{Text: "Bash(git push *)", Effect: "deny", Source: ".lictor/permissions.json"}
	cases := []struct {
		name    string
		verdict model.Verdict
		want    []string
	}{
		{"a deny rule", model.Verdict{Decision: model.Deny, By: "rule", Step: "3", Rule: rule, Reason: "denied by the deny rule Bash(git push *) in .lictor/permissions.json"}, []string{"Refused: bash `git push origin main`.", "Bash(git push *) in .lictor/permissions.json", "do not look for another spelling"}},
		{"a reason without the rule", model.Verdict{Decision: model.Deny, By: "rule", Step: "3", Rule: rule, Reason: "denied"}, []string{"Why: denied (deny rule Bash(git push *) in .lictor/permissions.json)."}},
		{"a person said no", model.Verdict{Decision: model.Ask, By: "default", Step: "7", Reason: "no rule covers it"}, []string{"do not repeat this call", "ask the user what they want"}},
		{"an ask rule and no yes", model.Verdict{Decision: model.Ask, By: "rule", Step: "3c", Rule: rule}, []string{"the rule Bash(git push *) in .lictor/permissions.json asks first"}},
		{"plan", model.Verdict{Decision: model.Deny, By: "rule", Kind: "plan", Step: "3b", Reason: "plan mode"}, []string{"describe this step in the plan"}},
		{"unattended", model.Verdict{Decision: model.Deny, By: "unattended", Step: "7", Reason: "nobody"}, []string{"say at the end what was left undone"}},
		{"input", model.Verdict{Decision: model.Deny, By: "input", Step: "in", Reason: "command: missing"}, []string{"Why: command: missing.", "correct that argument"}},
		{"error", model.Verdict{Decision: model.Deny, By: "error", Step: "in", Reason: "x"}, []string{"do not try again unchanged"}},
		{"outside", model.Verdict{Decision: model.Deny, By: "outside", Step: "0b", Reason: "x"}, []string{"inside the project"}},
		{"sensitive", model.Verdict{Decision: model.Deny, By: "sensitive", Step: "1", Reason: "x"}, []string{"without its content"}},
		{"policy", model.Verdict{Decision: model.Deny, By: "policy", Step: "0", Reason: "x"}, []string{"cannot be overridden here"}},
		{"protected", model.Verdict{Decision: model.Deny, By: "rule", Kind: "protected", Step: "2", Reason: "x"}, []string{"leave this to the user"}},
	}
	r := command(t, "git push origin main")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Steer(&r, &c.verdict)
			for _, want := range c.want {
				assert.Contains(t, got, want)
			}
			assert.NotContains(t, got, "\n")
			assert.LessOrEqual(t, len([]rune(got)), maxSteer)
			low := strings.ToLower(got)
			for _, word := range waysOut {
				assert.NotContains(t, low, word)
			}
		})
	}
	assert.Empty(t, Steer(&r, &model.Verdict{Decision: model.Allow}))
}

func TestSteerNeverHintsAtAWayOutInTheStrictProfile(t *testing.T) {
	reasons := []string{
		"The team policy requires the OS sandbox, and this command would run outside it: run it through lictor, or without outside_sandbox",
		"the sandbox is not there; set executor to host",
		"denied: run it on the host; or disable the sandbox",
	}
	for _, reason := range reasons {
		for _, by := range []string{"policy", "rule", "input", "default", "error"} {
			r := command(t, "make")
			r.Strict = true
			r.Targets[0].OutsideSandbox = true
			got := strings.ToLower(Steer(&r, &model.Verdict{Decision: model.Deny, By: by, Reason: reason, Rule: &model.RuleRef{Text: "Bash(make *)", Effect: "deny", Source: "f"}}))
			for _, word := range waysOut {
				assert.NotContains(t, got, word)
			}
			assert.Contains(t, got, "instead:")
		}
	}
}

func TestSteerIsShortAndVisible(t *testing.T) {
	r := command(t, "echo '"+strings.Repeat("x\u202e\n", 5000)+"'")
	got := Steer(&r, &model.Verdict{Decision: model.Deny, By: "rule", Reason: strings.Repeat("because\x1b ", 500)})
	assert.LessOrEqual(t, len([]rune(got)), maxSteer)
	assert.NotContains(t, got, "\x1b")
	assert.NotContains(t, got, "\u202e")
	assert.Contains(t, got, "Instead:")
}
