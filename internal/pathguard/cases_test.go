package pathguard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// caseRow is a line of testdata/cases.jsonl. given, input and expect are decoded
// again by the runner of the area, strictly: an unknown field or area fails.
type caseRow struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Given  json.RawMessage `json:"given"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(into), "%s", data)
	require.False(t, dec.More(), "trailing data")
}

func TestCases(t *testing.T) {
	run := map[string]func(*testing.T, caseRow){
		"path-guard": casePathGuard,
		"sensitive":  caseSensitive,
	}
	f, err := os.Open("testdata/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c caseRow
		strict(t, lines.Bytes(), &c)
		require.Contains(t, run, c.Area, "%s: unknown area", c.ID)
		require.False(t, seen[c.ID], "%s: twice", c.ID)
		seen[c.ID] = true
		t.Run(c.ID, func(t *testing.T) { run[c.Area](t, c) })
	}
	require.NotEmpty(t, seen)
}

func casePathGuard(t *testing.T, c caseRow) {
	var given struct{}
	var input struct{ Path string }
	var expect struct{ Resolved, Error string }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)

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

func caseSensitive(t *testing.T, c caseRow) {
	var given struct{ IgnoreCase bool }
	var input struct{ Path string }
	var expect struct{ Sensitive bool }
	strict(t, c.Given, &given)
	strict(t, c.Input, &input)
	strict(t, c.Expect, &expect)
	assert.Equal(t, expect.Sensitive, Sensitive(input.Path, given.IgnoreCase))
}
