package config

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestAWrittenRuleKeepsThePin(t *testing.T) {
	const one, two = `{"permissions": {"allow": ["Bash(make)"]}}`, `{"permissions": {"allow": ["Bash(make)", "Bash(go test *)"]}}`
	const only = `{"permissions": {"allow": ["Bash(go test *)"]}}`
	ctx := context.Background()
	for name, c := range map[string]struct {
		before, after, settings string
		answer                  model.Answer
		kept                    bool
	}{
		"a rule is added":                  {one, two, "", "session", true},
		"a rule is removed":                {two, one, "", "session", true},
		"the first rule of all":            {"", only, "", "", true},
		"the last rule is removed":         {only, "{}", "", "session", true},
		"nothing changes":                  {one, one, "", "session", true},
		"a deny rule is added":             {one, `{"permissions": {"allow": ["Bash(make)"], "deny": ["Bash(rm *)"]}}`, "", "session", true},
		"nothing was pinned":               {one, two, "", "", false},
		"accepted for once only":           {one, two, "", "once", false},
		"somebody changed the settings":    {one, two, `{"executor": "host"}`, "session", false},
		"first rule, and other settings":   {"", two, `{"executor": "host"}`, "", false},
		"an ask rule that names the world": {one, `{"permissions": {"allow": ["Bash(make)", "Bash(go test *)"], "ask": ["Read(/**)"]}}`, "", "session", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t)
			place(t, p, "permissions.local.json", c.before)
			options := Options{Rego: engine(t)}
			if c.answer != "" {
				options.Ask = (&asker{answer: c.answer}).ask
			}
			_, err := Load(ctx, p, options)
			require.NoError(t, err)
			kept, err := RewriteRules(ctx, p, Options{Rego: engine(t)}, func() error {
				place(t, p, "permissions.local.json", c.after)
				if c.settings != "" {
					place(t, p, "", c.settings)
				}
				return nil
			})
			require.NoError(t, err)
			assert.Equal(t, c.kept, kept)
			after, err := Load(ctx, p, Options{Rego: engine(t)})
			require.NoError(t, err)
			assert.Equal(t, c.kept, after.Accepted)
			require.NoError(t, OpenTrust(p.Trust).Broken())
		})
	}
}

func TestAFailedWriteLeavesTheConsentAlone(t *testing.T) {
	p := project(t)
	_, err := RewriteRules(context.Background(), p, Options{Rego: engine(t)}, func() error {
		place(t, p, "permissions.local.json", allowSeed)
		return os.ErrPermission
	})
	require.Equal(t, os.ErrPermission, err)
	assert.NoFileExists(t, p.Trust)
}
