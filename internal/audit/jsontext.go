package audit

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// mustEscape marks the bytes that a JSON string cannot hold as they are.
var mustEscape = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// appendText appends p inside a JSON string (no quotes around it). Bytes that
// are no UTF-8 become U+FFFD, and lossy says so.
func appendText(dst, p []byte) (_ []byte, lossy bool) {
	start := 0
	for i := 0; i < len(p); {
		c := p[i]
		if c < utf8.RuneSelf {
			if !mustEscape[c] {
				i++
				continue
			}
			dst = append(dst, p[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, p[start:i]...)
			dst = append(dst, "\ufffd"...)
			lossy = true
			i++
			start = i
			continue
		}
		i += size
	}
	return append(dst, p[start:]...), lossy
}

// unescape appends the text of a JSON string (its bytes between the quotes,
// known to be valid). A lone surrogate becomes U+FFFD, and lossy says so.
func unescape(dst, p []byte) (_ []byte, lossy bool) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c != '\\' || i+1 >= len(p) {
			dst = append(dst, c)
			continue
		}
		i++
		switch p[i] {
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r := hex4(p, i+1)
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if i+2 < len(p) && p[i+1] == '\\' && p[i+2] == 'u' {
					low = hex4(p, i+3)
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					lossy = true
				} else {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, p[i])
		}
	}
	return dst, lossy
}

// hex4 reads four hex digits at p[i], or returns -1.
func hex4(p []byte, i int) rune {
	if i+4 > len(p) {
		return -1
	}
	var r rune
	for _, c := range p[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
