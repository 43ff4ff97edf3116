package bundle

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBaselineLoads(t *testing.T) {
	start := time.Now()
	b, err := Baseline(context.Background())
	require.NoError(t, err)
	t.Log("load", time.Since(start))
	start = time.Now()
	require.NoError(t, b.try(context.Background()))
	t.Log("try", time.Since(start), len(b.examples))
}
