package netguard

import (
	"strconv"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// SplitAuthority reads "host:port" or "[address]:port", as in a CONNECT request.
// The port is required.
//
// Errors are *[InputError] with the field "host" or "port".
func SplitAuthority(text string) (model.Host, error) {
	return parseAuthority(text, text, 0)
}

// parseAuthority reads host and port. port is the default; 0 means that the
// text must have one. whole is the text for errors.
func parseAuthority(text, whole string, port int) (model.Host, error) {
	fail := func(field, reason string) (model.Host, error) {
		return model.Host{}, &InputError{Field: field, Text: whole, Reason: reason}
	}
	host, digits, hasPort := text, "", false
	switch {
	case strings.HasPrefix(text, "["):
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return fail("host", "the bracket is not closed")
		}
		host = text[:end+1]
		if rest := text[end+1:]; rest != "" {
			if rest[0] != ':' {
				return fail("host", "only a port may follow the bracket")
			}
			digits, hasPort = rest[1:], true
		}
	default:
		host, digits, hasPort = strings.Cut(text, ":")
		if strings.Contains(digits, ":") {
			return fail("host", "an IPv6 address needs brackets")
		}
	}
	if host == "" {
		return fail("host", "empty")
	}
	switch {
	case hasPort:
		n, ok := parsePort(digits)
		if !ok {
			return fail("port", "must be a number from 1 to 65535")
		}
		port = n
	case port == 0:
		return fail("port", `missing; write "host:port"`)
	}
	h, err := NormalizeHost(host)
	if err != nil {
		if e, ok := err.(*InputError); ok {
			return fail(e.Field, e.Reason)
		}
		return model.Host{}, err
	}
	h.Port = port
	return h, nil
}

// parsePort reads a port in plain decimal digits.
func parsePort(s string) (int, bool) {
	if s == "" || len(s) > 5 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= 65535
}
