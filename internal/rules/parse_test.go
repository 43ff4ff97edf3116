package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		syntax        model.Syntax
		text          string
		tool, pattern string
		bare          bool
		err           string
	}{
		{model.SyntaxSettings, " bash ", "bash", "", true, ""},
		{model.SyntaxSettings, "bash( a )", "bash", " a ", false, ""},
		{model.SyntaxSettings, "bash(a\nb)", "bash", "a\nb", false, ""},
		{model.SyntaxSettings, "_x-y*", "_x-y*", "", true, ""},
		{model.SyntaxSettings, "read_*(a)", "read_*", "a", false, ""},
		{model.SyntaxSettings, "bash(  )", "", "", false, "empty pattern"},
		{model.SyntaxSettings, "", "", "", false, "missing"},
		{model.SyntaxSettings, "a*b", "", "", false, "'*'"},
		{model.SyntaxSettings, "a/b", "", "", false, "'/'"},
		{model.SyntaxSettings, "bash(a", "", "", false, "closing parenthesis"},
		{model.SyntaxSettings, "bash(a) b", "", "", false, "closing parenthesis"},
		{model.SyntaxSettings, "bash (a)", "", "", false, "' '"},
		{model.SyntaxSettings, "bash(a\x00)", "", "", false, "NUL"},
		{model.SyntaxSettings, "bash(" + strings.Repeat("a", 5000) + ")", "", "", false, "longer than"},
		{model.SyntaxPermissions, "Bash()", "Bash", "", false, ""},
		{model.SyntaxPermissions, "Bash", "", "", false, "parentheses are required"},
		{model.SyntaxPermissions, "Read(a) b)", "Read", "a) b", false, ""},
		{model.SyntaxPermissions, "ünder(x)", "", "", false, "must start with a letter"},
	} {
		got, err := Parse(c.text, c.syntax, model.EffectAsk, "some.json")
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.text)
			assert.ErrorContains(t, err, "some.json: invalid permission rule")
			continue
		}
		require.NoError(t, err, c.text)
		assert.Equal(t, model.Rule{
			Tool: c.tool, Pattern: c.pattern, Bare: c.bare, Text: strings.TrimSpace(c.text),
			Effect: model.EffectAsk, Syntax: c.syntax, Source: "some.json",
		}, got)
	}
}

// FuzzRule parses and compiles any text in both syntaxes and matches it against
// calls of every shape: nothing may panic, and the parsed parts must spell the
// rule again.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		"bash(rm -rf*)", "Read({a,b}/**)", "Copy(a/** -> b/*)", "mcp__x__*", "web_fetch(*.example.com)", "read_*(~/x)",
		"Git(push *)", "Fetch(https://x/*)", "Edit(../[!a]?/**)", "write_file(a**b/)", "Bash(a) b)", "grep(//etc/**)",
	} {
		f.Add(seed)
	}
	w := newWorld(f, f.TempDir(), f.TempDir())
	queries := benchQueries(f, w)
	for tool, args := range map[string]string{
		"copy_file": `{"src":"a/b","dst":"/x"}`, "grep": `{"pattern":"x","path":".."}`, "fetch_url": `{"url":"https://a.example.com/x%41"}`,
		"git": `{"args":["-C","x y","-c","a=b","push"]}`, "mcp__x__y": `{}`, "edit_file": `{"path":"../ab/c"}`, "list_dir": `{"path":"."}`,
	} {
		queries[tool] = w.query(f, tool, []byte(args))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, syntax := range []model.Syntax{model.SyntaxSettings, model.SyntaxPermissions} {
			for _, effect := range effects {
				r, err := Parse(text, syntax, effect, "f")
				if err != nil {
					continue
				}
				again := r.Tool + "(" + r.Pattern + ")"
				if r.Bare {
					again = r.Tool
				}
				require.Equal(t, strings.TrimSpace(text), again)
				set, _, err := Compile([]model.Rule{r}, w.env)
				if err != nil {
					continue
				}
				flat := linear(t, []model.Rule{r}, w.env)
				var m, n Match
				for _, q := range queries {
					set.Match(q, &m)
					flat.Match(q, &n)
					require.Equal(t, said(&n), said(&m))
				}
				Lint([]model.Rule{r}, w.env)
			}
		}
	})
}
