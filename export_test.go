package lictor

import (
	"sync"

	"github.com/lictor-policy/lictor/internal/netguard"
)

// adjusted holds what tests change about the proxies of an engine.
var adjusted sync.Map // *Engine to func(*netguard.Proxy)

func init() {
	adjustProxy = func(e *Engine, p *netguard.Proxy) {
		if f, ok := adjusted.Load(e); ok {
			f.(func(*netguard.Proxy))(p)
		}
	}
}

// AdjustProxy calls f for the proxy of every run of the engine, until undo is
// called.
func (e *Engine) AdjustProxy(f func(*netguard.Proxy)) (undo func()) {
	adjusted.Store(e, f)
	return func() { adjusted.Delete(e) }
}

// Confined reports whether commands run in the OS sandbox, and how if not.
func (e *Engine) Confined() (bool, string) {
	c := e.state.Load().executor.Choice()
	return c.Isolation == string(IsolationOS), c.String() + " " + c.Notice
}
