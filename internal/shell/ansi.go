package shell

import (
	"strings"
	"unicode/utf8"
)

// ansiC decodes the inside of $'...'. Escapes that shells disagree about, or
// that make a NUL, are not decoded.
func ansiC(dst []byte, s string) ([]byte, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		if i++; i >= len(s) {
			return dst, false
		}
		if k := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); k >= 0 {
			dst = append(dst, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[k])
			continue
		}
		var n, digits int
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			for digits < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7' {
				n, i, digits = n*8+int(s[i]-'0'), i+1, digits+1
			}
			n &= 0xff
		case c == 'x' || c == 'u' || c == 'U':
			most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			for i++; digits < most && i < len(s) && hex(s[i]) >= 0; i, digits = i+1, digits+1 {
				n = n*16 + hex(s[i])
			}
			if digits == 0 {
				return dst, false
			}
			if c != 'x' {
				if n == 0 || n > utf8.MaxRune {
					return dst, false
				}
				dst = utf8.AppendRune(dst, rune(n))
				i--
				continue
			}
		default:
			return dst, false
		}
		if n == 0 {
			return dst, false
		}
		dst = append(dst, byte(n))
		i--
	}
	return dst, true
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
