package netguard

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever is accepted is in a form that is stable and has one reading.
func FuzzNormalizeHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "0x7f.1", "[::ffff:1.2.3.4]", "bücher.de", "xn--bcher-kva.de", "①.2", "fe80::1%1", "a\x00b", "１２７.1", "ǅ.x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := NormalizeHost(s)
		if err != nil {
			require.Empty(t, h)
			return
		}
		require.NotEmpty(t, h.Host)
		require.LessOrEqual(t, len(h.Host), maxHost)
		again, err := NormalizeHost(h.Host)
		require.NoError(t, err, "%q from %q", h.Host, s)
		require.Equal(t, h, again)
		if h.IP != "" {
			addr, err := netip.ParseAddr(h.IP)
			require.NoError(t, err)
			require.False(t, addr.Is4In6())
			require.Equal(t, addr.String(), h.Host)
			require.Equal(t, Public(addr), h.Public)
			return
		}
		require.False(t, h.Public)
		require.Equal(t, strings.ToLower(h.Host), h.Host)
		require.Empty(t, strings.Trim(h.Host, "abcdefghijklmnopqrstuvwxyz0123456789-_."), "%q", h.Host)
		_, err = netip.ParseAddr(h.Host)
		require.Error(t, err, "an address passed as a name: %q", s)
	})
}

// Whatever is accepted means the same for the standard library.
func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b#c", " HTTP://A:80/\n", "http://[::1]:8080/x", "https://u@h/", "http://a/%2e%2e/b", "http:a", "https://h:1:2/", "http://0x7f.1/?\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURL(s)
		if err != nil {
			require.Zero(t, u)
			return
		}
		again, err := ParseURL(u.Text)
		require.NoError(t, err, "%q", u.Text)
		require.Equal(t, u.Text, again.Text)
		require.Equal(t, u.Host, again.Host)
		AlwaysAsk(u)
		// The standard library refuses some paths (bad escapes); where it reads the
		// normal form, it must see the same parts.
		std, err := url.Parse(u.Text)
		if err != nil {
			return
		}
		assert.Equal(t, u.Scheme, std.Scheme)
		assert.Equal(t, u.Host.Host, std.Hostname())
		assert.Nil(t, std.User)
		assert.Equal(t, u.Query, std.RawQuery)
	})
}

// A wildcard never matches what does not end with its name.
func FuzzHostPattern(f *testing.F) {
	f.Add("*.example.com", "a.example.com")
	f.Add("example.com", "EXAMPLE.COM.")
	f.Add("*", "x")
	f.Fuzz(func(t *testing.T, pattern, host string) {
		p, err := ParsePattern(pattern, "fuzz")
		if err != nil || !p.Match(host) {
			return
		}
		h, err := NormalizeHost(host)
		require.NoError(t, err)
		require.True(t, p.Exact() == h.Host || p.Suffix() != "" && strings.HasSuffix("."+h.Host, p.Suffix()) && "."+h.Host != p.Suffix())
	})
}

// An authority has exactly one host and one port.
func FuzzSplitAuthority(f *testing.F) {
	for _, s := range []string{"a:1", "[::1]:80", "a", "a:b", "::1:1", "a:1:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := SplitAuthority(s)
		if err != nil {
			return
		}
		require.NotEmpty(t, h.Host)
		require.True(t, h.Port > 0 && h.Port < 65536)
	})
}
