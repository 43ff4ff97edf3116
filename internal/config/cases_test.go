package config

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
)

var areas = map[string]func(t *testing.T, c testcase.Row){
	"settings":      caseSettings,
	"settings-gate": caseGate,
	"policy-parse":  casePolicyParse,
	"policy-load":   casePolicyLoad,
	"policy-merge":  casePolicyMerge,
	"policy-limits": casePolicyLimits,
	"policy-model":  casePolicyModel,
	"profile":       caseProfile,
}

func TestConformance(t *testing.T) {
	for _, c := range testcase.Rows(t, "testdata/cases/config.jsonl") {
		run, ok := areas[c.Area]
		require.True(t, ok, "%s: unknown area %q", c.ID, c.Area)
		t.Run(c.ID, func(t *testing.T) { run(t, c) })
	}
}

// absent reports JSON null or nothing.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func caseSettings(t *testing.T, c testcase.Row) {
	var expect struct {
		Allow   *[]string
		Deny    []struct{ Tool, Pattern string }
		Error   any
		Network json.RawMessage
	}
	testcase.Strict(t, c.Expect, &expect)
	p := project(t)
	if string(c.Input) != `{"file": "missing"}` {
		write(t, p.Settings, string(c.Input))
	}
	s, err := ReadSettings(p)
	if expect.Error != nil {
		require.ErrorContains(t, err, "settings.json")
		return
	}
	require.NoError(t, err)
	rules, err := s.Rules(p.Settings)
	require.NoError(t, err)
	if expect.Allow != nil {
		assert.Len(t, texts(rules, model.EffectAllow), len(*expect.Allow))
	}
	for i, want := range expect.Deny {
		assert.Equal(t, model.EffectDeny, rules[i].Effect)
		assert.Equal(t, want.Tool, rules[i].Tool)
		assert.Equal(t, want.Pattern, rules[i].Pattern)
	}
	if len(expect.Network) > 0 {
		assert.Nil(t, s.Network)
	}
}

func caseGate(t *testing.T, c testcase.Row) {
	var given struct {
		Settings json.RawMessage
		Ask      model.Answer
		Trust    any
		Pinned   string
	}
	var expect struct {
		Executor                 *string
		Allow, EnvAllow          *[]string
		WritePaths               json.RawMessage
		AllowLocalhost           *bool
		DenyKept, DenyReadKept   []string
		SubagentsKept            bool
		NoticeContains           []string
		Risk                     json.RawMessage
		Asked                    *int
		Settings                 string
		Applied, Pinned          *bool
		Notice                   json.RawMessage
		PreviewContains          string
		RiskHasFormatterCommands *bool `json:"riskHasFormatterCommandsKey"`
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Expect, &expect)
	p, ctx := project(t), context.Background()
	trust := OpenTrust(p.Trust)
	pin := func() {
		loaded, err := Read(ctx, p, Options{Rego: engine(t)})
		require.NoError(t, err)
		risk, err := AssessRisk(ctx, engine(t), loaded)
		require.NoError(t, err)
		require.NoError(t, trust.Accept(p.Root, risk))
	}
	if string(given.Settings) == `"allow list changed after the pin"` {
		write(t, p.Settings, `{"permissions": {"allow": ["bash(ls)"]}}`)
		pin()
		given.Settings = json.RawMessage(`{"permissions": {"allow": ["bash(ls)", "bash"]}}`)
	}
	write(t, p.Settings, string(given.Settings))
	switch given.Pinned {
	case "":
	case "same hash, same root":
		pin()
	default:
		t.Fatalf("unknown pin %q", given.Pinned)
	}
	options := Options{Rego: engine(t), Trust: trust}
	person := &asker{answer: given.Ask}
	if given.Ask != "" {
		options.Ask = person.ask
	}
	got, err := Load(ctx, p, options)
	require.NoError(t, err)
	s := got.Applied.Settings

	if expect.Executor != nil {
		assert.Equal(t, *expect.Executor, s.Executor)
	}
	if expect.Allow != nil {
		assert.ElementsMatch(t, *expect.Allow, texts(got.Rules, model.EffectAllow))
	}
	if expect.EnvAllow != nil {
		assert.ElementsMatch(t, *expect.EnvAllow, s.Env.Allow)
	}
	if len(expect.WritePaths) > 0 {
		assert.Nil(t, s.Sandbox.WritePaths)
	}
	if expect.AllowLocalhost != nil {
		assert.Equal(t, *expect.AllowLocalhost, s.Web.AllowLocalhost)
	}
	for _, pattern := range expect.DenyKept {
		assert.Contains(t, texts(got.Rules, model.EffectDeny), "bash("+pattern+")")
	}
	assert.Subset(t, s.Sandbox.DenyRead, expect.DenyReadKept)
	if expect.SubagentsKept {
		assert.True(t, *s.Subagents.Enabled)
	}
	for _, part := range expect.NoticeContains {
		assert.Contains(t, got.Applied.Notices[0].Text, part)
	}
	if string(expect.Risk) == "null" {
		assert.Empty(t, got.Risk)
	}
	if expect.Asked != nil {
		assert.Len(t, person.requests, *expect.Asked)
	}
	if expect.Settings == "unchanged" {
		assert.Equal(t, got.Loaded.Settings, s)
	}
	if expect.Applied != nil {
		assert.Equal(t, *expect.Applied, got.Accepted)
		assert.Equal(t, got.Loaded.Settings, s)
	}
	if expect.Pinned != nil {
		assert.Equal(t, *expect.Pinned, got.Pinned)
		_, pinned := OpenTrust(p.Trust).Pin(p.Root)
		assert.Equal(t, *expect.Pinned, pinned)
	}
	if string(expect.Notice) == "null" {
		assert.Empty(t, got.Applied.Notices)
	}
	if expect.PreviewContains != "" {
		assert.Contains(t, person.requests[0].Preview, expect.PreviewContains)
	}
	if expect.RiskHasFormatterCommands != nil {
		for _, item := range got.Risk {
			assert.Equal(t, *expect.RiskHasFormatterCommands, item.Key == "formatters.commands")
		}
	}
}

func casePolicyParse(t *testing.T, c testcase.Row) {
	var expect struct {
		Error   bool
		Profile string
	}
	testcase.Strict(t, c.Expect, &expect)
	policy, err := ParsePolicy("policy.json", c.Input)
	if expect.Error {
		require.ErrorContains(t, err, "policy.json")
		return
	}
	require.NoError(t, err)
	assert.Equal(t, expect.Profile, policy.Profile)
}

// layered writes the two files of a case and reads the team policy.
func layered(t *testing.T, p Places, user, managed json.RawMessage) (*Policy, []PolicyLayer, error) {
	t.Helper()
	if !absent(managed) {
		text := string(managed)
		if text[0] == '"' {
			require.NoError(t, json.Unmarshal(managed, &text))
		}
		p = withManaged(t, p, text)
	}
	if !absent(user) {
		write(t, p.HomePolicy, string(user))
	}
	layers, _, err := ReadPolicyLayers(p, nil)
	if err != nil {
		return nil, nil, err
	}
	policy, err := MergePolicy(context.Background(), engine(t), layers)
	return policy, layers, err
}

func assertPolicy(t *testing.T, want json.RawMessage, got *Policy) {
	t.Helper()
	if absent(want) {
		assert.Nil(t, got)
		return
	}
	var expect, document map[string]any
	require.NoError(t, json.Unmarshal(want, &expect))
	require.NoError(t, json.Unmarshal(got.Document, &document))
	if _, ok := expect["allowedModels"]; !ok {
		delete(document, "allowedModels") // checked by model
	}
	assert.Equal(t, expect, document)
}

func casePolicyLoad(t *testing.T, c testcase.Row) {
	var given struct {
		User, Managed json.RawMessage
		Platform      string
	}
	var expect struct {
		Policy             json.RawMessage
		Sources            string
		AllowsModel        map[string]bool
		Error, ManagedPath string
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Expect, &expect)
	if given.Platform != "" {
		assert.Equal(t, expect.ManagedPath, PlacesFor(given.Platform, "/r", "/h", nil).ManagedPolicy)
		return
	}
	p := project(t)
	policy, layers, err := layered(t, p, given.User, given.Managed)
	if expect.Error != "" {
		require.ErrorContains(t, err, p.ManagedPolicy)
		return
	}
	require.NoError(t, err)
	assertPolicy(t, expect.Policy, policy)
	if expect.Sources == "managed first, then user" {
		require.Len(t, layers, 2)
		assert.Equal(t, p.ManagedPolicy, layers[0].Origin)
		assert.Equal(t, p.HomePolicy, layers[1].Origin)
	}
	for name, allowed := range expect.AllowsModel {
		assert.Equal(t, allowed, policy.CheckModel(name) == nil, name)
	}
}

func casePolicyMerge(t *testing.T, c testcase.Row) {
	var given struct{ User, Managed json.RawMessage }
	var expect struct {
		Policy  json.RawMessage
		Profile string
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Expect, &expect)
	policy, _, err := layered(t, project(t), given.User, given.Managed)
	require.NoError(t, err)
	if expect.Profile != "" {
		assert.Equal(t, expect.Profile, policy.Profile)
		return
	}
	assertPolicy(t, expect.Policy, policy)
}

func casePolicyLimits(t *testing.T, c testcase.Row) {
	var given struct {
		Settings json.RawMessage
		Policy   struct{ Limits Limits }
	}
	var expect struct {
		MaxSteps, TokenBudget             int
		DefaultsUnchanged, InputUnchanged bool
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Expect, &expect)
	s := DefaultSettings()
	if given.Settings[0] == '{' {
		testcase.Strict(t, given.Settings, &s.Limits)
		testcase.Strict(t, given.Settings, &s.Subagents)
	}
	before := s.Clone()
	got := CapLimits(s, &Policy{Limits: given.Policy.Limits})
	want := Limits{expect.MaxSteps, expect.TokenBudget}
	assert.Equal(t, want, got.Limits)
	assert.Equal(t, want, got.Subagents)
	assert.Equal(t, before, s)
	assert.Equal(t, DefaultSettings(), DefaultSettings())
	assert.Equal(t, DefaultHelperSteps, DefaultSettings().Subagents.MaxSteps)
}

func casePolicyModel(t *testing.T, c testcase.Row) {
	var given struct{ AllowedModels json.RawMessage }
	var input struct{ Model string }
	var expect struct{ Allowed bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	policy, _, err := layered(t, project(t), nil, c.Given)
	require.NoError(t, err)
	assert.Equal(t, expect.Allowed, policy.CheckModel(input.Model) == nil)
}

func caseProfile(t *testing.T, c testcase.Row) {
	var given struct{ Policy json.RawMessage }
	var input struct{ ProjectProfile string }
	var expect struct{ Policy json.RawMessage }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	p := project(t)
	policy, _, err := layered(t, p, nil, given.Policy)
	require.NoError(t, err)
	got, err := ApplyProfile(context.Background(), engine(t), policy, []ProfileSource{{p.Settings, input.ProjectProfile}})
	require.NoError(t, err)
	assertPolicy(t, expect.Policy, got)
}
