package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestSettingsDefaults(t *testing.T) {
	for _, text := range []string{"", "  \n\t", "{}", `{"$comment": "nothing"}`} {
		s, err := ParseSettings("settings.json", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, DefaultSettings(), s, text)
	}
}

// everyKey is a document with every key of SPEC section 7.
const everyKey = `{
  "$schema": "https://evil.example/never-fetched.json",
  "$comment": ["a", "b"],
  "executor": "os",
  "profile": "strict",
  "sandbox": {"$comment": "x", "writePaths": ["../out", "~/x", "/opt/y"], "denyRead": ["~/notes"], "privateTmp": true},
  "permissions": {"$comment": "x", "allow": ["bash(ls *)"], "ask": ["bash(git push *)"], "deny": ["read_file(secrets/**)"]},
  "askFirst": true,
  "paths": {"outsideRoot": "ask"},
  "env": {"allow": ["NODE_ENV", "_x1"]},
  "network": {"allow": ["NPM", "github", "*.Example.com", "api.example.com", "npm"]},
  "web": {"enabled": false, "allowLocalhost": true},
  "limits": {"maxSteps": 1000, "tokenBudget": 1000},
  "subagents": {"enabled": true, "maxSteps": 200, "tokenBudget": 10000},
  "moe": {"enabled": false, "maxSteps": 1},
  "codeIndex": "lookup",
  "daemons": {"enabled": true}, "todo": {"enabled": true}, "lsp": {"enabled": true}, "undo": {"enabled": true},
  "skills": {"enabled": true}, "agents": {"enabled": false},
  "notifications": {"channel": "osc9", "afterSeconds": 30},
  "formatters": {"enabled": true, "commands": {"$comment": "x", "gofmt": false, "black": {"extensions": [".py"], "command": "black -q"},
    "biome": {"$comment": "y", "extensions": [".ts"], "command": ["biome", "format"]}}},
  "thinking": {"keepBlocks": true, "enabled": true, "effort": "high", "show": false},
  "model": {"contextWindow": 200000, "price": {"input": 3, "output": 15.5, "cacheRead": 0.3, "cacheWrite": 3.75}},
  "tools": {"$comment": "x", "my_copy": {"$comment": "y", "kind": "path", "class": "Copy", "args": [
    {"from": ["src", "source"], "take": "path", "access": "read", "role": "source"}, {"from": ["dst"], "take": "path", "access": "write"}]}},
  "shell": "zsh"
}`

func TestEveryKeyIsRead(t *testing.T) {
	s, err := ParseSettings("settings.json", []byte(everyKey))
	require.NoError(t, err)
	assert.Equal(t, "os", s.Executor)
	assert.Equal(t, ProfileStrict, s.Profile)
	assert.Equal(t, []string{"../out", "~/x", "/opt/y"}, s.Sandbox.WritePaths)
	assert.Equal(t, []string{"~/notes"}, s.Sandbox.DenyRead)
	assert.True(t, s.Sandbox.PrivateTmp)
	assert.True(t, s.AskFirst)
	assert.Equal(t, OutsideAsk, s.Paths.OutsideRoot)
	assert.Equal(t, []string{"NODE_ENV", "_x1"}, s.Env.Allow)
	assert.Equal(t, []string{"npm", "github", "*.example.com", "api.example.com"}, s.Network.Allow, "lower case, each once")
	assert.True(t, s.Web.AllowLocalhost)
	assert.False(t, *s.Web.Enabled)
	assert.Equal(t, 1000, s.Limits.MaxSteps)
	assert.Equal(t, 200, s.Subagents.MaxSteps)
	assert.Equal(t, 1, s.MoE.MaxSteps)
	assert.Equal(t, DefaultHelperToken, s.MoE.TokenBudget, "a key that is missing in a given object has its default")
	assert.Equal(t, CodeIndex("lookup"), s.CodeIndex)
	assert.Equal(t, 30, *s.Notifications.AfterSeconds)
	assert.Len(t, s.Formatters.Commands, 3)
	assert.True(t, s.Formatters.Commands["gofmt"].Off)
	assert.Equal(t, `"black -q"`, string(s.Formatters.Commands["black"].Command))
	assert.Equal(t, "high", s.Thinking.Effort)
	assert.InDelta(t, 15.5, *s.Model.Price.Output, 0)
	assert.Contains(t, string(s.Tools), `"my_copy"`)
	assert.Equal(t, model.ShellZsh, s.Shell)

	// What is written back is the same again.
	text, err := s.JSON()
	require.NoError(t, err)
	again, err := ParseSettings("settings.json", text)
	require.NoError(t, err, string(text))
	text2, err := again.JSON()
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(text2))

	rules, err := s.Rules("settings.json")
	require.NoError(t, err)
	assert.Equal(t, []string{"bash(ls *)"}, texts(rules, model.EffectAllow))
	assert.Equal(t, "settings.json", rules[0].Source)
}

func TestCodeIndexSpellings(t *testing.T) {
	for text, want := range map[string]CodeIndex{"true": "all", "false": "off", `"off"`: "off", `"all"`: "all"} {
		s, err := ParseSettings("s", []byte(`{"codeIndex": `+text+`}`))
		require.NoError(t, err)
		assert.Equal(t, want, s.CodeIndex)
	}
}

func TestSettingsFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, fault string }{
		"unknown key":            {`{"permisions": {}}`, `settings.json:1: unknown key "permisions" (did you mean "permissions"?)`},
		"unknown key, no hint":   {`{"banana": {}}`, `settings.json:1: unknown key "banana"`},
		"letter case counts":     {`{"Executor": "host"}`, `unknown key "Executor" (did you mean "executor"?)`},
		"nested unknown key":     {"{\n\"sandbox\": {\n\"writePath\": []}}", `settings.json:3: unknown key "sandbox.writePath" (did you mean "writePaths"?)`},
		"unknown in a formatter": {`{"formatters": {"commands": {"x": {"extensions": ["a"], "command": "b", "comand": 1}}}}`, `"formatters.commands.x.comand" (did you mean "command"?)`},
		"unknown in price":       {`{"model": {"price": {"in": 1}}}`, `unknown key "model.price.in"`},
		"enum":                   {`{"executor": "docker"}`, `key "executor" is "docker", but must be one of "auto", "os", "host", "landlock"`},
		"enum with a hint":       {`{"executor": "hots"}`, `(did you mean "host"?)`},
		"enum of another type":   {`{"executor": 1}`, `key "executor" must be one of`},
		"null is no value":       {`{"executor": null}`, `key "executor" must be one of`},
		"type":                   {`{"permissions": []}`, `key "permissions" must be object, not array`},
		"document":               {`[]`, `the document must be object, not array`},
		"the text null":          {`null`, `the document must be object, not null`},
		"too small":              {`{"limits": {"maxSteps": 0}}`, `key "limits.maxSteps" must be at least 1`},
		"too large":              {`{"limits": {"maxSteps": 1001}}`, `must be at most 1000`},
		"fraction":               {`{"limits": {"maxSteps": 1.5}}`, `key "limits.maxSteps" must be integer`},
		"fraction of nothing":    {`{"limits": {"maxSteps": 5.0}}`, `key "limits.maxSteps" must be written in plain digits, not as 5.0`},
		"huge number":            {`{"limits": {"tokenBudget": 1e400}}`, `too large`},
		"large number":           {`{"limits": {"tokenBudget": 1e300}}`, `at most 1000000000000`},
		"token budget":           {`{"limits": {"tokenBudget": 999}}`, "at least 1000"},
		"helper steps":           {`{"subagents": {"maxSteps": 201}}`, "at most 200"},
		"helper tokens":          {`{"moe": {"tokenBudget": 9999}}`, "at least 10000"},
		"formatter true":         {`{"formatters": {"commands": {"x": true}}}`, `key "formatters.commands.x" must be false or an object`},
		"formatter half":         {`{"formatters": {"commands": {"x": {"extensions": [".x"]}}}}`, `lacks the key "command"`},
		"environment pattern":    {`{"env": {"allow": ["A*"]}}`, `key "env.allow[0]" is "A*"`},
		"empty path":             {`{"sandbox": {"writePaths": [""]}}`, `key "sandbox.writePaths[0]" must not be empty`},
		"NUL in a path":          {`{"sandbox": {"denyRead": ["a\u0000b"]}}`, "NUL"},
		"somebody's home":        {`{"sandbox": {"writePaths": ["~root/x"]}}`, "only your own home folder"},
		"rule":                   {"{\"permissions\": {\"deny\": [\n\"bash(ls)\",\n\"not a rule (\"]}}", `settings.json:3: invalid permission rule "not a rule ("`},
		"rule of another kind":   {`{"permissions": {"allow": ["bash()"]}}`, "settings.json:1:"},
		"misspelt preset":        {`{"network": {"allow": ["pipy"]}}`, `did you mean "pypi"?`},
		"lone star":              {`{"network": {"allow": ["*"]}}`, "matches nothing"},
		"star inside":            {`{"network": {"allow": ["a.*.com"]}}`, "whole first part only"},
		"URL":                    {`{"network": {"allow": ["https://example.com/"]}}`, "without scheme and path"},
		"port":                   {`{"network": {"allow": ["example.com:443"]}}`, "network.allow: host pattern"},
		"address":                {`{"network": {"allow": ["10.0.0.1"]}}`, "is an address"},
		"hex address":            {`{"network": {"allow": ["127.0x1"]}}`, "is an address"},
		"IPv6":                   {`{"network": {"allow": ["[::1]"]}}`, "is an address"},
		"tool key":               {`{"tools": {"x": {"knd": "path"}}}`, `unknown key "tools.x.knd" (did you mean "kind"?)`},
		"tool argument":          {`{"tools": {"x": {"args": [{"from": ["a"], "take": "pth"}]}}}`, `key "tools.x.args[0].take" is "pth", but`},
		"shell":                  {`{"shell": "fish"}`, `key "shell" is "fish"`},
		"comment of a number":    {`{"$comment": 1}`, `key "$comment" must be`},
		"duplicate":              {"{\"askFirst\": true,\n\"askFirst\": false}", `settings.json:2: key "askFirst" stands there twice`},
		"first fault by line":    {"{\n\"zzz\": 1,\n\"executor\": \"x\"}", `settings.json:2: unknown key "zzz"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSettings("settings.json", []byte(c.text))
			require.ErrorContains(t, err, c.fault)
			assert.True(t, strings.HasPrefix(err.Error(), "settings.json"), err.Error())
			assert.NotContains(t, err.Error(), "settings.json: settings.json")
			var file *FileError
			assert.ErrorAs(t, err, &file)
		})
	}
}

func TestCloneSharesNothing(t *testing.T) {
	s, err := ParseSettings("settings.json", []byte(everyKey))
	require.NoError(t, err)
	before, err := json.Marshal(s)
	require.NoError(t, err)
	SafeSettings(s)
	c := s.Clone()
	c.Permissions.Allow[0], c.Sandbox.WritePaths[0], c.Network.Allow[0] = "x", "x", "x"
	delete(c.Formatters.Commands, "gofmt")
	after, err := json.Marshal(s)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after))
}
