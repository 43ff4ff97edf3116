package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

func TestPathList(t *testing.T) {
	l, err := NewPathList([]string{"secret", "/etc/shadow", "~/keys", "docs/*.md", "build/"}, Env{Root: "/r", Home: "/home/me"})
	require.NoError(t, err)
	inside := func(rel string) *model.Path {
		return &model.Path{Rel: rel, RealRel: rel, Abs: "/r/" + rel, Real: "/r/" + rel, Inside: true, RealInside: true}
	}
	outside := func(abs string) *model.Path { return &model.Path{Rel: abs, RealRel: abs, Abs: abs, Real: abs} }
	for _, c := range []struct {
		p       *model.Path
		pattern string
	}{
		{inside("secret"), "secret"},
		{inside("a/secret/b/c"), "secret"},
		{inside("secrets"), ""},
		{outside("/x/secret/y"), "secret"},
		{outside("/etc/shadow"), "/etc/shadow"},
		{inside("etc/shadow"), "/etc/shadow"},
		{outside("/home/me/keys/k"), "~/keys"},
		{inside("docs/a.md"), "docs/*.md"},
		{inside("docs/a.md/x"), ""},
		{inside("build/x"), "build/"},
		{inside("."), ""},
	} {
		got, _, ok := l.Match(c.p)
		assert.Equal(t, c.pattern, got, "%s", c.p.Rel)
		assert.Equal(t, c.pattern != "", ok)
	}
	moved := inside("link")
	moved.Moved, moved.RealRel, moved.Real = true, "secret/k", "/r/secret/k"
	got, real, ok := l.Match(moved)
	assert.True(t, ok && real)
	assert.Equal(t, "secret", got)
	placed := inside("link")
	placed.Place = "secret/k"
	_, _, ok = l.Match(placed)
	assert.True(t, ok)
	_, ok = l.MatchRel(".")
	assert.False(t, ok)
	assert.Len(t, l.Patterns(), 5)

	folded, err := NewPathList([]string{"Secret"}, Env{Root: "/r", Fold: true})
	require.NoError(t, err)
	_, ok = folded.MatchRel("SECRET/x")
	assert.True(t, ok)

	_, err = NewPathList([]string{" "}, Env{})
	require.ErrorContains(t, err, "empty")
	_, err = NewPathList([]string{"~/x"}, Env{})
	require.ErrorContains(t, err, `"~/x"`)
	none, err := NewPathList(nil, Env{})
	require.NoError(t, err)
	_, _, ok = none.Match(inside("a"))
	assert.False(t, ok)
}

func TestCommandList(t *testing.T) {
	l, err := NewCommandList([]string{"git push *", "rm *", "ls"})
	require.NoError(t, err)
	pattern, matched, ok := l.Match(shell.Analyze("ls && rm  -r x", model.ShellBash))
	assert.True(t, ok)
	assert.Equal(t, "rm *", pattern, "the first of the list")
	assert.Contains(t, matched, "rm")
	_, _, ok = l.Match(shell.Analyze("echo hi", model.ShellBash))
	assert.False(t, ok)
	_, _, ok = l.Match(nil)
	assert.False(t, ok)
	assert.Len(t, l.Patterns(), 3)
	_, err = NewCommandList([]string{"x", "\t"})
	require.ErrorContains(t, err, "command pattern 2 is empty")
}
