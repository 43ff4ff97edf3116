package eval

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// flatCache remembers what the rules of one evaluation gave. OPA's own is a tree
// of hash maps, which for the dozen rules that the chain asks for costs more
// than the rules; this one is a list that is searched, and that is used again by
// the next evaluation of the same runner. It is for small policies: a long list
// would be slow.
type flatCache struct {
	entries []cacheEntry
	// frames are the starts of the frames that are pushed, the first one at 0.
	frames []int
}

type cacheEntry struct {
	ref   ast.Ref
	value *ast.Term // nil: known to be undefined
}

var _ topdown.VirtualCache = (*flatCache)(nil)

// reset forgets everything, whatever the evaluation before left behind.
func (c *flatCache) reset() {
	clear(c.entries)
	c.entries, c.frames = c.entries[:0], append(c.frames[:0], 0)
}

// Push starts an empty frame; what was known is hidden until it is popped.
func (c *flatCache) Push() { c.frames = append(c.frames, len(c.entries)) }

// Pop drops the last frame.
func (c *flatCache) Pop() {
	last := len(c.frames) - 1
	clear(c.entries[c.frames[last]:])
	c.entries, c.frames = c.entries[:c.frames[last]], c.frames[:last]
}

// Get returns what the last frame knows of a reference; true means that it is
// known to be undefined.
func (c *flatCache) Get(ref ast.Ref) (*ast.Term, bool) {
	if i := c.find(ref); i >= 0 {
		return c.entries[i].value, c.entries[i].value == nil
	}
	return nil, false
}

// Put keeps the value of a reference in the last frame. The reference is copied:
// the evaluator goes on to change the slice that it gives.
func (c *flatCache) Put(ref ast.Ref, value *ast.Term) {
	if i := c.find(ref); i >= 0 {
		c.entries[i].value = value
		return
	}
	c.entries = append(c.entries, cacheEntry{slices.Clone(ref), value})
}

// Keys returns the references that the last frame knows a value of.
func (c *flatCache) Keys() []ast.Ref {
	var keys []ast.Ref
	for _, entry := range c.entries[c.frames[len(c.frames)-1]:] {
		if entry.value != nil {
			keys = append(keys, entry.ref)
		}
	}
	return keys
}

// find returns the index of a reference in the last frame, or -1. References of
// the chain begin alike, so they are compared from their ends.
func (c *flatCache) find(ref ast.Ref) int {
next:
	for i := c.frames[len(c.frames)-1]; i < len(c.entries); i++ {
		known := c.entries[i].ref
		if len(known) != len(ref) {
			continue
		}
		for j := len(ref) - 1; j >= 0; j-- {
			if known[j] != ref[j] && !known[j].Equal(ref[j]) {
				continue next
			}
		}
		return i
	}
	return -1
}
