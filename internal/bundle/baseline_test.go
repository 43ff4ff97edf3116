package bundle

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/bundles"
)

var update = flag.Bool("update", false, "write the golden files")

// TestBaseline tries the baseline on its own examples, and keeps the file of its
// routes in step.
func TestBaseline(t *testing.T) {
	b, err := Baseline(context.Background())
	require.NoError(t, err)
	require.NoError(t, b.try(context.Background()))
	assert.Empty(t, b.advice())
	routes := make([]Route, len(b.rules))
	for i, rule := range b.rules {
		routes[i] = rule.Route
	}
	text, err := json.MarshalIndent(routes, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(repository(t), "bundles", "baseline.routes"), append(text, '\n'), 0o644))
		return
	}
	assert.JSONEq(t, string(text), string(bundles.BaselineRoutes), "run go test ./internal/bundle -run TestBaseline -update")
	stub, err := baselineRoutes()
	require.NoError(t, err)
	assert.Equal(t, b.routes, stub.routes)
	assert.Equal(t, b.digest, stub.digest)
	assert.Equal(t, b.revision, stub.revision)
	assert.Nil(t, b.policy, "Policies leaves it out")
}

// TestBaselineIsNotLoadedInVain decides a harmless call without the compiler,
// which would take most of the time of a process that makes one call.
func TestBaselineIsNotLoadedInVain(t *testing.T) {
	stub, err := baselineRoutes()
	require.NoError(t, err)
	lazy := *stub
	lazy.full = func() (*Bundle, error) {
		t.Error("the baseline was compiled")
		return nil, errNotLoaded
	}
	unasked := SetOf(&lazy)
	assert.Empty(t, unasked.Policies())
	assert.Empty(t, unasked.Added())
	assert.Empty(t, unasked.Notices())
	_, err = unasked.Evaluate(context.Background(), command("git status", "git", "status"))
	require.NoError(t, err)

	s := NewSet(Options{})
	_, err = s.Evaluate(context.Background(), command("git status", "git", "status"))
	require.ErrorContains(t, err, "were not loaded")
	require.NoError(t, s.Reload(context.Background()))
	found, err := s.Evaluate(context.Background(), command("git status", "git", "status"))
	require.NoError(t, err)
	assert.Equal(t, Findings{Consulted: []Consulted{{Bundle: "baseline", Revision: "1"}}}, found)
	found, err = s.Evaluate(context.Background(), command("rm -rf /", "rm", "-rf", "/"))
	require.NoError(t, err)
	require.Len(t, found.Deny, 1)
	assert.Equal(t, "remove-everything", found.Deny[0].ID)
	assert.Equal(t, []Consulted{{Bundle: "baseline", Revision: "1", Asked: true}}, found.Consulted)
	assert.Len(t, s.Bundles()[0].Rules(), 14)
}
