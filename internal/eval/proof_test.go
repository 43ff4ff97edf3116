package eval

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/rego"
)

func TestEmbeddedChainReadsFactsOnly(t *testing.T) {
	e := engine(t)
	require.NoError(t, e.tableOff)
	assert.True(t, e.TableEnabled())
}

func TestWhatTheProofRefuses(t *testing.T) {
	for name, test := range map[string]struct{ rego, says string }{
		"another key":           {`verdict := 1 if input.tool == "bash"`, "input.tool"},
		"input as a whole":      {`verdict := input`, "input"},
		"input in a call":       {`verdict := count(input)`, "input"},
		"alias of input":        {"verdict := 1 if {\n\tdocument := input\n\tdocument.tool\n}", "input"},
		"unknown fact":          {`verdict := 1 if input.facts.denyed`, "input.facts.denyed"},
		"computed key":          {"verdict := 1 if {\n\tsome key in [\"tool\"]\n\tinput[key]\n}", "input["},
		"computed fact":         {"verdict := 1 if {\n\tsome fact in [\"denied\"]\n\tinput.facts[fact]\n}", "input.facts["},
		"inside brackets":       {"verdict := {\"x\": 1}[input.tool]", "input.tool"},
		"brackets of a rule":    {"verdict := x[input.tool]\n\nx := {\"x\": 1}", "input.tool"},
		"below a fact":          {"verdict := input.facts.denied.why", "input.facts.denied.why"},
		"in an else":            {"verdict := 1 if input.facts.denied\nelse := 2 if input.tool", "input.tool"},
		"in a head":             {"verdict := {\"tool\": input.tool}", "input.tool"},
		"in a comprehension":    {"verdict := [x | x := input.tool]", "input.tool"},
		"in every":              {"verdict := 1 if every x in [1] { input.n == x }", "input.n"},
		"negated":               {"verdict := 1 if not input.tool", "input.tool"},
		"two rules away":        {"verdict := a\n\na := b\n\nb := input.tool", "input.tool"},
		"in a function":         {"verdict := f(1)\n\nf(x) := x if input.tool", "input.tool"},
		"of any rule":           {"verdict := data.lictor[name] if some name in [\"x\"]\n\nx := 1 if input.tool", "input.tool"},
		"partial rule":          {"verdict := x\n\nx contains input.tool", "input.tool"},
		"text with a reference": {"verdict := $\"{input.tool}\"", "input.tool"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := newEngine(context.Background(), map[string]string{"lictor/verdict.rego": "package lictor\n\nimport rego.v2\n\n" + test.rego + "\n"})
			if err != nil {
				// What does not even compile needs no proof.
				require.Contains(t, err.Error(), test.says)
				return
			}
			require.False(t, e.TableEnabled())
			require.ErrorContains(t, e.tableOff, test.says)
			_, err = e.Outcome(0)
			requireCode(t, CodeInput, err)
		})
	}
}

func TestWhatTheProofAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"constant":           `verdict := 1`,
		"fact":               `verdict := 1 if not input.facts.denied`,
		"all facts":          `verdict := count(input.facts)`,
		"alias of the facts": "verdict := 1 if {\n\tfacts := input.facts\n\tfacts.denied\n}",
		"data without rules": `verdict := 1 if not data.elsewhere.x`,
		"local names":        `verdict := [output | some output in [1, 2]]`,
		"function":           "verdict := f(input.facts.denied)\n\nf(x) := {\"x\": x}.x",
	} {
		t.Run(name, func(t *testing.T) {
			assert.True(t, broken(t, text).TableEnabled())
		})
	}
}

// TestTableOff: a chain that reads the tool too is never answered from the
// facts alone, and still decides rightly.
func TestTableOff(t *testing.T) {
	e, err := changed(t, chainModule, "if input.facts.denied", `if input.tool == "bash"`)
	require.NoError(t, err)
	require.False(t, e.TableEnabled())
	require.ErrorContains(t, e.tableOff, chainModule)

	facts := model.FactDenied | model.FactAllowed
	for tool, step := range map[string]string{"bash": "3", "other": "6"} {
		for range 2 {
			outcome, err := e.Decide(context.Background(), &model.Input{Tool: tool, Facts: facts})
			require.NoError(t, err)
			assert.Equal(t, step, outcome.Step, tool)
		}
	}
}

// TestManagedBundleBeside: with a bundle compiled in, the chain reads whatever
// the bundle reads, so the table is off; its findings count.
func TestManagedBundleBeside(t *testing.T) {
	texts, err := rego.Modules()
	require.NoError(t, err)
	texts["managed/x.rego"] = `package lictor.managed.x

import rego.v2

import data.lictor.lib

deny contains {"id": "no-push", "reason": "nobody pushes"} if lib.runs("git", {"push"})

ask contains {"id": "fetch", "reason": "somebody fetches"} if lib.runs("git", {"fetch"})
`
	e, err := newEngine(context.Background(), texts)
	require.NoError(t, err)
	require.False(t, e.TableEnabled())
	for _, test := range []struct{ verb, decision, step string }{
		{"push", "deny", "0"}, {"fetch", "ask", "3d"}, {"status", "allow", "6"},
	} {
		command := model.Command{Source: "git " + test.verb, Parts: []model.Part{{Program: "git", Args: []string{test.verb}}}}
		input := &model.Input{
			Tool: "bash", Facts: model.FactCommand | model.FactAllowed,
			Targets: []model.Target{{Kind: model.KindCommand, Command: &command}},
		}
		outcome, err := e.Decide(context.Background(), input)
		require.NoError(t, err)
		assert.Equal(t, test.decision, string(outcome.Decision), test.verb)
		assert.Equal(t, test.step, outcome.Step, test.verb)
	}
}

// TestBundleThatReadsTheVerdict: a cycle does not compile.
func TestBundleThatReadsTheVerdict(t *testing.T) {
	texts, err := rego.Modules()
	require.NoError(t, err)
	texts["managed/x.rego"] = "package lictor.managed.x\n\ndeny contains data.lictor.verdict\n"
	_, err = newEngine(context.Background(), texts)
	requireCode(t, CodeCompile, err)
}
