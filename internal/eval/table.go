package eval

import (
	"sync/atomic"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	pageBits = 11
	pageSize = 1 << pageBits
	pages    = 1 << (model.FactBits - pageBits)
)

// table maps every vector of facts to its outcome. It is two levels deep, since
// a session sees a few dozen of the four million vectors: 16 KB for the first
// level, and 16 KB for each of the pages that are used, 32 MB if all are. It
// needs no lock, for any two evaluations of a vector give equal outcomes.
type table [pages]atomic.Pointer[page]

type page [pageSize]atomic.Pointer[model.Outcome]

// get returns the outcome of a vector, or nil if it was not put, or is none.
func (t *table) get(facts model.Facts) *model.Outcome {
	high := uint32(facts) >> pageBits
	if high >= pages {
		return nil
	}
	p := t[high].Load()
	if p == nil {
		return nil
	}
	return p[uint32(facts)%pageSize].Load()
}

// put keeps the outcome of a valid vector.
func (t *table) put(facts model.Facts, outcome *model.Outcome) {
	slot := &t[uint32(facts)>>pageBits]
	p := slot.Load()
	if p == nil {
		p = new(page)
		if !slot.CompareAndSwap(nil, p) {
			p = slot.Load()
		}
	}
	p[uint32(facts)%pageSize].Store(outcome)
}
