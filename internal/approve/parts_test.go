package approve

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestPartsNameTheRedirectionThatIsLeft(t *testing.T) {
	target := *bash("ls > /etc/motd")
	target.Redirections = []model.PathRef{{Access: model.AccessWrite, Path: model.Path{
		Text: "/etc/motd", Rel: "/etc/motd", Abs: "/etc/motd", Real: "/etc/motd", RealRel: "/etc/motd",
	}}}
	q := &rules.Query{Tool: "bash", Called: "bash", Class: "Bash", Targets: []model.Target{target}}
	rule, err := rules.Parse("Bash(ls *)", model.SyntaxPermissions, model.EffectAllow, "f")
	require.NoError(t, err)
	set, _, err := rules.Compile([]model.Rule{rule}, rules.Env{Root: "/project"})
	require.NoError(t, err)
	assert.Equal(t, []model.AskedPart{
		{Text: "ls", Covered: true, Rule: "Bash(ls *)"},
		{Text: "> /etc/motd"},
	}, Parts(q, set, nil))
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
