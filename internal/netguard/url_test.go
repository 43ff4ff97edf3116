package netguard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		in, text, host string
		port           int
	}{
		{"https://example.com/", "https://example.com/", "example.com", 443},
		{"https://example.com", "https://example.com", "example.com", 443},
		{" HTTPS://Example.COM/private/A\n", "https://example.com/private/A", "example.com", 443},
		{"http://example.com:80/x", "http://example.com/x", "example.com", 80},
		{"http://example.com:443/x", "http://example.com:443/x", "example.com", 443},
		{"https://example.com:0443/x", "https://example.com/x", "example.com", 443},
		{"https://example.com.:8443/x?Q=1&b=%20#frag", "https://example.com:8443/x?Q=1&b=%20", "example.com", 8443},
		{"https://example.com?x", "https://example.com?x", "example.com", 443},
		{"https://example.com/?", "https://example.com/?", "example.com", 443},
		{"https://example.com#x", "https://example.com", "example.com", 443},
		{"https://example.com/a@b?c@d:e", "https://example.com/a@b?c@d:e", "example.com", 443},
		{"https://bücher.example/ü", "https://xn--bcher-kva.example/ü", "xn--bcher-kva.example", 443},
		{"http://0x7f.1:8080/", "http://127.0.0.1:8080/", "127.0.0.1", 8080},
		{"http://[::FFFF:7f00:1]/", "http://127.0.0.1/", "127.0.0.1", 80},
		{"http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/", "2001:db8::1", 81},
		{"https://e.com/public/../private/a", "https://e.com/private/a", "e.com", 443},
		{"https://e.com/a/./b/%2e%2E/c", "https://e.com/a/c", "e.com", 443},
		{"https://e.com/../../x/..", "https://e.com/", "e.com", 443},
		{"https://e.com/a/.", "https://e.com/a/", "e.com", 443},
		{"https://e.com/a//b/.hidden/..x", "https://e.com/a//b/.hidden/..x", "e.com", 443},
		{"https://e.com/?q=a/../b", "https://e.com/?q=a/../b", "e.com", 443},
	} {
		t.Run(c.in, func(t *testing.T) {
			u, err := ParseURL(c.in)
			require.NoError(t, err)
			assert.Equal(t, c.text, u.Text)
			assert.Equal(t, c.host, u.Host.Host)
			assert.Equal(t, c.port, u.Port)
			again, err := ParseURL(u.Text)
			require.NoError(t, err)
			assert.Equal(t, u.Text, again.Text, "normal form is stable")
			assert.Equal(t, u.Host, again.Host)
		})
	}
}

func TestParseURLRefuses(t *testing.T) {
	for _, c := range []struct{ in, field string }{
		{"", "url"},
		{" \n", "url"},
		{"example.com", "scheme"},
		{"//example.com/", "scheme"},
		{"example.com:443/x", "scheme"},
		{"ftp://example.com/", "scheme"},
		{"file:///etc/passwd", "scheme"},
		{"javascript:alert(1)", "scheme"},
		{"data:text/plain,x", "scheme"},
		{"ht-tp://x", "scheme"},
		{"://x", "scheme"},
		{"http:example.com", "url"},
		{"http:/example.com", "url"},
		{"http:///example.com", "host"},
		{"https://", "host"},
		{"https://?x", "host"},
		{"https://:443/", "host"},
		{"https://user:pw@example.com/", "user"},
		{"https://user@example.com/", "user"},
		{"https://@example.com/", "user"},
		{"https://good.com@evil.com", "user"},
		{"https://good.com%40evil.com/", "host"},
		{`https://good.com\@evil.com/`, "url"},
		{`https:\\example.com`, "url"},
		{`https://example.com\x`, "url"},
		{"https://exam\nple.com/", "url"},
		{"https://example.com/a\tb", "url"},
		{"https://example.com/a b", "url"},
		{"https://example.com/\x00", "url"},
		{"\x00https://example.com/", "url"},
		{"https://example.com/\xff", "url"},
		{"https://example.com/\u0085", "url"},
		{"https://example.com:/", "port"},
		{"https://example.com:0/", "port"},
		{"https://example.com:65536/", "port"},
		{"https://example.com:+80/", "port"},
		{"https://example.com:80x/", "port"},
		{"https://example.com:000080/", "port"},
		{"https://::1/", "host"},
		{"https://1:2:3/", "host"},
		{"https://[::1/", "host"},
		{"https://[::1]x/", "host"},
		{"https://[fe80::1%25eth0]/", "host"},
		{"https://256.1.1.1/", "host"},
		{"https://a..b/", "host"},
		{"https://e%78ample.com/", "host"},
	} {
		t.Run(c.in, func(t *testing.T) {
			u, err := ParseURL(c.in)
			var e *InputError
			require.ErrorAs(t, err, &e, "%+v", u)
			assert.Equal(t, c.field, e.Field)
			assert.Zero(t, u)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestAlwaysAsk(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	slashes := func(n int) string { return strings.Repeat("ab/", n/3+1)[:n] }
	for name, c := range map[string]struct {
		url  string
		want bool
	}{
		"short":                      {"https://example.com/a", false},
		"300 characters":             {"https://e.com/" + slashes(286), false},
		"301 characters":             {"https://e.com/" + slashes(287), true},
		"long fragment counts":       {"https://e.com/#" + slashes(290), true},
		"dot segments do not hide":   {"https://e.com/" + strings.Repeat("a/../", 60), true},
		"63 in path":                 {"https://e.com/" + x(63), false},
		"64 in path":                 {"https://e.com/" + x(64), true},
		"64 as last segment":         {"https://e.com/a/" + x(64) + "?q", true},
		"64 in query":                {"https://e.com/?q=" + x(64), true},
		"63 in query":                {"https://e.com/?q=" + x(63), false},
		"64 as query":                {"https://e.com?" + x(64), true},
		"dots and dashes":            {"https://e.com/" + strings.Repeat("abc-def.gh_", 6), true},
		"base64 in query":            {"https://e.com/?d=" + strings.Repeat("QUJD+", 13), true},
		"64 encoded bytes":           {"https://e.com/?d=" + strings.Repeat("%41", 64), true},
		"22 encoded bytes":           {"https://e.com/?d=" + strings.Repeat("%41", 22), false},
		"encoded separator":          {"https://e.com/" + x(40) + "%2F" + x(40), true},
		"title in another script":    {"https://e.com/" + strings.Repeat("%E4%B8%AD", 20), false},
		"raw bytes":                  {"https://e.com/" + strings.Repeat("%ff", 64), true},
		"bad escapes count raw":      {"https://e.com/" + strings.Repeat("%4", 32), true},
		"two tokens":                 {"https://e.com/" + x(40) + "/" + x(40) + "?a=" + x(40) + "&b=" + x(40), false},
		"long host is not this rule": {"https://" + x(60) + ".e.com/", false},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := ParseURL(c.url)
			require.NoError(t, err)
			assert.Equal(t, c.want, AlwaysAsk(u))
		})
	}
}

func TestCheckURL(t *testing.T) {
	for _, bad := range []string{
		"http://2130706433/", "http://0x7f.1/", "http://[::1]/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/",
		"http://[::ffff:169.254.169.254]/", "http://0/", "http://10.1/",
	} {
		_, err := CheckURL(bad, false)
		var e *AddressError
		assert.ErrorAs(t, err, &e, bad)
	}
	for _, good := range []string{"http://localhost:3000/", "http://127.1/", "http://[::1]:1/", "https://example.com/", "https://8.8.8.8/"} {
		_, err := CheckURL(good, true)
		assert.NoError(t, err, good)
	}
}

func TestSplitAuthority(t *testing.T) {
	h, err := SplitAuthority("PyPI.org.:443")
	require.NoError(t, err)
	assert.Equal(t, "pypi.org", h.Host)
	assert.Equal(t, 443, h.Port)
	for _, bad := range []string{"", ":443", "a", "a:", "a:0", "a:65536", "a:b", "::1:80", "[::1]", "[::1]80", "[::1]:", "u@a:1", "a:1:2", "a\x00:1", "a :1", "a/b:1"} {
		_, err := SplitAuthority(bad)
		var e *InputError
		assert.ErrorAs(t, err, &e, "%q", bad)
	}
}
