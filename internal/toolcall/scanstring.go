package toolcall

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string, from its opening to behind its closing quote.
func (s *scanner) str() (span, *JSONError) {
	s.pos++
	k := span{start: s.pos}
	data, i := s.data, s.pos
	for {
		for i < len(data) && plain[data[i]] {
			i++
		}
		if i == len(data) {
			s.pos = i
			return k, s.fail(ErrSyntax, "a string without an end")
		}
		switch c := data[i]; {
		case c == '"':
			k.end, s.pos = i, i+1
			return k, nil
		case c == '\\':
			k.escaped = true
			n, detail := escape(data[i:])
			if n == 0 {
				s.pos = i
				if detail == loneSurrogate {
					return k, s.fail(ErrEncoding, detail)
				}
				return k, s.fail(ErrSyntax, detail)
			}
			i += n
		case c < 0x20:
			s.pos = i
			return k, s.fail(ErrSyntax, "a control character in a string: escape it")
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				s.pos = i
				return k, s.fail(ErrEncoding, "")
			}
			i += n
		}
	}
}

// plain are the bytes that stand for themselves in a string.
var plain = func() (set [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()

const loneSurrogate = "an escape that is half of a surrogate pair"

// escape returns the length of the escape (or pair of them) that b starts with,
// or 0 and what is wrong.
func escape(b []byte) (n int, detail string) {
	if len(b) < 2 {
		return 0, "a string without an end"
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
		r, ok := hex4(b)
		switch {
		case !ok:
			return 0, `\u needs four hexadecimal digits`
		case !utf16.IsSurrogate(r):
			return 6, ""
		}
		low, ok := hex4(b[6:])
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return 0, loneSurrogate
		}
		return 12, ""
	}
	return 0, "an unknown escape"
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape decodes the inside of a string that str has accepted.
func unescape(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			n := bytes.IndexByte(b[i:], '\\')
			if n < 0 {
				n = len(b) - i
			}
			out.Write(b[i : i+n])
			i += n
			continue
		}
		switch c := b[i+1]; c {
		case 'u':
			r, _ := hex4(b[i:])
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(b[i:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out.WriteRune(r)
			continue
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		default:
			out.WriteByte(c)
		}
		i += 2
	}
	return out.String()
}
