package config

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadOfAnEmptyProject(t *testing.T) {
	p := project(t)
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Equal(t, DefaultSettings(), got.Applied.Settings)
	assert.Empty(t, got.Rules)
	assert.Nil(t, got.Policy)
	assert.False(t, got.Strict)
	assert.False(t, got.HasSettings)
	assert.Empty(t, got.Applied.Notices)
	assert.Equal(t, OutsideDeny, got.OutsideRoot)
	assert.Len(t, got.Sources, 5)
	assert.NoDirExists(t, p.HomeDir, "loading writes nothing")
	assert.NoDirExists(t, filepath.Join(p.Root, ".lictor"))
}

func TestStrictProfileComesFromEverywhere(t *testing.T) {
	for name, c := range map[string]struct {
		write func(t *testing.T, p Places) Places
		by    func(p Places) string
	}{
		"project": {func(t *testing.T, p Places) Places { write(t, p.Settings, `{"profile": "strict"}`); return p }, func(p Places) string { return p.Settings }},
		"home settings": {func(t *testing.T, p Places) Places {
			write(t, p.HomeSettings, `{"$comment": "x", "profile": "strict"}`)
			return p
		}, func(p Places) string { return p.HomeSettings }},
		"home policy":    {func(t *testing.T, p Places) Places { write(t, p.HomePolicy, `{"profile": "strict"}`); return p }, func(p Places) string { return p.HomePolicy }},
		"managed policy": {func(t *testing.T, p Places) Places { return withManaged(t, p, `{"profile": "strict"}`) }, func(p Places) string { return p.ManagedPolicy }},
		"project cannot turn it off": {func(t *testing.T, p Places) Places {
			write(t, p.Settings, `{"profile": "default"}`)
			return withManaged(t, p, `{"profile": "strict"}`)
		}, func(p Places) string { return p.ManagedPolicy }},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.write(t, project(t))
			got, err := Load(context.Background(), p, Options{Rego: engine(t)})
			require.NoError(t, err)
			assert.True(t, got.Strict)
			assert.Equal(t, c.by(p), got.StrictBy)
			require.NotNil(t, got.Policy)
			assert.True(t, got.Policy.RequireSandbox)

			write(t, p.Settings, `{"profile": "`+got.Loaded.Settings.Profile+`", "executor": "host"}`)
			_, err = Load(context.Background(), p, Options{Rego: engine(t)})
			var strict *StrictError
			require.ErrorAs(t, err, &strict)
			assert.Contains(t, err.Error(), p.Settings+` says that "executor" is "host"`)
			assert.NotContains(t, strict.Fix, "host", "the way out is never the host")
		})
	}
}

func TestHomeSettingsHoldTheProfileOnly(t *testing.T) {
	p := project(t)
	write(t, p.HomeSettings, `{"permissions": {"allow": ["bash"]}}`)
	_, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.ErrorContains(t, err, p.HomeSettings+`:1: key "permissions" is not read from the home folder`)
}

func TestTeamPolicyTightensSettings(t *testing.T) {
	p := withManaged(t, project(t), `{"askFirst": true, "paths": {"outsideRoot": "deny"}, "limits": {"maxSteps": 5}}`)
	write(t, p.Settings, `{"paths": {"outsideRoot": "ask"}, "limits": {"maxSteps": 500}}`)
	got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: (&asker{answer: "once"}).ask})
	require.NoError(t, err)
	assert.True(t, got.AskFirst)
	assert.Equal(t, OutsideAsk, got.Applied.Settings.Paths.OutsideRoot)
	assert.Equal(t, OutsideDeny, got.OutsideRoot)
	assert.Equal(t, 5, got.Limits.MaxSteps)
	assert.Equal(t, Limits{5, DefaultHelperToken}, got.Limits.Subagents)
	assert.Equal(t, 500, got.Applied.Settings.Limits.MaxSteps)
	assert.Equal(t, p.ManagedPolicy, got.Policy.Sources["askFirst"])
}

func TestProjectPolicyIsANotice(t *testing.T) {
	p := project(t)
	write(t, p.ProjectPolicy, `{"broken`)
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	require.Len(t, got.Applied.Notices, 1)
	assert.Equal(t, p.ProjectPolicy, got.Applied.Notices[0].File)
	assert.Nil(t, got.Policy)
}

func TestListsBesidePermissionsAreANotice(t *testing.T) {
	p := project(t)
	write(t, p.HomePermissions, `{"deny": ["Bash(rm *)"]}`)
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	require.Len(t, got.Applied.Notices, 1)
	assert.Equal(t, p.HomePermissions+`: "deny" is ignored: move it into the object "permissions"`, got.Applied.Notices[0].String())
}

func TestMisspeltListsAreAnError(t *testing.T) {
	p := project(t)
	write(t, p.HomePermissions, "{\"permissions\": {\n\"dney\": [\"Bash(rm *)\"]}}")
	_, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.EqualError(t, err, p.HomePermissions+`:2: unknown key "permissions.dney" (did you mean "deny"?)`)
}

func TestBundlePoliciesAreLayers(t *testing.T) {
	p := project(t)
	bundle := PolicyLayer{Origin: "bundle baseline", Text: []byte(`{"denyPaths": ["secrets"], "requireSandbox": true}`)}
	got, err := Load(context.Background(), p, Options{Rego: engine(t), Bundles: []PolicyLayer{bundle}})
	require.NoError(t, err)
	assert.Equal(t, []PolicyEntry{{"secrets", "bundle baseline"}}, got.Policy.DenyPaths)
	assert.Equal(t, "bundle baseline", got.Policy.Sources["requireSandbox"])

	bundle.Text = []byte(`{"denyPath": []}`)
	_, err = Load(context.Background(), p, Options{Rego: engine(t), Bundles: []PolicyLayer{bundle}})
	require.ErrorContains(t, err, `bundle baseline:1: unknown key "denyPath" (did you mean "denyPaths"?)`)
}

func TestBrokenFilesStopEverything(t *testing.T) {
	for name, c := range map[string]struct {
		file func(p Places) string
		text string
	}{
		"settings":            {func(p Places) string { return p.Settings }, `{"a": 1}`},
		"permissions":         {func(p Places) string { return p.Permissions }, `{"permissions": {"allow": ["BrokenRule"]}}`},
		"local permissions":   {func(p Places) string { return p.LocalPermissions }, `{`},
		"home permissions":    {func(p Places) string { return p.HomePermissions }, `[]`},
		"managed permissions": {func(p Places) string { return p.ManagedPermissions }, `{"permissions": {"deny": "x"}}`},
		"managed policy":      {func(p Places) string { return p.ManagedPolicy }, `invalid JSON`},
		"home policy":         {func(p Places) string { return p.HomePolicy }, `{"profile": "loose"}`},
		"home settings":       {func(p Places) string { return p.HomeSettings }, `{"x": 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := withManaged(t, project(t), "{}")
			write(t, c.file(p), c.text)
			_, err := Load(context.Background(), p, Options{Rego: engine(t)})
			require.ErrorContains(t, err, c.file(p))
		})
	}
}

type deadRego struct{}

func (deadRego) Query(context.Context, string, any, any) error { return context.DeadlineExceeded }

func TestAPolicyThatCannotBeEvaluatedStopsEverything(t *testing.T) {
	p := project(t)
	write(t, p.Settings, `{"executor": "host"}`)
	_, err := Load(context.Background(), p, Options{Rego: deadRego{}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	write(t, p.HomePolicy, `{"requireSandbox": true}`)
	_, err = Load(context.Background(), p, Options{Rego: deadRego{}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = Load(context.Background(), p, Options{})
	require.Error(t, err)
}
