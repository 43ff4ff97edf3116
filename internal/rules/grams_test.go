package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The index names every pattern that matches a text, each once, and a pattern
// between two stars only for texts that hold four bytes of it.
func TestIndexFindsEveryMatch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	random := func(letters string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	matches := 0
	for range 300 {
		var globs []*stringGlob
		var entries []pending
		for i := range 40 {
			g := newStringGlob("*"+random("aab *?", 2+r.IntN(9))+[]string{"*", " *", "**", "* *"}[r.IntN(4)], r.IntN(2) == 0)
			p := pending{item: int32(i), inside: g.inside()}
			p.prefix, p.suffix = g.keys()
			globs, entries = append(globs, g), append(entries, p)
		}
		x := newIndex(entries)
		for range 50 {
			text := random("aaab ", r.IntN(30))
			var found []int32
			for l := x.find(text); ; {
				items, ok := l.next()
				if !ok {
					break
				}
				found = append(found, items...)
			}
			sorted := slices.Sorted(slices.Values(found))
			require.Equal(t, slices.Compact(slices.Clone(sorted)), sorted, "a pattern was named twice for %q", text)
			for i, g := range globs {
				if g.match(text) {
					matches++
					require.Contains(t, found, int32(i), "%q matches %q", strings.Join(g.pieces, "*"), text)
				}
			}
		}
	}
	assert.Greater(t, matches, 10_000, "hardly anything matched, so hardly anything was tested")

	x := newIndex([]pending{{inside: "--force-1", item: 1}, {inside: "--force-2", item: 2}, {inside: "abc", item: 3}})
	find := func(text string) (out []int32) {
		for l := x.find(text); ; {
			items, ok := l.next()
			if !ok {
				return out
			}
			out = append(out, items...)
		}
	}
	assert.Equal(t, []int32{3}, find("git push"))
	assert.Equal(t, []int32{3, 2}, find("git push --force-2 --force-2"))
	assert.Equal(t, []int32{3}, find(""))
}
