package pathguard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/model"
)

// Display is the short form of a path for people: relative to the root if it is
// written inside, "~/…" below the home folder, absolute otherwise. Characters
// that a terminal would not show as they are come out escaped (see [Escape]).
func (g *Guard) Display(p model.Path) string {
	if p.Inside {
		return Escape(p.Rel)
	}
	abs := p.Abs
	if abs == "" {
		return Escape(p.Text)
	}
	return Escape(g.tildeForm(abs))
}

// DisplayReal is Display for where the path really leads.
func (g *Guard) DisplayReal(p model.Path) string {
	if p.RealInside || p.Real == "" {
		return Escape(p.RealRel)
	}
	return Escape(g.tildeForm(p.Real))
}

// tildeForm shortens the home folder.
func (g *Guard) tildeForm(abs string) string {
	for _, home := range []string{g.home, g.homeReal} {
		if home == "" {
			continue
		}
		if rest, ok := under(abs, home, g.fold); ok {
			if rest == "." {
				return "~"
			}
			return "~/" + rest
		}
	}
	return abs
}

// Escape makes a text safe and unambiguous on one line of a terminal: control
// characters, line separators, bidirectional and zero-width characters, private
// and unassigned code points and bytes that are no UTF-8 come out as \n, \x1b,
// \u202e. A text that holds such a character has its backslashes doubled; any
// other text comes back unchanged.
func Escape(s string) string {
	if plainText(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case visible(r):
			b.WriteString(s[i : i+n])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// plainText reports whether every character of s shows as it is.
func plainText(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < 0x80 {
			if c < ' ' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || !visible(r) {
			return false
		}
		i += n
	}
	return true
}

// visible reports whether a terminal shows r as a character of its own.
// unicode.IsPrint leaves out format characters, private use and every blank but
// the ASCII one; the blank-looking letters and the invisible marks are ours.
func visible(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800: // Hangul fillers, blank Braille
		return false
	}
	return unicode.IsPrint(r) && !ignorable(r)
}
