package netguard

import (
	"fmt"
	"strings"
)

// HostPattern is a host pattern of a rule or list. The zero value matches
// nothing.
type HostPattern struct {
	text string
	// host is the normal form of an exact host, suffix ".example.com" of
	// "*.example.com". Both are empty for a pattern that can never match.
	host, suffix string
}

// ParsePattern reads a host pattern: an exact host name or IP address in any
// notation, or "*.example.com" for the subdomains of a name (not the name
// itself). A lone "*" is accepted and matches nothing ([HostPattern.Never]): a
// list that opens everything must not come from one character.
//
// where says where the pattern stands ("network.allow", "rule web_fetch(…) in
// settings.json"); it begins the error.
//
// Errors wrap *[InputError]: a scheme, port or path, "*" elsewhere, a wildcard
// below an address, and everything that NormalizeHost refuses.
func ParsePattern(text, where string) (HostPattern, error) {
	fail := func(reason string) (HostPattern, error) {
		return HostPattern{}, fmt.Errorf("%s: host pattern %w", where, &InputError{Field: "host", Text: text, Reason: reason})
	}
	t := strings.TrimSpace(text)
	if t == "*" {
		return HostPattern{text: t}, nil
	}
	name, wild := strings.CutPrefix(t, "*.")
	switch {
	case strings.Contains(name, "*"):
		return fail(`"*" is allowed as the whole first part only: "*.example.com"`)
	case strings.Contains(name, "/"):
		return fail(`write the host alone, without scheme and path: "example.com"`)
	}
	h, err := NormalizeHost(name)
	if err != nil {
		if e, ok := err.(*InputError); ok {
			return fail(e.Reason)
		}
		return HostPattern{}, fmt.Errorf("%s: %w", where, err)
	}
	if !wild {
		return HostPattern{text: t, host: h.Host}, nil
	}
	if h.IP != "" {
		return fail("an IP address has no subdomains")
	}
	return HostPattern{text: t, suffix: "." + h.Host}, nil
}

// Match reports whether a host matches. The host may be in any spelling (letter
// case, trailing dot, IDNA, IP notation); one in normal form costs no
// allocation. What is no valid host matches nothing.
func (p HostPattern) Match(host string) bool {
	if p.host == "" && p.suffix == "" {
		return false
	}
	h, err := NormalizeHost(host)
	if err != nil {
		return false
	}
	if p.host != "" {
		return h.Host == p.host
	}
	// "example.com" does not end with ".example.com"; an address has no parent.
	return h.IP == "" && len(h.Host) > len(p.suffix) && strings.HasSuffix(h.Host, p.suffix)
}

// Exact returns the normal form of the one host that the pattern matches, or ""
// for a wildcard.
func (p HostPattern) Exact() string { return p.host }

// Suffix returns ".example.com" for "*.example.com", or "". With Exact it lets
// an index hold many patterns in two maps.
func (p HostPattern) Suffix() string { return p.suffix }

// Never reports whether the pattern can match no host at all.
func (p HostPattern) Never() bool { return p.host == "" && p.suffix == "" }

// String is the pattern as written.
func (p HostPattern) String() string { return p.text }
