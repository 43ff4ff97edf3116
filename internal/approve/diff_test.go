package approve

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// apply carries the edits out, as the definition of an edit says.
func apply(a, b []string, edits []edit) []string {
	var out []string
	at := 0
	for _, e := range edits {
		out = append(out, a[at:e.a0]...)
		out = append(out, b[e.b0:e.b1]...)
		at = e.a1
	}
	return append(out, a[at:]...)
}

func TestDiffFindsShortEdits(t *testing.T) {
	cases := []struct {
		name, a, b string
		want       []edit
	}{
		{"equal", "a b c", "a b c", nil},
		{"both empty", "", "", nil},
		{"all new", "", "a b", []edit{{0, 0, 0, 2}}},
		{"all gone", "a b", "", []edit{{0, 2, 0, 0}}},
		{"one replaced", "a b c", "a x c", []edit{{1, 2, 1, 2}}},
		{"inserted", "a c", "a b c", []edit{{1, 1, 1, 2}}},
		{"removed", "a b c", "a c", []edit{{1, 2, 1, 1}}},
		{"two places", "a b c d e", "a x c d y", []edit{{1, 2, 1, 2}, {4, 5, 4, 5}}},
		{"repeated lines", "x x x", "x x", []edit{{2, 3, 2, 2}}},
		{"a line moved", "a b c d", "b c d a", []edit{{0, 1, 0, 0}, {4, 4, 3, 4}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, diffLines(strings.Fields(c.a), strings.Fields(c.b)))
		})
	}
}

func TestDiffIsRightForAnyTexts(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 3000 {
		make := func() []string {
			out := []string{}
			for range r.Intn(30) {
				out = append(out, string(rune('a'+r.Intn(6))))
			}
			return out
		}
		a, b := make(), make()
		edits := diffLines(a, b)
		require.Equal(t, strings.Join(b, ""), strings.Join(apply(a, b, edits), ""), "%v -> %v", a, b)
		for i, e := range edits {
			require.False(t, e.a0 == e.a1 && e.b0 == e.b1, "an empty edit")
			if i > 0 {
				require.Greater(t, e.a0, edits[i-1].a1-1)
				require.False(t, e.a0 == edits[i-1].a1 && e.b0 == edits[i-1].b1, "edits that touch")
			}
		}
	}
}

func TestDiffOfHugeTextsIsBounded(t *testing.T) {
	noise := func(seed int64, n, kinds int) []string {
		r := rand.New(rand.NewSource(seed))
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint(r.Intn(kinds))
		}
		return out
	}
	for _, kinds := range []int{2, 50, 100_000} {
		a, b := noise(1, 100_000, kinds), noise(2, 100_000, kinds)
		start := time.Now()
		edits := diffLines(a, b)
		assert.Less(t, time.Since(start), 20*time.Second)
		assert.True(t, slices.Equal(b, apply(a, b, edits)))
	}
}

func TestHunksAreNumberedThroughAllChanges(t *testing.T) {
	long := strings.Repeat("same\n", 20)
	changes := []model.Change{
		{Path: "a.go", Old: text("one\n" + long + "two\n"), New: "ONE\n" + long + "TWO\n"},
		{Path: "same", Old: text("x"), New: "x"},
		{Path: "new", New: "hello\n"},
		{Path: "gone", Old: text("bye"), Delete: true},
		{Path: "empty", New: ""},
	}
	hunks := Hunks(changes)
	require.Len(t, hunks, 5)
	for i, h := range hunks {
		assert.Equal(t, i+1, h.Number)
	}
	assert.Equal(t, []string{"a.go", "a.go", "new", "gone", "empty"}, []string{hunks[0].Path, hunks[1].Path, hunks[2].Path, hunks[3].Path, hunks[4].Path})
	assert.Equal(t, "@@ -1,4 +1,4 @@", hunks[0].Header())
	assert.Equal(t, "@@ -19,4 +19,4 @@", hunks[1].Header())
	assert.Equal(t, "@@ -0,0 +1 @@", hunks[2].Header())
	assert.Equal(t, "@@ -1 +0,0 @@", hunks[3].Header())
}

func TestUnified(t *testing.T) {
	got := Unified([]model.Change{{Path: "f", Old: text("a\nb\nc"), New: "a\nB\nc\n"}, {Path: "n", New: "x\n"}})
	assert.Equal(t, strings.Join([]string{
		"--- a/f", "+++ b/f", "@@ -1,3 +1,3 @@", " a", "-b", "-c", `\ No newline at end of file`, "+B", "+c",
		"--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+x", "",
	}, "\n"), got)
}

func TestOnlyAcceptedHunksAreApplied(t *testing.T) {
	long := strings.Repeat("same\n", 10)
	changes := []model.Change{
		{Path: "a", Old: text("1\n" + long + "2\n" + long + "3\n"), New: "I\n" + long + "II\n" + long + "III\n"},
		{Path: "b", Old: text("x\n"), New: "y\n"},
	}
	cases := []struct {
		name     string
		accepted []int
		want     map[string]string
	}{
		{"all by nil", nil, map[string]string{"a": changes[0].New, "b": "y\n"}},
		{"all by number", []int{1, 2, 3, 4}, map[string]string{"a": changes[0].New, "b": "y\n"}},
		{"the middle one", []int{2}, map[string]string{"a": "1\n" + long + "II\n" + long + "3\n"}},
		{"first and last", []int{3, 1}, map[string]string{"a": "I\n" + long + "2\n" + long + "III\n"}},
		{"the other file", []int{4}, map[string]string{"b": "y\n"}},
		{"none", []int{}, map[string]string{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Apply(changes, c.accepted)
			require.NoError(t, err)
			texts := map[string]string{}
			for _, g := range got {
				texts[g.Path] = g.New
			}
			assert.Equal(t, c.want, texts)
		})
	}
	for _, bad := range []int{0, 5, -1} {
		_, err := Apply(changes, []int{bad})
		assert.ErrorContains(t, err, fmt.Sprintf("no hunk %d", bad))
	}
}

func TestApplyKeepsTheEndOfFiles(t *testing.T) {
	long := strings.Repeat("same\n", 10)
	c := []model.Change{{Path: "a", Old: text("1\n" + long + "end"), New: "I\n" + long + "END\nmore"}}
	got, err := Apply(c, []int{1})
	require.NoError(t, err)
	assert.Equal(t, "I\n"+long+"end", got[0].New)
	got, err = Apply(c, []int{2})
	require.NoError(t, err)
	assert.Equal(t, "1\n"+long+"END\nmore", got[0].New)
}

// FuzzApply checks that accepting everything leads to the new text, refusing
// everything to nothing, and that hunk by hunk each one does its own part.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc", uint64(1))
	f.Add("", "\n", uint64(0))
	f.Add("a\r\nb", "b\r\na\r\n", uint64(3))
	f.Fuzz(func(t *testing.T, before, after string, mask uint64) {
		if len(before)+len(after) > 1<<14 {
			return
		}
		changes := []model.Change{{Path: "f", Old: &before, New: after}}
		hunks := Hunks(changes)
		if before == after {
			require.Empty(t, hunks)
			return
		}
		all, some, rest := []int{}, []int{}, []int{}
		for _, h := range hunks {
			all = append(all, h.Number)
			if mask&(1<<(h.Number%64)) != 0 {
				some = append(some, h.Number)
			} else {
				rest = append(rest, h.Number)
			}
		}
		got, err := Apply(changes, all)
		require.NoError(t, err)
		require.Equal(t, after, got[0].New)
		got, err = Apply(changes, some)
		require.NoError(t, err)
		if len(some) == 0 {
			require.Empty(t, got)
			return
		}
		// What is left to do after some hunks leads to the same end.
		if len(rest) > 0 && strings.HasSuffix(before, "\n") && strings.HasSuffix(after, "\n") {
			lines := len(splitLines(got[0].New))
			grown := 0
			for _, h := range hunks {
				if slices.Contains(some, h.Number) {
					grown += h.NewLines - h.OldLines
				}
			}
			require.Equal(t, len(splitLines(before))+grown, lines)
		}
		require.NotPanics(t, func() { Unified(changes) })
	})
}
