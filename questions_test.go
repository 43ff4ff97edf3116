package lictor_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// always answers every question with always, once, and counts.
type always struct{ asked int }

func (a *always) Ask(context.Context, lictor.Request) (lictor.Answer, error) {
	a.asked++
	return lictor.AnswerAlways, nil
}

// TestQuestions counts how often a person is asked about 500 calls as agents make
// them in a day: the question must be rare, or nobody reads it. The bounds are
// the counts of today; a change that asks more must say why.
func TestQuestions(t *testing.T) {
	type line struct {
		ID      string          `json:"id"`
		Project string          `json:"project"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"args"`
	}
	var calls []lictor.Call
	for _, row := range testcase.Lines[line](t, "internal/approve/testdata/calls.jsonl") {
		calls = append(calls, lictor.Call{Tool: row.Tool, Args: row.Args})
	}
	require.Len(t, calls, 500)

	count := func(o lictor.Options) (asked, denied int) {
		e := newProject(t).open(t, o)
		for _, c := range calls {
			v, err := e.Check(context.Background(), c)
			require.NoError(t, err, "%s %s", c.Tool, c.Args)
			switch v.Decision {
			case lictor.Ask:
				asked++
			case lictor.Deny:
				denied++
			}
		}
		return asked, denied
	}
	confined, denied := count(lictor.Options{Isolation: lictor.IsolationOS, Shell: "bash"})
	plain, deniedPlain := count(lictor.Options{Shell: "bash"})

	person := &always{}
	e := newProject(t).open(t, lictor.Options{Approver: person, Shell: "bash"})
	for _, c := range calls {
		_, err := e.Decide(context.Background(), c)
		require.NoError(t, err)
	}
	t.Logf("of 500 calls: in the sandbox %d questions and %d denials, without it %d and %d, with always %d questions",
		confined, denied, plain, deniedPlain, person.asked)
	assert.Equal(t, denied, deniedPlain)
	assert.LessOrEqual(t, denied, 6, "secrets and places outside")
	assert.LessOrEqual(t, confined, 68)
	assert.LessOrEqual(t, plain, 349)
	assert.LessOrEqual(t, person.asked, 117)
}
