package eval

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/rego"
)

// broken compiles a policy whose verdict is the given Rego, with what it needs.
func broken(t *testing.T, verdict string) *Engine {
	t.Helper()
	e, err := newEngine(context.Background(), map[string]string{
		"lictor/verdict.rego": "package lictor\n\nimport rego.v2\n\n" + verdict + "\n",
	})
	require.NoError(t, err)
	return e
}

// changed compiles the embedded policy with one text replaced in one module.
func changed(t *testing.T, path, old, new string) (*Engine, error) {
	t.Helper()
	texts, err := rego.Modules()
	require.NoError(t, err)
	require.Contains(t, texts[path], old)
	texts = maps.Clone(texts)
	texts[path] = strings.Replace(texts[path], old, new, 1)
	return newEngine(context.Background(), texts)
}

const wellFormed = `{"step": "4", "decision": "allow", "by": "read_only", "kind": "", "class": "allow_readonly", "hits": []}`

func TestWellFormedVerdict(t *testing.T) {
	outcome, err := broken(t, "verdict := "+wellFormed).Outcome(0)
	require.NoError(t, err)
	assert.Equal(t, model.Allow, outcome.Decision)
}

func TestBrokenVerdicts(t *testing.T) {
	edit := func(old, new string) string {
		require.Contains(t, wellFormed, old)
		return "verdict := " + strings.Replace(wellFormed, old, new, 1)
	}
	for name, test := range map[string]struct {
		rego string
		code Code
	}{
		"undefined":          {"verdict := 1 if input.facts.policy", CodeUndefined},
		"conflict":           {"verdict := 1 if input.facts\nverdict := 2 if is_object(input.facts)", CodeConflict},
		"builtin error":      {`verdict := lower(x) if some x in [input.facts]`, CodeBuiltin},
		"boolean":            {"verdict := true", CodeResult},
		"text":               {`verdict := "allow"`, CodeResult},
		"null":               {"verdict := null", CodeResult},
		"set":                {`verdict contains "allow"`, CodeResult},
		"empty object":       {"verdict := {}", CodeResult},
		"missing field":      {edit(`"kind": "", `, ""), CodeResult},
		"unknown field":      {edit(`"kind": ""`, `"kind": "", "reason": "x"`), CodeResult},
		"misspelt field":     {edit(`"kind"`, `"kinds"`), CodeResult},
		"unknown decision":   {edit(`"allow", "by"`, `"permit", "by"`), CodeResult},
		"decision is true":   {edit(`"decision": "allow"`, `"decision": true`), CodeResult},
		"unknown by":         {edit(`"read_only"`, `"magic"`), CodeResult},
		"by cannot allow":    {edit(`"read_only"`, `"policy"`), CodeResult},
		"unknown kind":       {edit(`"kind": ""`, `"kind": "x"`), CodeResult},
		"unknown step":       {edit(`"4"`, `"8"`), CodeResult},
		"step is a number":   {edit(`"4"`, `4`), CodeResult},
		"class of a denial":  {edit(`"allow_readonly"`, `"deny_rule"`), CodeResult},
		"hits are a set":     {edit(`[]`, `set()`), CodeResult},
		"hit is text":        {edit(`[]`, `["5"]`), CodeResult},
		"hit is incomplete":  {edit(`[]`, `[{"step": "5"}]`), CodeResult},
		"hit ranks above":    {edit(`[]`, `[{"step": "3", "decision": "deny", "by": "rule", "kind": ""}]`), CodeResult},
		"hit by nobody":      {edit(`[]`, `[{"step": "6", "decision": "allow", "by": "x", "kind": ""}]`), CodeResult},
		"hit with a class":   {edit(`[]`, `[{"step": "6", "decision": "allow", "by": "rule", "kind": "", "class": "ask"}]`), CodeResult},
		"hits out of order":  {edit(`[]`, `[{"step": "6", "decision": "allow", "by": "rule", "kind": ""}, {"step": "5", "decision": "allow", "by": "sandbox", "kind": ""}]`), CodeResult},
		"value is no string": {edit(`"kind": ""`, `"kind": null`), CodeResult},
	} {
		t.Run(name, func(t *testing.T) {
			e := broken(t, test.rego)
			outcome, err := e.Evaluate(context.Background(), map[string]any{"facts": map[string]bool{"allowed": true}})
			require.Nil(t, outcome)
			requireCode(t, test.code, err)
			assert.Contains(t, err.Error(), "data.lictor.verdict")
			if e.TableEnabled() {
				outcome, err = e.Outcome(model.FactAllowed)
				require.Nil(t, outcome)
				requireCode(t, test.code, err)
				require.Nil(t, e.table.get(model.FactAllowed), "errors are not kept")
			}
		})
	}
}

func TestModulesThatDoNotCompile(t *testing.T) {
	for name, text := range map[string]string{
		"no Rego":       "package lictor\n\nverdict := ",
		"empty":         "",
		"unsafe":        "package lictor\n\nverdict := x",
		"recursion":     "package lictor\n\nverdict := verdict",
		"network":       "package lictor\n\nverdict := http.send({\"url\": \"http://x\", \"method\": \"get\"})",
		"clock":         "package lictor\n\nverdict := time.now_ns()",
		"random":        "package lictor\n\nverdict := rand.intn(\"x\", 2)",
		"environment":   "package lictor\n\nverdict := opa.runtime()",
		"unbounded":     "package lictor\n\nverdict := bits.lsh(1, 100000000)",
		"unused import": "package lictor\n\nimport data.x\n\nverdict := 1",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newEngine(context.Background(), map[string]string{"x.rego": text})
			requireCode(t, CodeCompile, err)
		})
	}
}

func TestNoVerdict(t *testing.T) {
	e, err := newEngine(context.Background(), map[string]string{"x.rego": "package lictor\n\nx := 1"})
	require.NoError(t, err)
	require.False(t, e.TableEnabled())
	_, err = e.Evaluate(context.Background(), map[string]any{"facts": map[string]any{}})
	requireCode(t, CodeUndefined, err)
}

// slow is a verdict that takes forever, but can be cancelled.
const slow = `verdict := count([1 | some a in xs; some b in xs; some c in xs; some d in xs; a + b + c + d == 0])
xs := [x | some i, _ in split(input.text, ""); x := i + 1]`

func slowDocument() map[string]any {
	return map[string]any{"facts": map[string]any{}, "text": strings.Repeat("x", 300)}
}

func TestTimeout(t *testing.T) {
	e := broken(t, slow)
	e.limit = 30 * time.Millisecond
	start := time.Now()
	_, err := e.Evaluate(context.Background(), slowDocument())
	requireCode(t, CodeTimeout, err)
	assert.Less(t, time.Since(start), 2*time.Second)
}

func TestDeadlineOfTheCaller(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err := broken(t, slow).Evaluate(ctx, slowDocument())
	requireCode(t, CodeTimeout, err)
}

func TestCancelledByTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(30*time.Millisecond, cancel)
	_, err := broken(t, slow).Evaluate(ctx, slowDocument())
	requireCode(t, CodeCancelled, err)
	_, err = engine(t).Evaluate(ctx, model.Input{})
	requireCode(t, CodeCancelled, err)
	_, err = New(ctx)
	requireCode(t, CodeCancelled, err)
}

// TestStuckEvaluation: a regular expression over a long text does not stop when
// it is told to. The call returns all the same, and the one left behind is
// counted until it ends.
func TestStuckEvaluation(t *testing.T) {
	e := broken(t, `verdict := regex.match("(x+x+)+[^x](a|b|ab)*y{20}", input.text)`)
	e.limit = time.Millisecond
	document := map[string]any{"facts": map[string]any{}, "text": strings.Repeat("x", inputLimit-100)}
	_, err := e.Evaluate(context.Background(), document)
	if err == nil {
		t.Fatal("the text was matched within the limit")
	}
	var failure *Error
	require.ErrorAs(t, err, &failure)
	require.Contains(t, []Code{CodeTimeout, CodeResult}, failure.Code)
	require.Eventually(t, func() bool { return e.stuck.count.Load() == 0 }, 20*time.Second, 10*time.Millisecond)

	e.stuck.count.Store(maxStuck)
	_, err = e.Evaluate(context.Background(), document)
	requireCode(t, CodeTimeout, err)
	assert.ErrorContains(t, err, "stuck")
}

func TestPanicIsAnError(t *testing.T) {
	err := func() (err error) {
		defer recovered("data.x", &err)
		panic("boom")
	}()
	requireCode(t, CodeInternal, err)
	assert.EqualError(t, err, "policy: data.x: internal: the engine failed: boom")
}
