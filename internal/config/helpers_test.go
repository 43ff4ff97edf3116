package config

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// realTemp is a temp folder by its real path (macOS's /tmp is a link).
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func write(t testing.TB, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// project makes an empty project with its own home and managed folder, so that
// no test reads the machine's.
func project(t testing.TB) Places {
	t.Helper()
	top := realTemp(t)
	root, home, managed := filepath.Join(top, "home", "repo"), filepath.Join(top, "home"), filepath.Join(top, "managed")
	for _, dir := range []string{root, managed} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	p := PlacesFor(runtime.GOOS, root, home, os.Getenv)
	p.ManagedDir = managed
	p.ManagedPolicy = filepath.Join(managed, "policy.json")
	p.ManagedPermissions = filepath.Join(managed, "permissions.json")
	p.BundleDirs = nil
	return p
}

// managed writes the managed policy as --managed-policy would name it.
func withManaged(t testing.TB, p Places, text string) Places {
	t.Helper()
	write(t, p.ManagedPolicy, text)
	return p.WithManagedPolicy(p.ManagedPolicy)
}

// asker counts questions and gives one answer.
type asker struct {
	answer   model.Answer
	requests []ConsentRequest
}

func (a *asker) ask(_ context.Context, request ConsentRequest) (model.Answer, error) {
	a.requests = append(a.requests, request)
	return a.answer, nil
}

func texts(rules []model.Rule, effect model.Effect) []string {
	var out []string
	for _, rule := range rules {
		if rule.Effect == effect {
			out = append(out, rule.Text)
		}
	}
	return out
}
