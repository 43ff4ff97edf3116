package config

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicyFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, fault string }{
		"unknown key":      {`{"denyPath": []}`, `policy.json:1: unknown key "denyPath" (did you mean "denyPaths"?)`},
		"nested":           {"{\"audit\": {\n\"checkpoints\": true}}", `policy.json:2: unknown key "audit.checkpoints" (did you mean "checkpoint"?)`},
		"letter case":      {`{"requiresandbox": true}`, `(did you mean "requireSandbox"?)`},
		"profile":          {`{"profile": "loose"}`, `key "profile" is "loose", but must be one of "default", "strict"`},
		"level":            {`{"audit": {"level": "denial"}}`, `(did you mean "denials"?)`},
		"zero steps":       {`{"limits": {"maxSteps": 0}}`, "at least 1"},
		"models, nested":   {`{"allowedModels": [["a"]]}`, `key "allowedModels[0]" must be string`},
		"text for yes":     {`{"requireSandbox": "true"}`, `key "requireSandbox" must be boolean, not string`},
		"empty command":    {`{"disallowedCommands": [""]}`, "must not be empty"},
		"blank command":    {`{"disallowedCommands": ["ok", "  "]}`, "blank"},
		"blank path":       {`{"denyPaths": ["  "]}`, "denyPaths:"},
		"host with a path": {`{"network": {"blockedHosts": ["evil.example/x"]}}`, "network.blockedHosts: host pattern"},
		"lone star":        {"{\"network\": {\"blockedHosts\": [\n\"*\"]}}", `policy.json:2: network.blockedHosts: "*" matches nothing`},
		"broken":           {`{`, "policy.json:1: is not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePolicy("policy.json", []byte(c.text))
			require.ErrorContains(t, err, c.fault)
			require.ErrorContains(t, err, "policy.json")
		})
	}
	_, err := ParsePolicy("policy.json", []byte(`{"$comment": ["x"], "$schema": "y", "network": {"$comment": "z", "blockedHosts": ["10.0.0.1", "*.evil.example", "[::1]"]}}`))
	require.NoError(t, err)
}

func TestMergeKnowsWhereEachEntryComesFrom(t *testing.T) {
	layers := []PolicyLayer{
		{"managed", json.RawMessage(`{"$comment": "x", "disallowedCommands": ["b", "both"], "limits": {"maxSteps": 30}, "allowedModels": ["z", "a*"], "requireSandbox": false, "audit": {"level": "denials"}}`)},
		{"home", json.RawMessage(`{"disallowedCommands": ["a", "both"], "limits": {"maxSteps": 10}, "allowedModels": [], "requireSandbox": true, "audit": {"level": "all"}, "paths": {"outsideRoot": "ask"}}`)},
		{"bundle", json.RawMessage(`{"network": {"blockedHosts": ["evil.example"]}, "allowedModels": ["a-*"], "paths": {"outsideRoot": "deny"}}`)},
	}
	p, err := MergePolicy(context.Background(), engine(t), layers)
	require.NoError(t, err)
	assert.Equal(t, []PolicyEntry{{"a", "home"}, {"b", "managed"}, {"both", "managed"}}, p.DisallowedCommands)
	assert.Equal(t, []PolicyEntry{{"evil.example", "bundle"}}, p.BlockedHosts)
	assert.Equal(t, "home", p.Sources["limits.maxSteps"])
	assert.Equal(t, "home", p.Sources["requireSandbox"])
	assert.Equal(t, "home", p.Sources["audit.level"])
	assert.Equal(t, "bundle", p.Sources["paths.outsideRoot"])
	assert.Equal(t, OutsideDeny, p.OutsideRoot)
	assert.Equal(t, "all", p.AuditLevel)
	assert.ElementsMatch(t, []ModelList{{[]string{"a*", "z"}, "managed"}, {[]string{"a-*"}, "bundle"}}, p.AllowedModels)
	assert.Equal(t, []string{"a", "b", "both"}, Texts(p.DisallowedCommands))

	require.NoError(t, p.CheckModel("a-1"))
	require.ErrorContains(t, p.CheckModel("a1"), `model "a1" is not allowed by bundle`)
	require.ErrorContains(t, p.CheckModel("z"), "bundle")
	require.Error(t, p.CheckModel(""))

	// The order of the layers changes origins, never values.
	reversed, err := MergePolicy(context.Background(), engine(t), []PolicyLayer{layers[2], layers[1], layers[0]})
	require.NoError(t, err)
	assert.JSONEq(t, string(p.Document), string(reversed.Document))
}

func TestNoPolicyAllowsEveryModel(t *testing.T) {
	var none *Policy
	require.NoError(t, none.CheckModel("x"))
	require.NoError(t, (&Policy{AllowedModels: []ModelList{{}}}).CheckModel("x"))
}

func TestMatchStar(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a*", "a", true},
		{"a*", "ab", true},
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a", "A", false},
		{"*b", "ab", true},
		{"*b", "ba", false},
		{"a*c*e", "abcde", true},
		{"a*c*e", "abde", false},
		{"a?", "ab", false},
		{"claude-3-5-*", "claude-3-5-sonnet-20241022", true},
		{"gpt-4o*", "xgpt-4o", false},
		{"**", "x", true},
		{"a**b", "ab", true},
	} {
		assert.Equal(t, c.want, matchStar(c.pattern, c.text), c.pattern+" "+c.text)
	}
}

func TestCapLimits(t *testing.T) {
	s := DefaultSettings()
	assert.Equal(t, EffectiveLimits{
		Subagents: Limits{20, 150_000}, MoE: Limits{20, 150_000},
	}, CapLimits(s, nil), "no limit stays none")
	s.Limits = LimitSettings{MaxSteps: 10}
	s.MoE.MaxSteps = 7
	got := CapLimits(s, &Policy{Limits: Limits{8, 1000}})
	assert.Equal(t, EffectiveLimits{
		Limits: Limits{8, 1000}, Subagents: Limits{8, 1000}, MoE: Limits{7, 1000},
	}, got)
}
