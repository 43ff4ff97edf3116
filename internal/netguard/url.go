package netguard

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/model"
)

// URL is a web address in its normal form.
type URL struct {
	// Text is the normal form: scheme and host lower-case, the default port left
	// out, dot segments of the path resolved; path and query are otherwise as
	// written. The fragment is left out: it never goes over the network.
	Text string
	// Written is the text as given, without the blanks around it.
	Written string
	// Scheme is "http" or "https".
	Scheme string
	// Host is the host, with the port of the URL or of its scheme.
	model.Host
	// Path begins with "/" or is empty; Query has no "?".
	Path, Query string
}

// ParseURL reads a URL. Blanks and line breaks around it are dropped; only
// http and https are accepted.
//
// Errors are *[InputError]; Field names the part: "scheme" (missing or
// another), "user" (a user name or password), "host", "port", "url" (control
// characters, backslashes, blanks inside, bad UTF-8).
func ParseURL(text string) (URL, error) {
	u := URL{Written: strings.Trim(text, " \t\r\n")}
	fail := func(field, reason string) (URL, error) {
		return URL{}, &InputError{Field: field, Text: text, Reason: reason}
	}
	if reason := badURLText(u.Written); reason != "" {
		return fail("url", reason)
	}
	scheme, rest, ok := strings.Cut(u.Written, ":")
	if !ok || !isScheme(scheme) {
		return fail("scheme", "missing: only http and https URLs are accepted")
	}
	u.Scheme = strings.ToLower(scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return fail("scheme", "only http and https URLs are accepted")
	}
	rest, ok = strings.CutPrefix(rest, "//")
	if !ok {
		return fail("url", `"//" must follow the scheme`)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if strings.Contains(authority, "@") {
		return fail("user", "a user name or password in the URL is not accepted; leave out everything up to the @")
	}
	var err error
	if u.Host, err = parseAuthority(authority, text, defaultPort(u.Scheme)); err != nil {
		return URL{}, err
	}
	rest, _, _ = strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	u.Path, u.Query = cleanPath(path), query
	u.Text = u.Scheme + "://" + authorityText(u.Host, u.Scheme) + u.Path
	if hasQuery {
		u.Text += "?" + u.Query
	}
	return u, nil
}

// CheckURL is ParseURL for a fetch that lictor itself vouches for: an IP literal
// must be public, and the names localhost and *.localhost are refused, unless
// allowLocalhost is set, which opens loopback only.
//
// Errors: those of ParseURL, or *[AddressError].
func CheckURL(text string, allowLocalhost bool) (URL, error) {
	u, err := ParseURL(text)
	if err != nil {
		return URL{}, err
	}
	if u.IP != "" {
		addr, err := netip.ParseAddr(u.IP)
		if err != nil {
			return URL{}, &InputError{Field: "host", Text: text, Reason: "no IP address"}
		}
		if err := CheckAddress(addr, allowLocalhost); err != nil {
			return URL{}, err
		}
		return u, nil
	}
	if !allowLocalhost && (u.Host.Host == "localhost" || strings.HasSuffix(u.Host.Host, ".localhost")) {
		return URL{}, &AddressError{Host: u.Host.Host, Range: rangeLoopback}
	}
	return u, nil
}

// badURLText names what no part of a URL may hold. Programs disagree on what
// these characters mean: some drop them, some take a backslash for a slash.
func badURLText(s string) string {
	if s == "" {
		return "empty"
	}
	if !utf8.ValidString(s) {
		return "not valid UTF-8"
	}
	for _, r := range s {
		switch {
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return "control characters are not allowed"
		case r == ' ':
			return "blanks are not allowed; write %20"
		case r == '\\':
			return `backslashes are not allowed; write "/" or %5C`
		}
	}
	return ""
}

// isScheme reports whether s has the form of a scheme.
func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !(s[i] >= '0' && s[i] <= '9' || s[i] == '+' || s[i] == '-' || s[i] == '.')) {
			return false
		}
	}
	return s != ""
}

// defaultPort is the port of a scheme.
func defaultPort(scheme string) int {
	if scheme == "http" {
		return 80
	}
	return 443
}

// authorityText writes host and port; the default port of the scheme is left out.
func authorityText(h model.Host, scheme string) string {
	host := h.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if h.Port != defaultPort(scheme) {
		host += ":" + strconv.Itoa(h.Port)
	}
	return host
}

// cleanPath resolves "." and ".." segments, also in their percent-encoded
// spellings, as every client does before it sends the request: a rule must see
// the path that is asked for. Empty segments stay.
func cleanPath(path string) string {
	if !strings.Contains(path, ".") && !strings.Contains(strings.ToLower(path), "%2e") {
		return path
	}
	segs := strings.Split(path, "/")
	out := segs[:1] // the empty text before the first slash
	for i, s := range segs[1:] {
		last := i == len(segs)-2
		switch strings.ReplaceAll(strings.ToLower(s), "%2e", ".") {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 1 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return strings.Join(out, "/")
}
