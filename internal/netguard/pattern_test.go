package netguard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"Example.COM.", "example.com", true},
		{"example.com", "EXAMPLE.com.", true},
		{"example.com", "a.example.com", false},
		{"example.com", "notexample.com", false},
		{"example.com", "example.com.evil.com", false},
		{"example.com", "", false},
		{"*.example.com", "a.example.com", true},
		{"*.Example.com.", "A.B.example.COM.", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "notexample.com", false},
		{"*.example.com", "evil\x00.example.com", false},
		{"*.example.com", "evil%.example.com", false},
		{"*.bücher.example", "a.xn--bcher-kva.example", true},
		{"bücher.example", "BÜCHER.example", true},
		{"*", "example.com", false},
		{"*", "*", false},
		{" * ", "a", false},
		{"127.0.0.1", "2130706433", true},
		{"0x7f.1", "127.0.0.1", true},
		{"[::1]", "::1", true},
		{"::1", "[0:0:0:0:0:0:0:1]", true},
		{"8.8.8.8", "8.8.8.9", false},
		{"localhost", "localhost", true},
		{"localhost", "127.0.0.1", false},
	} {
		p, err := ParsePattern(c.pattern, "rule")
		require.NoError(t, err, c.pattern)
		assert.Equal(t, c.want, p.Match(c.host), "%s against %q", c.pattern, c.host)
	}
	assert.False(t, HostPattern{}.Match("a"))
	assert.True(t, HostPattern{}.Never())
}

func TestParsePatternRefuses(t *testing.T) {
	for _, bad := range []string{
		"", " ", "*.", "**", "*.*.com", "a.*.com", "*a.com", "a*", "*.com*", "https://example.com", "example.com/x", "example.com:443",
		"[::1]:443", "*.127.0.0.1", "*.[::1]", "*.::1", "a b", "a,b", "user@example.com", "..", "*..com", "10.0.0.0/8", "?.com", "300.1.1.1",
	} {
		_, err := ParsePattern(bad, "network.allow in settings.json")
		var e *InputError
		require.ErrorAs(t, err, &e, "%q", bad)
		assert.Contains(t, err.Error(), "network.allow in settings.json: ")
	}
}
