package approve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

func bash(text string) *model.Target {
	return &model.Target{Kind: model.KindCommand, Command: shell.Analyze(text, model.ShellBash)}
}

func commandRule(text string) model.SessionRule {
	return model.SessionRule{Kind: model.SessionCommand, Tool: "bash", Command: text}
}

func TestSessionCoversExactlyOneThing(t *testing.T) {
	var s Session
	assert.Nil(t, s.Covers("bash", bash("go test ./...")))
	s.Remember(commandRule("go  test ./..."))
	s.Remember(model.SessionRule{Kind: model.SessionHost, Tool: "fetch", Host: "go.dev"})
	s.Remember(model.SessionRule{Kind: model.SessionTool, Tool: "edit_file"})
	s.Remember(model.SessionRule{Kind: model.SessionTool, Tool: "edit_file"})
	assert.Equal(t, 3, s.Len())

	found := s.Covers("bash", bash("go test   ./..."))
	if assert.NotNil(t, found) {
		assert.Equal(t, model.EffectAllow, found.Effect)
		assert.Equal(t, "session", found.Source)
	}
	assert.Nil(t, s.Covers("bash", bash("go test ./... -v")))
	assert.Nil(t, s.Covers("sh", bash("go test ./...")))
	outside := bash("go test ./...")
	outside.OutsideSandbox = true
	assert.Nil(t, s.Covers("bash", outside), "a yes in the sandbox is none outside")
	assert.Nil(t, s.Covers("bash", &model.Target{Kind: model.KindCommand}), "a command that could not be read")

	assert.NotNil(t, s.Covers("fetch", &model.Target{Kind: model.KindURL, Host: model.Host{Host: "go.dev"}}))
	assert.Nil(t, s.Covers("fetch", &model.Target{Kind: model.KindURL, Host: model.Host{Host: "x.go.dev"}}))
	assert.NotNil(t, s.Covers("edit_file", &model.Target{Kind: model.KindPath}))
	s.Forget()
	assert.Zero(t, s.Len())
}

func TestSessionForALimitedTime(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := Session{now: func() time.Time { return now }}
	at := func(d time.Duration) time.Time { return now.Add(d) }
	covers := func(text string) bool { return s.Covers("bash", bash(text)) != nil }

	s.RememberUntil(commandRule("make"), at(2*time.Hour))
	s.RememberUntil(commandRule("ls"), at(-time.Second))
	assert.True(t, covers("make"))
	assert.False(t, covers("ls"), "over before it began")
	assert.Equal(t, []Grant{{Rule: commandRule("make"), Text: "bash(make)", Until: at(2 * time.Hour)}}, withoutKeys(s.Grants()))

	s.RememberUntil(commandRule("make"), at(time.Hour))
	now = now.Add(90 * time.Minute)
	assert.True(t, covers("make"), "the longer one holds")
	now = now.Add(30 * time.Minute)
	assert.False(t, covers("make"), "over to the moment")
	assert.Zero(t, s.Len())

	s.Remember(commandRule("make"))
	s.RememberUntil(commandRule("make"), at(time.Minute))
	now = now.Add(time.Hour)
	assert.True(t, covers("make"), "for the session stays for the session")

	s.RememberUntil(commandRule("go vet"), at(time.Minute))
	s.Remember(commandRule("go vet"))
	now = now.Add(time.Hour)
	assert.True(t, covers("go vet"))
}

// withoutKeys puts the command back for its syntax key.
func withoutKeys(grants []Grant) []Grant {
	for i := range grants {
		grants[i].Rule.Command = "make"
	}
	return grants
}

func BenchmarkSessionCovers(b *testing.B) {
	var s Session
	s.RememberUntil(model.SessionRule{Kind: model.SessionTool, Tool: "edit_file"}, time.Now().Add(time.Hour))
	target := &model.Target{Kind: model.KindPath}
	b.ReportAllocs()
	for b.Loop() {
		s.Covers("edit_file", target)
	}
}
