package rules

import "strings"

// gramSize is how many bytes of a pattern's piece are looked for in a text.
const gramSize = 4

// grams find the patterns that start and end with a star ("*--force*"): four
// bytes of one of their pieces, the four that fewest other patterns share, must
// stand somewhere in a text that matches.
type grams struct {
	items map[uint32][]int32
	// seen has a bit for every gram, so that a text's other grams cost next to
	// nothing.
	seen *[1 << 10]uint64
}

// newGrams places patterns whose inside is at least gramSize long.
func newGrams(entries []pending) grams {
	if len(entries) == 0 {
		return grams{}
	}
	count := map[uint32]int{}
	for _, e := range entries {
		for i := 0; i+gramSize <= len(e.inside); i++ {
			count[gram(e.inside, i)]++
		}
	}
	g := grams{items: map[uint32][]int32{}, seen: new([1 << 10]uint64)}
	for _, e := range entries {
		best := gram(e.inside, 0)
		for i := 1; i+gramSize <= len(e.inside); i++ {
			if k := gram(e.inside, i); count[k] < count[best] {
				best = k
			}
		}
		g.items[best] = append(g.items[best], e.item)
		word, bit := place(best)
		g.seen[word] |= bit
	}
	return g
}

// gram is the four bytes of s from i on.
func gram(s string, i int) uint32 {
	_ = s[i+gramSize-1]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// place is where a gram's bit stands.
func place(k uint32) (word uint32, bit uint64) {
	h := k * 0x9E3779B1 >> 16
	return h >> 6, 1 << (h & 63)
}

// next returns the items of the next gram of s, from *at on, each gram once, and
// false at the end.
func (g *grams) next(s string, at *int) ([]int32, bool) {
	if g.seen == nil {
		return nil, false
	}
	for *at+gramSize <= len(s) {
		i := *at
		*at++
		k := gram(s, i)
		if word, bit := place(k); g.seen[word]&bit == 0 {
			continue
		}
		if items := g.items[k]; items != nil && strings.Index(s, s[i:i+gramSize]) == i {
			return items, true
		}
	}
	return nil, false
}
