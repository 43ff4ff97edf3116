package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/pathguard"
)

// foldInto is pathguard.FoldName into a buffer that is used again, for ASCII text.
func foldInto(buf *[]byte, s string) string {
	upper := false
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return pathguard.FoldName(s)
		}
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	if !upper {
		return s
	}
	b := (*buf)[:0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	*buf = b
	return view(b)
}

// blanks folds every run of white space to one blank and drops it at both ends.
func blanks(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
