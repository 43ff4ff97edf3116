package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/schemas"
)

// Every object of a schema is closed and accepts comments: a key that lictor does
// not know must be an error, and people must be able to explain themselves.
func TestSchemasAreClosed(t *testing.T) {
	for _, name := range []string{"settings.json", "policy.json"} {
		text, err := schemas.Read(name)
		require.NoError(t, err)
		var root map[string]any
		require.NoError(t, json.Unmarshal(text, &root))
		var walk func(at string, node map[string]any)
		walk = func(at string, node map[string]any) {
			if properties, ok := node["properties"].(map[string]any); ok {
				assert.Contains(t, properties, commentKey, at)
				assert.Contains(t, node, "additionalProperties", at)
				for key, value := range properties {
					if property, ok := value.(map[string]any); ok {
						walk(at+"."+key, property)
					}
				}
			}
			if additional, ok := node["additionalProperties"].(map[string]any); ok {
				walk(at+".*", additional)
			}
			if definitions, ok := node["$defs"].(map[string]any); ok {
				for key, value := range definitions {
					walk(at+"#"+key, value.(map[string]any))
				}
			}
		}
		walk(name, root)
	}
}

func TestNoSchemaIsFetched(t *testing.T) {
	_, err := noLoader{}.Load("https://example.com/x.json")
	require.ErrorContains(t, err, "never fetched")
	_, err = schemas.Read("nope.json")
	require.ErrorContains(t, err, "nope.json")
}
