package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// chainCase is a row of chain.jsonl.
type chainCase testcase.Row

// chainElsewhere are the areas that other packages answer for.
var chainElsewhere = []string{
	"decision", "sensitive", "policy-command", "policy-sandbox", "policy-path", "policy-model", "policy-host",
	"policy-host-proxy", "policy-parse", "policy-load", "policy-merge", "policy-limits", "profile", "settings",
	"settings-gate", "path-guard", "symlink", "bulk-read", "host-pattern",
}

func TestChainCases(t *testing.T) {
	for _, row := range testcase.Rows(t, "testdata/chain.jsonl") {
		c := chainCase(row)
		switch c.Area {
		case "rule-parse", "path-glob", "rule-command", "rule-tool", "policy-command", "policy-path":
		default:
			require.Contains(t, chainElsewhere, c.Area)
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			if why := waiting[c.ID]; why != "" {
				t.Skip(why)
			}
			switch c.Area {
			case "rule-parse":
				c.ruleParse(t)
			case "path-glob":
				c.pathGlob(t)
			case "policy-command":
				c.policyCommand(t)
			case "policy-path":
				c.policyPath(t)
			default:
				c.rule(t)
			}
		})
	}
}

func (c *chainCase) ruleParse(t *testing.T) {
	var in struct{ Text string }
	testcase.Strict(t, c.Input, &in)
	var want struct {
		Tool, Pattern string
		Error         string
	}
	testcase.Strict(t, c.Expect, &want)
	got, err := Parse(in.Text, model.SyntaxSettings, model.EffectDeny, "settings.json")
	if want.Error != "" {
		require.Error(t, err)
		if want.Error == "empty pattern" {
			assert.Contains(t, err.Error(), want.Error)
		}
		assert.Contains(t, strings.ToLower(err.Error()), "invalid permission rule")
		return
	}
	require.NoError(t, err)
	assert.Equal(t, want.Tool, got.Tool)
	assert.Equal(t, want.Pattern, got.Pattern)
	assert.Equal(t, want.Pattern == "", got.Bare)
}

func (c *chainCase) pathGlob(t *testing.T) {
	var given struct {
		Pattern    string
		IgnoreCase bool `json:"ignoreCase"`
	}
	testcase.Strict(t, c.Given, &given)
	var in struct{ Path string }
	testcase.Strict(t, c.Input, &in)
	var want struct{ Match bool }
	testcase.Strict(t, c.Expect, &want)
	for _, wide := range []bool{false, true} {
		globs, err := newPaths(Env{Root: "/r", Fold: given.IgnoreCase}).settings(given.Pattern, wide)
		require.NoError(t, err)
		text := in.Path
		if given.IgnoreCase {
			text = pathguard.FoldName(text)
		}
		assert.Equal(t, want.Match, anyHits(globs, &form{in: true, rel: text}, wide))
	}
}

func (c *chainCase) policyCommand(t *testing.T) {
	var given struct {
		DisallowedCommands []string `json:"disallowedCommands"`
	}
	testcase.Strict(t, c.Given, &given)
	var in struct{ Command string }
	testcase.Strict(t, c.Input, &in)
	var want struct{ Disallowed bool }
	testcase.Strict(t, c.Expect, &want)
	list, err := NewCommandList(given.DisallowedCommands)
	require.NoError(t, err)
	w := newWorld(t, t.TempDir(), t.TempDir())
	_, _, ok := list.Match(w.command(t, in.Command).Command)
	assert.Equal(t, want.Disallowed, ok)
}

func (c *chainCase) policyPath(t *testing.T) {
	var given struct {
		DenyPaths []string `json:"denyPaths"`
	}
	testcase.Strict(t, c.Given, &given)
	var in struct{ Path string }
	testcase.Strict(t, c.Input, &in)
	var want struct{ Denied bool }
	testcase.Strict(t, c.Expect, &want)
	l, err := NewPathList(given.DenyPaths, Env{Root: "/r"})
	require.NoError(t, err)
	_, ok := l.MatchRel(in.Path)
	assert.Equal(t, want.Denied, ok)
}

func (c *chainCase) rule(t *testing.T) {
	var given struct {
		Rule, Mode string
		Allow      []string
	}
	testcase.Strict(t, c.Given, &given)
	var in struct {
		Tool, Command string
		Target        *struct{ Kind, JSON, Path string }
	}
	testcase.Strict(t, c.Input, &in)
	var want struct{ Match bool }
	testcase.Strict(t, c.Expect, &want)
	effect := model.EffectAllow
	if given.Mode == "deny" {
		effect = model.EffectDeny
	}
	if given.Rule != "" {
		given.Allow = []string{given.Rule}
	}
	w := newWorld(t, t.TempDir(), t.TempDir())
	var parsed []model.Rule
	for _, text := range given.Allow {
		r, err := Parse(text, model.SyntaxSettings, effect, "settings.json")
		require.NoError(t, err)
		parsed = append(parsed, r)
	}
	set, notices, err := Compile(parsed, w.env)
	require.NoError(t, err)
	q := &Query{Tool: w.table.Canonical(in.Tool), Called: in.Tool, Class: w.table.Class(in.Tool)}
	switch {
	case in.Command != "":
		q.Targets = []model.Target{w.command(t, in.Command)}
	case in.Target.Kind == "path":
		q.Targets = []model.Target{w.path(t, in.Target.Path, model.AccessWrite, model.RoleMain)}
	default:
		q.Targets = []model.Target{{Kind: model.KindInput}}
	}
	var m Match
	set.Match(q, &m)
	if effect == model.EffectDeny {
		assert.Equal(t, want.Match, len(m.Deny) > 0)
	} else {
		assert.Equal(t, want.Match, m.Covered)
	}
	if given.Rule == "web_search(foo)" {
		assert.NotEmpty(t, notices, "a rule that can never match is worth a notice")
	}
}
