package config

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/eval"
)

// policyEngine is the real policy, compiled once for all tests.
var policyEngine = sync.OnceValues(func() (*eval.Engine, error) { return eval.New(context.Background()) })

func engine(t testing.TB) Evaluator {
	t.Helper()
	e, err := policyEngine()
	require.NoError(t, err)
	return e
}
