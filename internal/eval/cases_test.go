package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// policyCase is one row of testdata/policy.jsonl: what a team policy must become.
type policyCase struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	Given struct {
		Managed map[string]any `json:"managed"`
		User    map[string]any `json:"user"`
		Policy  map[string]any `json:"policy"`
	} `json:"given"`
	Input struct {
		ProjectProfile string `json:"projectProfile"`
	} `json:"input"`
	Expect struct {
		// Policy is what the merged policy must hold; null means that there is none.
		Policy      json.RawMessage `json:"policy"`
		Profile     string          `json:"profile"`
		Sources     string          `json:"sources"`
		AllowsModel map[string]bool `json:"allowsModel"`
	} `json:"expect"`
}

// TestPolicyCases runs the conformance cases about merging and the profile. The
// reader is strict, so that nothing is skipped silently.
func TestPolicyCases(t *testing.T) {
	text, err := os.ReadFile("testdata/policy.jsonl")
	require.NoError(t, err)
	count := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); count++ {
		var c policyCase
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&c), lines.Text())
		t.Run(c.ID, func(t *testing.T) {
			var policy map[string]any
			switch c.Area {
			case "policy-merge", "policy-load":
				policy = merge(t, c.Given.Managed, c.Given.User)
			case "profile":
				var out struct {
					Policy map[string]any `json:"policy"`
					Strict bool           `json:"strict"`
				}
				input := map[string]any{"policy": c.Given.Policy, "profiles": []string{c.Input.ProjectProfile}}
				require.NoError(t, engine(t).Query(context.Background(), "strict", input, &out))
				policy = out.Policy
			default:
				t.Fatalf("unknown area %q", c.Area)
			}
			if c.Expect.Profile != "" {
				assert.Equal(t, c.Expect.Profile, policy["profile"])
			}
			for model, allowed := range c.Expect.AllowsModel {
				assert.Equal(t, allowed, allowsModel(t, policy, model), model)
			}
			if c.Expect.Policy == nil {
				return
			}
			if c.Expect.AllowsModel != nil {
				delete(policy, "allowedModels")
			}
			got, err := json.Marshal(policy)
			require.NoError(t, err)
			assert.JSONEq(t, string(c.Expect.Policy), string(got))
		})
	}
	assert.Equal(t, 10, count)
}

// allowsModel: a model must match a pattern of every list.
func allowsModel(t *testing.T, policy map[string]any, model string) bool {
	t.Helper()
	lists, _ := policy["allowedModels"].([]any)
	for _, list := range lists {
		found := false
		for _, pattern := range list.([]any) {
			matched, err := path.Match(pattern.(string), model)
			require.NoError(t, err)
			found = found || matched
		}
		if !found {
			return false
		}
	}
	return true
}
