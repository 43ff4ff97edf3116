package approve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

func TestPartsSayWhatNoRuleCovers(t *testing.T) {
	part := func(text, rule string) model.AskedPart {
		return model.AskedPart{Text: text, Covered: true, Rule: rule}
	}
	missing := func(text string) model.AskedPart { return model.AskedPart{Text: text} }
	cases := []struct {
		command string
		allow   []string
		want    []model.AskedPart
	}{
		{"go test ./... && rm x", []string{"Bash(go *)"}, []model.AskedPart{part("go test ./...", "Bash(go *)"), missing("rm x")}},
		{"a | b", nil, []model.AskedPart{missing("a"), missing("b")}},
		{"A=1; ls", []string{"Bash(ls *)"}, []model.AskedPart{part("A=1", ""), part("ls", "Bash(ls *)")}},
		{"ls > /etc/passwd", []string{"Bash(ls *)"}, []model.AskedPart{part("ls", "Bash(ls *)")}},
		{"echo $(rm x)", []string{"Bash(echo *)"}, []model.AskedPart{part("echo $(rm x)", "Bash(echo *)"), missing("rm x")}},
		{"ls; eval \"$x\"", []string{"Bash(ls *)"}, []model.AskedPart{missing("ls"), missing(`eval "$x"`)}},
		{"echo 'a", []string{"Bash(*)"}, []model.AskedPart{missing("echo 'a")}},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, command(t, c.command, c.allow...).Parts, c.command)
	}
}

func TestPartsOfASessionAnswer(t *testing.T) {
	var s Session
	s.Remember(commandRule("make a && make b"))
	q := &rules.Query{Tool: "bash", Class: "Bash", Targets: []model.Target{*bash("make a && make b")}}
	for _, p := range Parts(q, nil, &s) {
		assert.True(t, p.Covered)
		assert.Equal(t, "bash(make a && make b)", p.Rule)
	}
	q.Targets[0] = *bash("make a && make c")
	for _, p := range Parts(q, nil, &s) {
		assert.False(t, p.Covered)
	}
}
