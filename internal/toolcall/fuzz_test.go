package toolcall

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzStrict: what passes is JSON for encoding/json too, and what encoding/json
// takes is refused only for a reason that JSON itself does not have.
func FuzzStrict(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\ud83d\ude00"}],"a":1}`, "\ufeff{}", `"\ud800"`, `{"k":-0.1e+5}`, "[\"\xff\"]", `[[[]]]`, `{}{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Strict(data)
		valid := json.Valid(data)
		if err == nil {
			require.True(t, valid)
			return
		}
		var at *JSONError
		require.ErrorAs(t, err, &at)
		require.NotContains(t, err.Error(), "\n")
		if valid {
			ok := errors.Is(err, ErrDuplicate) || errors.Is(err, ErrEncoding) || errors.Is(err, ErrTooDeep) || errors.Is(err, ErrTooMany)
			require.True(t, ok, err)
		}
	})
}

// FuzzDecode: a call decodes or is an input error, and the order of its keys
// does not matter.
func FuzzDecode(f *testing.F) {
	table := builtin(f)
	for _, c := range lines[recorded](f, "calls.jsonl") {
		f.Add(c.Tool, []byte(c.Args))
	}
	f.Fuzz(func(t *testing.T, tool string, args []byte) {
		d, err := table.Decode(call(tool, string(args)))
		if err != nil {
			require.True(t, IsInputError(err))
			require.NotContains(t, err.Error(), "\n")
		} else {
			require.NotEmpty(t, d.Targets)
		}
		var members map[string]json.RawMessage
		if Strict(args) != nil || json.Unmarshal(args, &members) != nil || members == nil {
			return
		}
		again, err2 := table.Decode(call(tool, reversed(t, members)))
		require.Equal(t, err == nil, err2 == nil, "%v %v", err, err2)
		if err == nil {
			require.Equal(t, describeDecoded(d), describeDecoded(again))
		}
	})
}

// reversed writes members in the reverse order of their keys.
func reversed(t testing.TB, members map[string]json.RawMessage) string {
	var out []string
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(members))) {
		name, err := json.Marshal(key)
		require.NoError(t, err)
		out = append(out, string(name)+":"+string(members[key]))
	}
	return "{" + strings.Join(out, ",") + "}"
}

func TestKeyOrder(t *testing.T) {
	table := builtin(t)
	for _, c := range lines[recorded](t, "calls.jsonl") {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(c.Args, &members))
		want, err := table.Decode(call(c.Tool, string(c.Args)))
		require.NoError(t, err)
		got, err := table.Decode(call(c.Tool, reversed(t, members)))
		require.NoError(t, err)
		assert.Equal(t, describeDecoded(want), describeDecoded(got))
	}
}

// FuzzDiff: the parsers end, name no path twice, and a `+++ ` header outside of
// hunks is never missed.
func FuzzDiff(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n")
	f.Add("diff --git \"a/\\303\\251\" b/x y\nrename from p\ncopy to q\nIndex: z\n")
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, paths := range [][]string{ParseDiffPaths(text), ParsePatchPaths(text)} {
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(paths))), len(paths))
			require.NotContains(t, paths, "")
			require.NotContains(t, paths, devNull)
		}
		require.Contains(t, ParseDiffPaths("--- a/first\n+++ b/first\n"+text), "first")
		require.Contains(t, ParseDiffPaths(text+"\ndiff\n+++ last\n"), "last")
	})
}

// FuzzGitWords: quoting words and splitting them gives the words back.
func FuzzGitWords(f *testing.F) {
	f.Add("commit -m 'a b' \"c\\\"d\" e\\ f")
	f.Add("a;b")
	f.Fuzz(func(t *testing.T, text string) {
		words, problem := gitWords(text)
		if problem != "" {
			require.Empty(t, words)
			return
		}
		quotedWords := make([]string, len(words))
		for i, w := range words {
			quotedWords[i] = quoted(w)
		}
		again, problem := gitWords(strings.Join(quotedWords, " "))
		require.Empty(t, problem)
		require.Equal(t, words, again)
	})
}
