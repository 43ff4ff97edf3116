package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// permissionCase is a row of permissions.jsonl. The reader is strict, so that a
// new field or area cannot be passed over.
type permissionCase struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	API   string `json:"api"`
	Tool  string `json:"tool"`
	Rules struct {
		Deny  []string `json:"deny"`
		Allow []string `json:"allow"`
		Ask   []string `json:"ask"`
	} `json:"rules"`
	Args           json.RawMessage `json:"args"`
	Expect         json.RawMessage `json:"expect"`
	ExpectAskFirst json.RawMessage `json:"expect_ask_first"`
	SessionAllow   []string        `json:"session_allow"`
}

// waiting are the rows that need a part which is not there yet, with the reason.
// It must be empty before a release.
var waiting = map[string]string{}

// elsewhere are the areas that other packages answer for.
var elsewhere = []string{"target", "diffpaths", "hardline"}

func TestPermissionCases(t *testing.T) {
	for _, c := range testcase.Lines[permissionCase](t, "testdata/permissions.jsonl") {
		if slices.Contains(elsewhere, c.Area) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			if why := waiting[c.ID]; why != "" {
				t.Skip(why)
			}
			s := newStage(t, c)
			switch c.Area {
			case "parse_rule":
				s.parseRule(t)
			case "string_glob":
				s.stringGlob(t)
			case "path":
				s.path(t)
			case "load", "reload", "evaluate", "multi", "session", "write":
				s.store(t)
			case "derive_allow", "derive_deny":
				s.derive(t)
			case "lint":
				s.lint(t)
			case "validate":
				s.validate(t)
			default:
				t.Fatalf("unknown area %q", c.Area)
			}
		})
	}
}

// stage is a fresh root and home for one row, with the placeholders filled in.
type stage struct {
	*world
	c    permissionCase
	root string
	home string
}

func newStage(t *testing.T, c permissionCase) *stage {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &stage{root: filepath.Join(top, "project"), home: filepath.Join(top, "home")}
	require.NoError(t, os.Mkdir(s.root, 0o755))
	require.NoError(t, os.Mkdir(s.home, 0o755))
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(raw))
	text = strings.NewReplacer("<CWD>", s.root, "<root>", s.root, "<HOME>", s.home).Replace(text)
	require.NoError(t, json.Unmarshal([]byte(text), &s.c))
	s.world = newWorld(t, s.root, s.home)
	return s
}

func (s *stage) args(t *testing.T, v any) {
	t.Helper()
	testcase.Strict(t, s.c.Args, v)
}

func (s *stage) expect(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(s.c.Expect, v))
}

func (s *stage) parseRule(t *testing.T) {
	var args struct{ Rule string }
	s.args(t, &args)
	got, err := Parse(args.Rule, model.SyntaxPermissions, model.EffectAllow, "permissions.json")
	var want struct{ Tool, Pattern string }
	if json.Unmarshal(s.c.Expect, &want) != nil {
		require.Error(t, err)
		assert.Contains(t, err.Error(), "permissions.json: invalid permission rule")
		return
	}
	require.NoError(t, err)
	assert.Equal(t, want.Tool, got.Tool)
	assert.Equal(t, want.Pattern, got.Pattern)
}

func (s *stage) stringGlob(t *testing.T) {
	var args struct{ Pattern, Value string }
	s.args(t, &args)
	var want bool
	s.expect(t, &want)
	assert.Equal(t, want, newStringGlob(args.Pattern, true).match(args.Value))
}

func (s *stage) path(t *testing.T) {
	var args struct{ Path string }
	s.args(t, &args)
	var want string
	s.expect(t, &want)
	if s.c.Tool == "fn:relPath" {
		p, err := s.guard.Resolve(args.Path, "")
		require.NoError(t, err)
		assert.Equal(t, want, p.Rel)
		return
	}
	got, err := newPaths(s.env).expandHome(args.Path, escapeGlob)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// load writes the row's rules into the project's files and loads them.
func (s *stage) load(t *testing.T, files map[string]string, askFirst bool) (*Permissions, error) {
	t.Helper()
	dir := filepath.Join(s.root, ".lictor")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	if files == nil && len(s.c.Rules.Allow)+len(s.c.Rules.Ask)+len(s.c.Rules.Deny) > 0 {
		text, err := json.Marshal(map[string]any{"permissions": map[string]any{
			"allow": list(s.c.Rules.Allow), "ask": list(s.c.Rules.Ask), "deny": list(s.c.Rules.Deny),
		}})
		require.NoError(t, err)
		files = map[string]string{"permissions.json": string(text)}
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return Load(s.root, Options{Env: s.env, AskFirst: askFirst})
}

func list(rules []string) []string { return append([]string{}, rules...) }

func (s *stage) store(t *testing.T) {
	var args struct {
		Files map[string]string
		Rule  string
		Times int
	}
	if strings.HasPrefix(s.c.Tool, "fn:") {
		s.args(t, &args)
	}
	p, err := s.load(t, args.Files, false)
	switch s.c.Tool {
	case "fn:Load":
		s.loaded(t, p, err)
		return
	case "fn:AddAllow":
		require.NoError(t, err)
		s.addAllow(t, p, args.Rule, args.Times)
		return
	case "fn:EnsureFiles":
		require.NoError(t, err)
		s.ensureFiles(t, p, args.Files)
		return
	case "fn:AddSessionAllow":
		require.NoError(t, err)
		for range max(1, args.Times) {
			require.NoError(t, p.AddSessionAllow(args.Rule))
		}
		var want struct {
			Count int `json:"session_count"`
		}
		s.expect(t, &want)
		assert.Len(t, p.Snapshot().Session, want.Count)
		return
	}
	var want string
	s.expect(t, &want)
	if want == "load-error" {
		require.Error(t, err)
		assert.Contains(t, err.Error(), "permissions.json")
		return
	}
	require.NoError(t, err)
	for _, rule := range s.c.SessionAllow {
		require.NoError(t, p.AddSessionAllow(rule))
	}
	q, err := s.decode(t, s.c.Tool, s.c.Args)
	if err != nil {
		// A call that cannot be read is denied before any rule is asked.
		require.Contains(t, []string{"error", "deny"}, want, "%v", err)
		return
	}
	got, rule := p.EvaluateWithRule(q)
	assert.Equal(t, want, string(got))
	assert.Equal(t, got == OutcomeDefault, rule == nil, "the rule that decided")
	require.NoError(t, p.Reload())
	assert.Equal(t, want, string(p.Evaluate(q)), "after a reload")
	if text := string(s.c.ExpectAskFirst); text != "" && text != "null" {
		require.NoError(t, json.Unmarshal(s.c.ExpectAskFirst, &want))
		first, err := s.load(t, nil, true)
		require.NoError(t, err)
		assert.Equal(t, want, string(first.Evaluate(q)), "ask first")
	}
}

func (s *stage) loaded(t *testing.T, p *Permissions, err error) {
	var want struct {
		Deny, Allow, Ask int
		Error            bool
	}
	if json.Unmarshal(s.c.Expect, &want) != nil {
		require.Error(t, err)
		assert.Contains(t, err.Error(), "permissions.json")
		return
	}
	require.NoError(t, err)
	got := p.Snapshot()
	assert.Len(t, got.Deny, want.Deny)
	assert.Len(t, got.Allow, want.Allow)
	assert.Len(t, got.Ask, want.Ask)
}

func (s *stage) addAllow(t *testing.T, p *Permissions, rule string, times int) {
	var want struct {
		Count int `json:"allow_count"`
	}
	if json.Unmarshal(s.c.Expect, &want) == nil {
		for range times {
			require.NoError(t, p.AddAllow(rule))
		}
		assert.Len(t, p.Snapshot().Allow, want.Count)
		again, err := Load(s.root, Options{Env: s.env})
		require.NoError(t, err)
		assert.Len(t, again.Snapshot().Allow, want.Count)
		return
	}
	var confirm *RequiresConfirmation
	require.ErrorAs(t, p.AddAllow(rule), &confirm)
	assert.Equal(t, rule, confirm.Rule)
	assert.Empty(t, p.Snapshot().Allow)
	assert.NoFileExists(t, p.LocalPath())
	require.NoError(t, p.AddAllowConfirmed(rule))
	assert.Len(t, p.Snapshot().Allow, 1)
}

func (s *stage) ensureFiles(t *testing.T, p *Permissions, files map[string]string) {
	require.NoError(t, p.EnsureFiles())
	for _, path := range []string{p.SharedPath(), p.LocalPath()} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if before, ok := files[filepath.Base(path)]; ok {
			assert.Equal(t, before, string(text))
			continue
		}
		assert.JSONEq(t, `{"permissions": {"allow": [], "ask": [], "deny": []}}`, string(text))
	}
}

func (s *stage) derive(t *testing.T) {
	q, err := s.decode(t, s.c.Tool, s.c.Args)
	if err != nil {
		require.JSONEq(t, `"error"`, string(s.c.Expect), "%v", err)
		return
	}
	if s.c.Area == "derive_deny" {
		var want string
		s.expect(t, &want)
		assert.Equal(t, want, DeriveDenyRule(q, s.env))
		return
	}
	var want []string
	s.expect(t, &want)
	assert.Equal(t, want, DeriveAllowRules(q, s.env, nil))
}

// lintExpectations turns the prose of the lint rows into what must be reported.
var lintExpectations = map[string]struct {
	kind      WarningKind
	rules     []string
	elsewhere bool // nothing of this kind may be said of other rules
}{
	"lint-001": {WarnRisky, []string{"Bash(python3 *)"}, true},
	"lint-002": {WarnRisky, []string{"Bash(sed *)"}, true},
	"lint-003": {WarnRisky, []string{"Git(-C *)"}, true},
	"lint-004": {WarnRisky, []string{"Delete(<root>/**)"}, true},
	"lint-005": {WarnRisky, []string{"Github(*)"}, true},
	"lint-006": {WarnRisky, []string{"MCP(*)"}, true},
	"lint-007": {WarnShadowed, []string{"Bash(curl *)"}, true},
	"lint-008": {WarnShadowed, []string{"Bash(go test *)", "Github(read_*)", "Delete(docs/**)"}, true},
	"lint-009": {WarnShadowed, nil, true},
}

func (s *stage) lint(t *testing.T) {
	want, ok := lintExpectations[s.c.ID]
	require.True(t, ok, "say in lintExpectations what %s means: %s", s.c.ID, s.c.Expect)
	p, err := s.load(t, nil, false)
	require.NoError(t, err)
	var got []string
	for _, w := range Lint(p.Set().Rules(), s.env) {
		assert.Contains(t, w.String(), w.Rule.Text)
		if w.Kind == want.kind {
			got = append(got, strings.ReplaceAll(w.Rule.Text, s.root, "<root>"))
		}
	}
	assert.ElementsMatch(t, want.rules, got)
}

func (s *stage) validate(t *testing.T) {
	var args struct{ Files map[string]string }
	s.args(t, &args)
	_, err := s.load(t, args.Files, false)
	require.NoError(t, err)
	var want struct{ Status Status }
	s.expect(t, &want)
	reports := Validate(s.root, Options{Env: s.env})
	require.NotEmpty(t, reports)
	assert.Equal(t, want.Status, reports[0].Status)
	assert.NotEmpty(t, reports[0].Problems)
}
