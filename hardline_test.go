package lictor_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
)

// TestHardlineCases: the built-in bundle stops catastrophic commands in every mode
// and whatever is allowed, and nothing else.
func TestHardlineCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases/permissions.jsonl")
	require.NoError(t, err)
	p := newProject(t)
	p.write(t, filepath.Join(p.home, ".lictor/permissions.json"), `{"permissions":{"allow":["Bash(*)"]}}`)
	engines := map[string]*lictor.Engine{
		"build":    p.open(t, lictor.Options{}),
		"confined": p.open(t, lictor.Options{Isolation: lictor.IsolationOS}),
		"plan":     p.open(t, lictor.Options{Isolation: lictor.IsolationOS, Mode: lictor.ModePlan}),
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	ran := 0
	for lines.Scan() {
		var row struct {
			ID, Area, Tool string
			Args           json.RawMessage
			Expect         json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		if row.Area != "hardline" {
			continue
		}
		ran++
		var want string
		require.NoError(t, json.Unmarshal(row.Expect, &want))
		for name, e := range engines {
			v, err := e.Check(context.Background(), lictor.Call{Tool: row.Tool, Args: row.Args})
			require.NoError(t, err)
			assert.Equal(t, want == "hardline-blocked", v.By == "policy", "%s in %s: %+v", row.ID, name, v)
			if v.By == "policy" {
				assert.Equal(t, lictor.Deny, v.Decision)
				require.NotNil(t, v.Rule)
				assert.Contains(t, v.Rule.Text, "baseline/")
			}
		}
	}
	require.NoError(t, lines.Err())
	assert.Equal(t, 18, ran)
}
