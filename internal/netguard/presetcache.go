package netguard

import (
	"context"
	"slices"
	"sync"
)

// PresetCache remembers what Resolve found for as long as none of the files that
// it looked at changes. It may be used by many goroutines; the zero value with
// User filled in is ready.
type PresetCache struct {
	// User must not be changed after the first use.
	User UserConfig

	mu      sync.Mutex
	entries []string
	last    *Resolved
}

// Resolve is [Resolve] with the cache's user. Errors are not remembered.
func (c *PresetCache) Resolve(ctx context.Context, entries []string) (Resolved, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && slices.Equal(c.entries, entries) && c.last.fresh() {
		return c.last.clone(), nil
	}
	r, err := Resolve(ctx, entries, c.User)
	if err != nil {
		c.last = nil
		return Resolved{}, err
	}
	c.entries, c.last = slices.Clone(entries), &r
	return r.clone(), nil
}

// Hosts is Resolve for those who want the patterns alone: the settings, which
// show and pin them.
func (c *PresetCache) Hosts(ctx context.Context, entries []string) ([]string, error) {
	r, err := c.Resolve(ctx, entries)
	if err != nil {
		return nil, err
	}
	return r.Names(), nil
}

// fresh reports that no file has changed.
func (r *Resolved) fresh() bool {
	for _, old := range r.files {
		now, _, _ := stampOf(old.path)
		if now.exists != old.exists || now.size != old.size || !now.changed.Equal(old.changed) {
			return false
		}
	}
	return true
}

func (r *Resolved) clone() Resolved {
	return Resolved{Hosts: slices.Clone(r.Hosts), Notes: slices.Clone(r.Notes), files: r.files}
}
