package permissions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/testcase"
	"github.com/lictor-policy/lictor/permissions"
)

// row is one line of permissions.jsonl.
type row struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	API   string `json:"api"`
	Rules struct {
		Deny, Allow, Ask []string
	} `json:"rules"`
	Tool           string          `json:"tool"`
	Args           json.RawMessage `json:"args"`
	Expect         json.RawMessage `json:"expect"`
	ExpectAskFirst string          `json:"expect_ask_first"`
	SessionAllow   []string        `json:"session_allow"`
}

// byCall are the areas whose rows are a call and what the rules say about it.
var byCall = []string{"evaluate", "multi", "session", "reload", "load", "derive_allow", "derive_deny"}

// elsewhere are the areas that the package of the function runs itself.
var elsewhere = []string{"parse_rule", "target", "write", "lint", "string_glob", "path", "diffpaths", "validate", "hardline"}

func TestCases(t *testing.T) {
	ran := 0
	for _, r := range testcase.Lines[row](t, "../testdata/cases/permissions.jsonl") {
		if slices.Contains(elsewhere, r.Area) || strings.HasPrefix(r.Tool, "fn:") {
			continue
		}
		require.Contains(t, byCall, r.Area, "%s: unknown area", r.ID)
		ran++
		t.Run(r.ID, func(t *testing.T) { run(t, r) })
	}
	assert.Greater(t, ran, 150)
}

func run(t *testing.T, r row) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root, home := filepath.Join(dir, "root"), filepath.Join(dir, "home")
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".lictor"), 0o700))
	require.NoError(t, os.MkdirAll(home, 0o700))
	places := strings.NewReplacer("<CWD>", root, "<root>", root, "<HOME>", home, "<OUTSIDE>", dir+"/out")
	placed := func(texts []string) []string {
		out := []string{}
		for _, text := range texts {
			out = append(out, places.Replace(text))
		}
		return out
	}
	file, err := json.Marshal(map[string]any{"permissions": map[string][]string{
		"allow": placed(r.Rules.Allow), "ask": placed(r.Rules.Ask), "deny": placed(r.Rules.Deny),
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".lictor/permissions.json"), file, 0o600))
	args := json.RawMessage(places.Replace(string(r.Args)))

	for _, askFirst := range []bool{false, true} {
		p, err := permissions.Load(root, permissions.Options{Home: home, AskFirst: askFirst, ProjectOnly: true})
		var want string
		if strings.HasPrefix(r.Area, "derive") {
			require.NoError(t, err)
			derive(t, p, r, args, places)
			return
		}
		require.NoError(t, json.Unmarshal(r.Expect, &want), "%s", r.Expect)
		if askFirst {
			if r.ExpectAskFirst == "" {
				return
			}
			want = r.ExpectAskFirst
		}
		if want == "load-error" {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		for _, rule := range r.SessionAllow {
			require.NoError(t, p.AddSessionAllow(places.Replace(rule)))
		}
		got, rule, err := p.EvaluateWithRule(r.Tool, args)
		if want == "error" {
			var input *permissions.InputError
			require.ErrorAs(t, err, &input)
			assert.Equal(t, permissions.Deny, got)
			return
		}
		if err != nil {
			// An input error denies, which is what such a row wants.
			assert.Equal(t, "deny", want, "%v", err)
		}
		assert.Equal(t, want, string(got))
		if err == nil {
			assert.Equal(t, got == permissions.Default, rule == nil, "a decision names its rule")
		}
	}
}

func derive(t *testing.T, p *permissions.Permissions, r row, args json.RawMessage, places *strings.Replacer) {
	if r.Area == "derive_deny" {
		var want *string
		require.NoError(t, json.Unmarshal(r.Expect, &want))
		got, err := p.DeriveDenyRule(r.Tool, args)
		require.NoError(t, err)
		if want == nil {
			assert.Empty(t, got)
			return
		}
		assert.Equal(t, places.Replace(*want), got)
		return
	}
	got, err := p.DeriveAllowRules(r.Tool, args)
	if string(r.Expect) == `"error"` {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	var want []string
	require.NoError(t, json.Unmarshal(r.Expect, &want))
	for i := range want {
		want[i] = places.Replace(want[i])
	}
	assert.Equal(t, want, got)
	// A derived rule matches the call that it came from.
	for _, rule := range got {
		require.NoError(t, p.AddSessionAllow(rule))
	}
	if len(got) > 0 {
		outcome, err := p.Evaluate(r.Tool, args)
		require.NoError(t, err)
		assert.Equal(t, permissions.Allow, outcome)
	}
}

func ExamplePermissions_Evaluate() {
	root, err := os.MkdirTemp("", "lictor")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	p, err := permissions.LoadEmpty(root, permissions.Options{Home: "/nonexistent-home"})
	if err != nil {
		panic(err)
	}
	if err := p.AddSessionAllow("Bash(go *)"); err != nil {
		panic(err)
	}
	outcome, err := p.Evaluate("run_bash", json.RawMessage(`{"command":"go vet ./... && go test ./..."}`))
	os.Stdout.WriteString(string(outcome) + "\n")
	if err != nil {
		panic(err)
	}
	// Output: allow
}
