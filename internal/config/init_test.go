package config

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestInitSettingsKnowsToolchains(t *testing.T) {
	for name, c := range map[string]struct {
		files    []string
		allow    []string
		notAllow []string
	}{
		"nothing":  {nil, []string{"bash(git status)"}, []string{"bash(go test *)"}},
		"go":       {[]string{"go.mod", "Makefile"}, []string{"bash(go test *)", "bash(make test)"}, []string{"bash(npm test *)"}},
		"npm":      {[]string{"package.json"}, []string{"bash(npm test *)"}, []string{"bash(pnpm test *)"}},
		"pnpm":     {[]string{"package.json", "pnpm-lock.yaml"}, []string{"bash(pnpm test *)"}, []string{"bash(npm test *)"}},
		"yarn":     {[]string{"package.json", "yarn.lock"}, []string{"bash(yarn test *)"}, []string{"bash(npm test *)"}},
		"python":   {[]string{"pyproject.toml"}, []string{"bash(pytest *)"}, nil},
		"rust":     {[]string{"Cargo.toml"}, []string{"bash(cargo test *)"}, nil},
		"maven":    {[]string{"pom.xml"}, []string{"bash(mvn test *)"}, nil},
		"gradle":   {[]string{"build.gradle.kts"}, []string{"bash(./gradlew test *)"}, nil},
		".NET":     {[]string{"App.csproj"}, []string{"bash(dotnet test *)"}, nil},
		"ruby":     {[]string{"Gemfile"}, []string{"bash(bundle exec rspec *)"}, nil},
		"a mix":    {[]string{"go.mod", "package.json"}, []string{"bash(go test *)", "bash(npm test *)"}, nil},
		"a folder": {[]string{"go.mod/x"}, nil, []string{"bash(go test *)"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := realTemp(t)
			for _, file := range c.files {
				write(t, filepath.Join(root, file), "")
			}
			text, explanation, err := InitSettings(root)
			require.NoError(t, err)
			assert.NotEmpty(t, explanation)
			s, err := ParseSettings("settings.json", text)
			require.NoError(t, err, string(text))
			assert.Subset(t, s.Permissions.Allow, c.allow)
			for _, rule := range c.notAllow {
				assert.NotContains(t, s.Permissions.Allow, rule)
			}
			assert.NotEmpty(t, s.Permissions.Deny)
			assert.Nil(t, s.Network)
			assert.True(t, strings.HasSuffix(string(text), "}\n"))
		})
	}
}

func TestInitWritesAndPins(t *testing.T) {
	p := project(t)
	write(t, filepath.Join(p.Root, "go.mod"), "module x\n")
	explanation, err := Init(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(explanation, "\n"), "go.mod found: Go")

	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Empty(t, got.Applied.Notices, "the file loads without a notice")
	assert.True(t, got.Pinned)
	assert.Contains(t, texts(got.Rules, model.EffectAllow), "bash(go test *)")

	before, err := os.ReadFile(p.Settings)
	require.NoError(t, err)
	_, err = Init(context.Background(), p, Options{Rego: engine(t)})
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, p.Settings)
	after, err := os.ReadFile(p.Settings)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestInitPinsNothingThatTheUserNeverSaw(t *testing.T) {
	p := project(t)
	place(t, p, "permissions.local.json", `{"permissions": {"allow": ["Bash(*)"]}}`)
	explanation, err := Init(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Contains(t, explanation[len(explanation)-1], "lictor trust")
	assert.NoFileExists(t, p.Trust)
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Empty(t, texts(got.Rules, model.EffectAllow))
}

func TestInitFollowsNoLink(t *testing.T) {
	p := project(t)
	elsewhere := filepath.Join(p.Home, "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(p.Root, ".lictor")))
	_, err := Init(context.Background(), p, Options{Rego: engine(t)})
	require.ErrorContains(t, err, p.Settings)
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	assert.Empty(t, entries)

	require.NoError(t, os.Remove(filepath.Join(p.Root, ".lictor")))
	require.NoError(t, os.Mkdir(filepath.Join(p.Root, ".lictor"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "x"), p.Settings))
	_, err = Init(context.Background(), p, Options{Rego: engine(t)})
	require.Error(t, err)
	assert.NoFileExists(t, filepath.Join(elsewhere, "x"))
}
