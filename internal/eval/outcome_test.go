package eval

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// policyEngine is the embedded policy, compiled once for all tests.
var policyEngine = sync.OnceValues(func() (*Engine, error) { return New(context.Background()) })

func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := policyEngine()
	require.NoError(t, err)
	return e
}

// agree checks the table, a direct evaluation and the reference of one vector.
// withDocument evaluates by way of the JSON document, as a stock OPA would.
func agree(t *testing.T, e *Engine, facts model.Facts, withDocument bool) {
	t.Helper()
	want := reference(facts)
	fromTable, err := e.Outcome(facts)
	require.NoError(t, err, facts.Names())
	again, err := e.Outcome(facts)
	require.NoError(t, err)
	require.Same(t, fromTable, again, "a vector that was seen is not evaluated again")
	direct, err := e.evaluateFacts(facts)
	require.NoError(t, err)
	require.Equal(t, want, fromTable, "table: %v", facts.Names())
	require.Equal(t, want, direct, "chain: %v", facts.Names())
	if withDocument {
		whole, err := e.Evaluate(context.Background(), model.Input{Tool: "bash", Targets: []model.Target{}, Facts: facts})
		require.NoError(t, err)
		require.Equal(t, want, whole, "document: %v", facts.Names())
	}
}

func TestOutcomeOfFewFacts(t *testing.T) {
	e := engine(t)
	agree(t, e, 0, true)
	for i := range model.FactBits {
		agree(t, e, 1<<i, true)
		for j := range i {
			agree(t, e, 1<<i|1<<j, true)
			// Without what decides early, the late steps meet each other.
			agree(t, e, model.FactMask&^(1<<i|1<<j), true)
		}
	}
}

func TestOutcomeOfSampledVectors(t *testing.T) {
	e := engine(t)
	samples := 200_000
	if testing.Short() || raced {
		samples = 20_000
	}
	random := rand.New(rand.NewPCG(3, 22))
	for range samples {
		facts := model.Facts(random.Uint32()) & model.FactMask
		// Half of all vectors have any given fact, so that a uniform sample hardly
		// ever comes to the late steps: most samples are made sparser.
		for range random.IntN(4) {
			facts &= model.Facts(random.Uint32())
		}
		agree(t, e, facts, random.IntN(50) == 0)
	}
}

// TestOutcomeOfLateSteps goes through every vector of the facts that steps 3b
// and later read, with no fact of an earlier step.
func TestOutcomeOfLateSteps(t *testing.T) {
	e := engine(t)
	early := model.FactInputError | model.FactPolicy | model.FactManagedDeny | model.FactOutside | model.FactSensitive |
		model.FactProtected | model.FactDenied
	late := model.FactMask &^ early
	step := uint32(1)
	if testing.Short() || raced {
		step = 7
	}
	// Counting through the subsets of late: subtracting a mask skips its holes.
	count := 0
	for facts := uint32(0); ; facts = (facts - uint32(late)) & uint32(late) {
		count++
		if uint32(count)%step == 0 {
			got, err := e.Outcome(model.Facts(facts))
			require.NoError(t, err)
			require.Equal(t, reference(model.Facts(facts)), got, model.Facts(facts).Names())
		}
		if facts == uint32(late) {
			break
		}
	}
	assert.Equal(t, 1<<15, count)
}

func TestOutcomeOfUnknownBits(t *testing.T) {
	e := engine(t)
	for _, facts := range []model.Facts{model.FactMask + 1, 1 << 31, ^model.Facts(0)} {
		outcome, err := e.Outcome(facts)
		require.Nil(t, outcome)
		requireCode(t, CodeInput, err)
	}
}

func TestOutcomeAllocatesNothingWhenSeen(t *testing.T) {
	e := engine(t)
	input := &model.Input{Facts: model.FactCommand | model.FactAllowed}
	_, err := e.Outcome(input.Facts)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		if outcome, err := e.Decide(context.Background(), input); err != nil || outcome.Step != "6" {
			t.Error("wrong outcome")
		}
	}))
}

func TestOutcomeConcurrently(t *testing.T) {
	e, err := New(context.Background())
	require.NoError(t, err)
	var group sync.WaitGroup
	for worker := range uint64(8) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(worker%2, 1))
			for range 500 {
				sparse, mask := random.Uint32(), random.Uint32()
				facts := model.Facts(sparse&mask) & model.FactMask
				got, err := e.Outcome(facts)
				if !assert.NoError(t, err) || !assert.Equal(t, reference(facts), got) {
					return
				}
			}
		})
	}
	group.Wait()
}

func TestOutcomeHasStableJSON(t *testing.T) {
	outcome, err := engine(t).Outcome(model.FactSensitive | model.FactReadOnly)
	require.NoError(t, err)
	text, err := json.Marshal(outcome)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"decision": "deny", "by": "sensitive", "kind": "", "step": "1", "class": "deny_sensitive",
		"hits": [{"step": "4", "decision": "allow", "by": "read_only", "kind": ""}]
	}`, string(text))
}

func requireCode(t *testing.T, code Code, err error) {
	t.Helper()
	var failure *Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code, err.Error())
}
