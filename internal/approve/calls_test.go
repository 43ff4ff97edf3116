package approve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/lictor-policy/lictor/internal/testcase"
)

// testdata/calls.jsonl is a day of an agent in three projects. Whoever counts
// questions reads it; here it is only kept in order.
func TestTheDayOfAnAgentIsWellFormed(t *testing.T) {
	type row struct {
		ID, Project, Tool string
		Args              map[string]any
	}
	calls := testcase.Lines[row](t, "testdata/calls.jsonl")
	projects, ids := map[string]int{}, map[string]bool{}
	for _, call := range calls {
		assert.NotEmpty(t, call.Tool)
		assert.NotNil(t, call.Args)
		assert.False(t, ids[call.ID], "%s twice", call.ID)
		ids[call.ID] = true
		projects[call.Project]++
		if text, ok := call.Args["command"].(string); ok {
			r := command(t, text)
			assert.NotEqual(t, "unparseable", string(r.Targets[0].Grade), text)
			assert.Empty(t, Hidden(&r), text)
		}
	}
	assert.Len(t, calls, 500)
	assert.Len(t, projects, 3)
}
