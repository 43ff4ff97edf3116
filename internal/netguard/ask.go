package netguard

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of a URL that no allow rule covers (SPEC section 1).
const (
	maxURL   = 300
	maxToken = 64
)

// AlwaysAsk reports whether data could leave in a URL, so that a person must
// see it whatever the rules say: it is longer than 300 characters, as written
// or in normal form, or a token in its path or query has 64 or more characters.
//
// A token is the text between the separators of path ("/"), query ("?", "&",
// "=", ";") and both, as written; its length counts decoded characters, so that
// a short title in another script is none. An encoded separator separates
// nothing.
func AlwaysAsk(u URL) bool {
	if utf8.RuneCountInString(u.Written) > maxURL || utf8.RuneCountInString(u.Text) > maxURL {
		return true
	}
	return longToken(u.Path, "/;") || longToken(u.Query, "/?&=;")
}

// longToken reports whether s has a token of 64 or more decoded characters.
func longToken(s, separators string) bool {
	for s != "" {
		token := s
		if i := strings.IndexAny(s, separators); i >= 0 {
			token, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if len(token) < maxToken {
			continue
		}
		if decoded, err := url.PathUnescape(token); err == nil {
			token = decoded
		}
		// Bytes that are no UTF-8 count one each.
		if utf8.RuneCountInString(token) >= maxToken {
			return true
		}
	}
	return false
}
