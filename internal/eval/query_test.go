package eval

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

type layer struct {
	Source string         `json:"source"`
	Policy map[string]any `json:"policy"`
}

type merged struct {
	Policy  map[string]any `json:"policy"`
	Origins []struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Source string `json:"source"`
	} `json:"origins"`
}

func merge(t *testing.T, layers ...map[string]any) map[string]any {
	t.Helper()
	input := struct {
		Layers []layer `json:"layers"`
	}{[]layer{}}
	for i, policy := range layers {
		input.Layers = append(input.Layers, layer{string(rune('a' + i)), policy})
	}
	var out merged
	require.NoError(t, engine(t).Query(context.Background(), "merge", input, &out))
	return out.Policy
}

// randomPolicy makes a policy document of few values, so that layers meet.
func randomPolicy(random *rand.Rand) map[string]any {
	if random.IntN(10) == 0 {
		return nil
	}
	policy := map[string]any{}
	list := func() []any {
		out := []any{}
		for _, name := range []string{"a", "b", "c"} {
			if random.IntN(2) == 0 {
				out = append(out, name)
			}
		}
		random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	pick := func(values ...any) any { return values[random.IntN(len(values))] }
	set := func(path string, value any) {
		if random.IntN(2) == 0 {
			return
		}
		outer, inner, nested := strings.Cut(path, ".")
		if !nested {
			policy[outer] = value
			return
		}
		if policy[outer] == nil {
			policy[outer] = map[string]any{}
		}
		policy[outer].(map[string]any)[inner] = value
	}
	set("profile", pick("default", "strict"))
	set("disallowedCommands", list())
	set("denyPaths", list())
	set("network.blockedHosts", list())
	set("network.strictAllowlist", pick(true, false))
	set("requireSandbox", pick(true, false))
	set("askFirst", pick(true, false))
	set("audit.enabled", pick(true, false))
	set("audit.checkpoint", pick(true, false))
	set("audit.observe", pick(true, false))
	set("audit.level", pick("denials", "mutations", "all"))
	set("allowedModels", list())
	set("limits.maxSteps", pick(1, 20, 300))
	set("limits.tokenBudget", pick(1000, 5000))
	set("paths.outsideRoot", pick("ask", "deny"))
	return policy
}

func at(policy map[string]any, path string) any {
	outer, inner, nested := strings.Cut(path, ".")
	if !nested {
		return policy[outer]
	}
	object, _ := policy[outer].(map[string]any)
	return object[inner]
}

// TestMergeIsASemilattice: whatever the order and the grouping of the layers,
// the merge is the same, merging twice changes nothing, and the result is never
// looser than any layer.
func TestMergeIsASemilattice(t *testing.T) {
	rounds := 400
	if testing.Short() || raced {
		rounds = 60
	}
	random := rand.New(rand.NewPCG(5, 9))
	for range rounds {
		a, b, c := randomPolicy(random), randomPolicy(random), randomPolicy(random)
		all := merge(t, a, b, c)
		require.Equal(t, all, merge(t, c, a, b), "commutative")
		require.Equal(t, all, merge(t, merge(t, a, b), c), "associative")
		require.Equal(t, all, merge(t, a, merge(t, b, c)), "associative")
		require.Equal(t, all, merge(t, all, all), "idempotent")
		require.Equal(t, all, merge(t, all, a), "absorbs its layers")
		for _, layer := range []map[string]any{a, b, c} {
			requireNoLooser(t, all, layer)
		}
	}
}

// requireNoLooser checks in Go that the merged policy is at least as strict as
// one of its layers, key by key.
func requireNoLooser(t *testing.T, all, layer map[string]any) {
	t.Helper()
	for _, path := range []string{"disallowedCommands", "denyPaths", "network.blockedHosts"} {
		if given, ok := at(layer, path).([]any); ok {
			require.Subset(t, at(all, path), given, path)
		}
	}
	for _, path := range []string{"requireSandbox", "askFirst", "network.strictAllowlist", "audit.enabled", "audit.checkpoint"} {
		if at(layer, path) == true {
			require.Equal(t, true, at(all, path), path)
		}
	}
	if at(layer, "audit.observe") == false {
		require.Equal(t, false, at(all, "audit.observe"))
	}
	for path, order := range map[string][]string{
		"profile": {"default", "strict"}, "audit.level": {"denials", "mutations", "all"}, "paths.outsideRoot": {"ask", "deny"},
	} {
		if given, ok := at(layer, path).(string); ok {
			require.GreaterOrEqual(t, slices.Index(order, at(all, path).(string)), slices.Index(order, given), path)
		}
	}
	for _, path := range []string{"limits.maxSteps", "limits.tokenBudget"} {
		if given, ok := at(layer, path).(int); ok {
			number, err := at(all, path).(json.Number).Int64()
			require.NoError(t, err)
			require.LessOrEqual(t, number, int64(given), path)
		}
	}
	// A model that every list of the result lets through is in the layer's list.
	if given, ok := at(layer, "allowedModels").([]any); ok && len(given) > 0 {
		for _, name := range []string{"a", "b", "c"} {
			through := true
			for _, list := range at(all, "allowedModels").([]any) {
				through = through && slices.Contains(list.([]any), any(name))
			}
			if through {
				require.Contains(t, given, any(name))
			}
		}
	}
}

func TestMergeOfNobody(t *testing.T) {
	assert.Nil(t, merge(t))
	assert.Nil(t, merge(t, nil, nil))
	assert.Equal(t, map[string]any{}, merge(t, nil, map[string]any{}))
}

func TestMergeOrigins(t *testing.T) {
	var out merged
	require.NoError(t, engine(t).Query(context.Background(), "lictor.merge", json.RawMessage(`{"layers": [
		{"source": "managed", "policy": {"limits": {"maxSteps": 30}, "denyPaths": ["x"]}},
		{"source": "user", "policy": {"limits": {"maxSteps": 10}, "denyPaths": ["x", "y"]}}
	]}`), &out))
	var rows []string
	for _, origin := range out.Origins {
		text, err := json.Marshal(origin.Value)
		require.NoError(t, err)
		rows = append(rows, origin.Key+" "+string(text)+" "+origin.Source)
	}
	assert.Equal(t, []string{`denyPaths "x" managed`, `denyPaths "x" user`, `denyPaths "y" user`, `limits.maxSteps 10 user`}, rows)
}

func TestStrictProfile(t *testing.T) {
	var out struct {
		Policy map[string]any `json:"policy"`
		Strict bool           `json:"strict"`
	}
	require.NoError(t, engine(t).Query(context.Background(), "strict",
		json.RawMessage(`{"policy": {"denyPaths": ["x"]}, "profiles": ["default", "strict"]}`), &out))
	assert.True(t, out.Strict)
	assert.Equal(t, map[string]any{"denyPaths": []any{"x"}, "profile": "strict", "requireSandbox": true}, out.Policy)
}

func TestConsent(t *testing.T) {
	var out struct {
		Risks []struct {
			Key, Source string
			Value       json.RawMessage
		}
	}
	require.NoError(t, engine(t).Query(context.Background(), "consent", json.RawMessage(
		`{"source": "s", "settings": {"permissions": {"allow": ["bash(ls)"]}}, "files": []}`), &out))
	require.Len(t, out.Risks, 1)
	assert.Equal(t, "permissions.allow", out.Risks[0].Key)
	assert.JSONEq(t, `["bash(ls)"]`, string(out.Risks[0].Value))
}

func TestSessionRules(t *testing.T) {
	var out struct {
		Rules []map[string]any `json:"rules"`
	}
	input := model.Input{Tool: "web_fetch", Targets: []model.Target{{Kind: model.KindURL, URL: "https://h/", Host: model.Host{Host: "h"}}}}
	require.NoError(t, engine(t).Query(context.Background(), "session", input, &out))
	assert.Equal(t, []map[string]any{{"kind": "host", "tool": "web_fetch", "host": "h"}}, out.Rules)
}

func TestFindingsOfNobody(t *testing.T) {
	var out map[string][]any
	require.NoError(t, engine(t).Query(context.Background(), "findings", map[string]any{}, &out))
	assert.Equal(t, map[string][]any{"deny": {}, "ask": {}, "invalid": {}}, out)
}

func TestFaultyQueries(t *testing.T) {
	e := engine(t)
	ctx := context.Background()
	var out merged
	requireCode(t, CodeInternal, e.Query(ctx, "other", nil, &out))
	requireCode(t, CodeInput, e.Query(ctx, "merge", make(chan int), &out))
	requireCode(t, CodeInput, e.Query(ctx, "merge", json.RawMessage(`{"layers": [}`), &out))
	requireCode(t, CodeInput, e.Query(ctx, "merge", json.RawMessage(`{"layers": []} x`), &out))
	requireCode(t, CodeInput, e.Query(ctx, "merge", strings.Repeat("x", inputLimit), &out))
	requireCode(t, CodeUndefined, e.Query(ctx, "merge", map[string]any{}, &out))
	var narrow struct {
		Policy map[string]any `json:"policy"`
	}
	empty := json.RawMessage(`{"layers": []}`)
	err := e.Query(ctx, "merge", empty, &narrow)
	requireCode(t, CodeResult, err)
	assert.ErrorContains(t, err, "origins")
	var wrong struct {
		Policy  string `json:"policy"`
		Origins string `json:"origins"`
	}
	requireCode(t, CodeResult, e.Query(ctx, "merge", empty, &wrong))

	faulty, err := changed(t, "lictor/merge/merge.rego", "result := ", "result := := ")
	require.NoError(t, err, "a package of its own compiles on first use")
	requireCode(t, CodeCompile, faulty.Query(ctx, "merge", empty, &out))
	requireCode(t, CodeCompile, faulty.Query(ctx, "merge", empty, &out))
	faulty, err = changed(t, "lictor/merge/merge.rego", "result := ", "results := ")
	require.NoError(t, err)
	require.Error(t, faulty.Query(ctx, "merge", empty, &out))
}

func TestFaultyDocuments(t *testing.T) {
	e := engine(t)
	for name, document := range map[string]string{
		"no object":        `[]`,
		"no facts":         `{}`,
		"facts are null":   `{"facts": null}`,
		"facts are a list": `{"facts": ["denied"]}`,
		"unknown fact":     `{"facts": {"denyed": true}}`,
		"false fact":       `{"facts": {"denied": false}}`,
		"text fact":        `{"facts": {"denied": "true"}}`,
		"malformed":        `{"facts": {}`,
		"key twice":        `{"facts": {"denied": true}, "facts": {}}`,
		"inner key twice":  `{"facts": {"denied": true, "denied": true}}`,
		"two documents":    `{"facts": {}} {}`,
		"too long":         `{"facts": {}, "args": "` + strings.Repeat("x", inputLimit) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Evaluate(context.Background(), json.RawMessage(document))
			requireCode(t, CodeInput, err)
		})
	}
}
