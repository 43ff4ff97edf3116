package bundle

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/bundles"
)

func exampleTeam(t testing.TB) *Bundle {
	fsys, err := bundles.ExampleTeam()
	require.NoError(t, err)
	b, err := LoadFS(context.Background(), "example-team", fsys, LoadOptions{AllowUnsigned: true})
	require.NoError(t, err)
	return b
}

func TestExampleTeam(t *testing.T) {
	b := exampleTeam(t)
	require.NoError(t, b.try(context.Background()))
	require.Len(t, b.Rules(), 13)
	require.NotNil(t, b.Policy())
}
