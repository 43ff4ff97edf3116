package eval

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStepsAreTheChainsLines(t *testing.T) {
	e, err := New(context.Background())
	require.NoError(t, err)
	var names []string
	for _, s := range e.Steps() {
		names = append(names, s.Step)
		assert.NotEmpty(t, s.Title, s.Step)
		assert.NotEmpty(t, s.Description, s.Step)
	}
	assert.Equal(t, steps, names)
}
