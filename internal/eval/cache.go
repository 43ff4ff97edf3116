package eval

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// flatSize is how many entries of a frame are searched one by one.
const flatSize = 32

// flatCache remembers what the rules of one evaluation gave. OPA's own is a tree
// of hash maps, which for the dozen rules that a query mostly asks for costs more
// than the rules; this one is a list that is searched, and that is used again by
// the next evaluation of the same runner. What a long evaluation remembers beyond
// the list is left to OPA's.
type flatCache struct {
	entries []cacheEntry
	// frames are those that are pushed; the first one is always there.
	frames []cacheFrame
}

type cacheEntry struct {
	ref   ast.Ref
	value *ast.Term // nil: known to be undefined
}

type cacheFrame struct {
	// start is the index of the first entry.
	start int
	// more is what the list has no room for; nil before that.
	more topdown.VirtualCache
}

var _ topdown.VirtualCache = (*flatCache)(nil)

// reset forgets everything, whatever the evaluation before left behind.
func (c *flatCache) reset() {
	clear(c.entries)
	clear(c.frames)
	c.entries, c.frames = c.entries[:0], append(c.frames[:0], cacheFrame{})
}

func (c *flatCache) last() *cacheFrame { return &c.frames[len(c.frames)-1] }

// Push starts an empty frame; what was known is hidden until it is popped.
func (c *flatCache) Push() { c.frames = append(c.frames, cacheFrame{start: len(c.entries)}) }

// Pop drops the last frame.
func (c *flatCache) Pop() {
	frame := c.last()
	clear(c.entries[frame.start:])
	c.entries = c.entries[:frame.start]
	*frame = cacheFrame{}
	c.frames = c.frames[:len(c.frames)-1]
}

// Get returns what the last frame knows of a reference; true means that it is
// known to be undefined.
func (c *flatCache) Get(ref ast.Ref) (*ast.Term, bool) {
	if i := c.find(ref); i >= 0 {
		return c.entries[i].value, c.entries[i].value == nil
	}
	if more := c.last().more; more != nil {
		return more.Get(ref)
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
	frame := c.last()
	if len(c.entries)-frame.start < flatSize {
		c.entries = append(c.entries, cacheEntry{slices.Clone(ref), value})
		return
	}
	if frame.more == nil {
		frame.more = topdown.NewVirtualCache()
	}
	frame.more.Put(slices.Clone(ref), value)
}

// Keys returns the references that the last frame knows a value of.
func (c *flatCache) Keys() []ast.Ref {
	var keys []ast.Ref
	frame := c.last()
	for _, entry := range c.entries[frame.start:] {
		if entry.value != nil {
			keys = append(keys, entry.ref)
		}
	}
	if frame.more != nil {
		keys = append(keys, frame.more.Keys()...)
	}
	return keys
}

// find returns the index of a reference in the last frame's list, or -1.
// References of the policy begin alike, so they are compared from their ends.
func (c *flatCache) find(ref ast.Ref) int {
next:
	for i := c.last().start; i < len(c.entries); i++ {
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
