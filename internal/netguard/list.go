package netguard

import (
	"fmt"
	"strings"
)

// ListedHost is an entry of the list of hosts that commands may reach.
type ListedHost struct {
	// Pattern is a host or "*.example.com", in normal form.
	Pattern string `json:"pattern"`
	// Entry is the entry of network.allow that brought it in: a preset's name or
	// the pattern itself.
	Entry string `json:"entry"`
	// Source says where the host comes from: "built in", "network.allow", or the
	// file or environment variable with the key that names it.
	Source string `json:"source"`
	// NonPublic says that the host may resolve to addresses that are not public:
	// exact hosts from the user's own tool configuration or written into
	// network.allow by name (SPEC section 9).
	NonPublic bool `json:"nonPublic,omitempty"`
}

// List finds hosts in a list of patterns. The zero value holds none. It never
// changes and can be shared.
type List struct {
	exact, below map[string]ListedHost
}

// NewList indexes hosts. Of two entries for the same pattern the first counts,
// but one that may be non-public stays so.
//
// Errors are those of [ParsePattern]; a lone "*", which could never match, is
// one too.
func NewList(hosts []ListedHost) (List, error) {
	l := List{exact: map[string]ListedHost{}, below: map[string]ListedHost{}}
	for _, h := range hosts {
		p, err := ParsePattern(h.Pattern, "network.allow")
		if err != nil {
			return List{}, err
		}
		if p.Never() {
			return List{}, fmt.Errorf("network.allow: %q matches nothing: name a host, or *.example.com for its subdomains", h.Pattern)
		}
		index, key := l.exact, p.Exact()
		if key == "" {
			// Whatever a wildcard matches was named by nobody.
			index, key, h.NonPublic = l.below, p.Suffix()[1:], false
		}
		if old, ok := index[key]; ok {
			old.NonPublic = old.NonPublic || h.NonPublic
			h = old
		}
		index[key] = h
	}
	return l, nil
}

// Find returns the entry that covers a host in normal form: the exact one, else
// the longest wildcard. It allocates nothing.
func (l List) Find(host string) (ListedHost, bool) {
	if h, ok := l.exact[host]; ok {
		return h, true
	}
	if len(l.below) == 0 || endsInNumber(host) {
		return ListedHost{}, false
	}
	for {
		_, parent, ok := strings.Cut(host, ".")
		if !ok {
			return ListedHost{}, false
		}
		if h, ok := l.below[parent]; ok {
			return h, true
		}
		host = parent
	}
}

// Allowed reports whether a host in any spelling is on the list.
func (l List) Allowed(host string) bool {
	h, err := NormalizeHost(host)
	if err != nil {
		return false
	}
	_, ok := l.Find(h.Host)
	return ok
}

// Len is the number of distinct patterns.
func (l List) Len() int { return len(l.exact) + len(l.below) }
