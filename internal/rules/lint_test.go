package rules

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestLint(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for _, c := range []struct {
		allow, deny string
		want        []WarningKind
	}{
		{"Bash(python3.12 *)", "", []WarningKind{WarnRisky}},
		{"Bash(/usr/bin/env *)", "", []WarningKind{WarnRisky}},
		{"Bash(*)", "", []WarningKind{WarnRisky}},
		{"Bash(go test *)", "", nil},
		{"Bash(python3 setup.py)", "", nil},
		{"Git(push *)", "", []WarningKind{WarnRisky}},
		{"Git(status *)", "", nil},
		{"Delete(**)", "", []WarningKind{WarnRisky}},
		{"Delete(build/**)", "", nil},
		{"Fetch(*)", "", []WarningKind{WarnRisky}},
		{"NotATool(*)", "", []WarningKind{WarnUnknown}},
		{"Read()", "", []WarningKind{WarnNever}},
		{"Bash(go test *)", "Bash(go *)", []WarningKind{WarnShadowed}},
		{"Bash(go *)", "Bash(go ?*)", nil}, // `go` alone is not denied
		{"Bash(go *)", "Bash(go test *)", nil},
		{"Bash(go *)", "Tests(go *)", nil},
		{"Read(src/**)", "Read(**)", []WarningKind{WarnShadowed}},
		{"Read(src/*)", "Read(src/**)", []WarningKind{WarnShadowed}},
		{"Read(src/**)", "Read(src/*)", nil},
		{"Read(src/a.go)", "Read(**/*.go)", []WarningKind{WarnShadowed}},
		{"Read(/x/a/**)", "Read(/x/**)", []WarningKind{WarnShadowed}},
		{"Read(/x/a)", "Read(x/**)", nil},
		{"Copy(a -> b)", "Copy(a -> b)", []WarningKind{WarnShadowed}},
		{"Github(read_pr)", "Github(read_*)", []WarningKind{WarnShadowed}},
		{"pr_read(*)", "pr_create(*)", nil},
	} {
		rules := []model.Rule{}
		for text, effect := range map[string]model.Effect{c.allow: model.EffectAllow} {
			r, err := Parse(text, model.SyntaxPermissions, effect, "f")
			require.NoError(t, err)
			rules = append(rules, r)
		}
		if c.deny != "" {
			r, err := Parse(c.deny, model.SyntaxPermissions, model.EffectDeny, "f")
			require.NoError(t, err)
			rules = append(rules, r)
		}
		var got []WarningKind
		for _, warning := range Lint(rules, w.env) {
			if warning.Rule.Effect == model.EffectAllow {
				got = append(got, warning.Kind)
			}
		}
		assert.Equal(t, c.want, got, "%s under %s", c.allow, c.deny)
	}
}

func TestLintManyRules(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	start := time.Now()
	Lint(manyRules(10000), w.env)
	assert.Less(t, time.Since(start), 10*time.Second)
}

// What looks absolute in the settings starts at the root all the same.
func TestLintSettingsThatLookAbsolute(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for text, want := range map[string]bool{
		"write_file(/tmp/build/**)": true, "read_file(~/notes)": true, "read_file(/etc/**)": true,
		"read_file(/src/**)": false, "edit_file(tmp/**)": false, "bash(/usr/bin/make *)": false, "read_file": false,
	} {
		for _, effect := range []model.Effect{model.EffectAllow, model.EffectDeny} {
			r, err := Parse(text, model.SyntaxSettings, effect, "f")
			require.NoError(t, err)
			warned := slices.ContainsFunc(Lint([]model.Rule{r}, w.env), func(w Warning) bool { return w.Kind == WarnOutside })
			assert.Equal(t, want, warned, "%s %s", effect, text)
		}
	}
	r, err := Parse("Write(/tmp/build/**)", model.SyntaxPermissions, model.EffectAllow, "f")
	require.NoError(t, err)
	assert.Empty(t, Lint([]model.Rule{r}, w.env))
}

func TestValidateReportsEachFile(t *testing.T) {
	w, dir := project(t, map[string]string{
		"permissions.json":       `{"permissions":{"allow":["Bash(python *)"],"defaultMode":"plan"},"deny":["Bash(rm *)"]}`,
		"permissions.local.json": `{"permissions":{"allow":["Bash"]}}`,
	})
	user := filepath.Join(t.TempDir(), "permissions.json")
	require.NoError(t, os.WriteFile(user, []byte(`{"permissions":{"deny":["Bash(rm *)"]}}`), 0o600))
	reports := Validate(w.env.Root, Options{Env: w.env, User: user, System: filepath.Join(dir, "nothing.json")})
	require.Len(t, reports, 4)
	assert.Equal(t, []Status{StatusWarning, StatusError, StatusOK, StatusOK},
		[]Status{reports[0].Status, reports[1].Status, reports[2].Status, reports[3].Status})
	assert.Len(t, reports[0].Problems, 3)
	assert.Equal(t, 1, reports[2].Rules)
	assert.True(t, reports[3].Missing)
}

// Rules under a misspelt key would be lost without a word.
func TestMisspeltKeysOfAPermissionFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"permissions":{"dney":["Bash(rm *)"]}}`:  `unknown key "permissions.dney" (did you mean "deny"?)`,
		`{"permissions":{"Deny":["Bash(rm *)"]}}`:  `unknown key "permissions.Deny" (did you mean "deny"?)`,
		`{"permisions":{"deny":["Bash(rm *)"]}}`:   `unknown key "permisions" (did you mean "permissions"?)`,
		`{"permissions":{"additionalFolders":[]}}`: "",
		`{"version":1,"all":true}`:                 "",
	} {
		_, err := parseFile("p.json", text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, "p.json: "+want)
	}
}
