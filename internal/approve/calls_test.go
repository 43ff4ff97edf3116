package approve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testdata/calls.jsonl is a day of an agent in three projects. Whoever counts
// questions reads it; here it is only kept in order.
func TestTheDayOfAnAgentIsWellFormed(t *testing.T) {
	data, err := os.ReadFile("testdata/calls.jsonl")
	require.NoError(t, err)
	projects, ids, n := map[string]int{}, map[string]bool{}, 0
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		n++
		var call struct {
			ID, Project, Tool string
			Args              map[string]any
		}
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&call), "line %d", n)
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
	require.NoError(t, lines.Err())
	assert.Equal(t, 500, n)
	assert.Len(t, projects, 3)
}
