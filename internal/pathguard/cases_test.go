package pathguard

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/testcase"
)

func TestCases(t *testing.T) {
	run := map[string]func(*testing.T, testcase.Row){
		"path-guard": casePathGuard,
		"sensitive":  caseSensitive,
	}
	for _, c := range testcase.Rows(t, "testdata/cases.jsonl") {
		require.Contains(t, run, c.Area, "%s: unknown area", c.ID)
		t.Run(c.ID, func(t *testing.T) { run[c.Area](t, c) })
	}
}

func casePathGuard(t *testing.T, c testcase.Row) {
	var given struct{}
	var input struct{ Path string }
	var expect struct{ Resolved, Error string }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)

	base := realTemp(t)
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	tree(t, root, "src/config.ts", "README.md", "escape -> ../outside")
	tree(t, outside, "private.txt")
	fill := strings.NewReplacer("<root>", root, "<outside>", outside)
	text, _, _ := strings.Cut(input.Path, " (") // a remark for the reader

	abs, err := newGuard(t, root).MustInside(fill.Replace(text), "")
	if expect.Error == "" {
		require.NoError(t, err)
		assert.Equal(t, fill.Replace(expect.Resolved), abs)
		return
	}
	require.Equal(t, "PathOutsideRootError", expect.Error)
	var e *OutsideRootError
	require.ErrorAs(t, err, &e)
	assert.Contains(t, err.Error(), root)
	assert.Contains(t, err.Error(), fill.Replace(text))
	assert.False(t, errors.As(err, new(*ResolveError)))
}

func caseSensitive(t *testing.T, c testcase.Row) {
	var given struct{ IgnoreCase bool }
	var input struct{ Path string }
	var expect struct{ Sensitive bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	assert.Equal(t, expect.Sensitive, Sensitive(input.Path, given.IgnoreCase))
}
