package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistanceAndSuggest(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"permisions", "permissions", 1}, {"ab", "ba", 1}, {"alow", "allow", 1}} {
		assert.Equal(t, c.want, distance(c.a, c.b), c.a+" "+c.b)
		assert.Equal(t, c.want, distance(c.b, c.a), c.b+" "+c.a)
	}
	keys := []string{"denyPaths", "disallowedCommands", "network"}
	assert.Equal(t, ` (did you mean "denyPaths"?)`, Suggest("denyPath", keys))
	assert.Equal(t, ` (did you mean "denyPaths"?)`, Suggest("DENYPATHS", keys))
	assert.Empty(t, Suggest("banana", keys))
	assert.Empty(t, Suggest("x", keys))
}
