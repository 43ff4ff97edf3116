package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/pathguard"
)

// segment is one compiled part of a path pattern between slashes.
type segment struct {
	// deep is `**`: any number of path segments.
	deep bool
	// lit is the whole text where there are no tokens.
	lit    string
	tokens []token
}

type tokenKind uint8

const (
	tokenText tokenKind = iota
	tokenOne
	tokenStar
	tokenClass
)

type token struct {
	kind tokenKind
	text string
	set  *class
}

// class is a character class such as [a-z] or [!x].
type class struct {
	ranges []runeRange
	negate bool
	fold   bool
}

type runeRange struct{ lo, hi rune }

func (c *class) has(r rune) bool {
	in := c.holds(r)
	if !in && c.fold {
		for next := unicode.SimpleFold(r); next != r && !in; next = unicode.SimpleFold(next) {
			in = c.holds(next)
		}
	}
	return in != c.negate
}

func (c *class) holds(r rune) bool {
	for _, x := range c.ranges {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	return false
}

// newSegment compiles one segment. In the plain dialect of settings only `*`
// and `?` are special; else classes and backslashes are too.
func newSegment(text string, plain, folded bool) segment {
	if strings.Trim(text, "*") == "" && len(text) == 2 {
		return segment{deep: true}
	}
	var tokens []token
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			s := string(lit)
			if folded {
				s = pathguard.FoldName(s)
			}
			tokens = append(tokens, token{kind: tokenText, text: s})
			lit = lit[:0]
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			flush()
			if n := len(tokens); n == 0 || tokens[n-1].kind != tokenStar {
				tokens = append(tokens, token{kind: tokenStar})
			}
		case c == '?':
			flush()
			tokens = append(tokens, token{kind: tokenOne})
		case c == '[' && !plain && classEnd(text[i:]) > 2:
			flush()
			n := classEnd(text[i:])
			tokens = append(tokens, token{kind: tokenClass, set: newClass(text[i:i+n], folded)})
			i += n - 1
		case c == '\\' && !plain && i+1 < len(text):
			i++
			lit = append(lit, text[i])
		default:
			lit = append(lit, c)
		}
	}
	flush()
	switch {
	case len(tokens) == 0:
		return segment{}
	case len(tokens) == 1 && tokens[0].kind == tokenText:
		return segment{lit: tokens[0].text}
	}
	return segment{tokens: tokens}
}

// newClass compiles a class with its brackets.
func newClass(text string, folded bool) *class {
	c := &class{fold: folded}
	body := text[1 : len(text)-1]
	if len(body) > 1 && (body[0] == '^' || body[0] == '!') {
		c.negate, body = true, body[1:]
	}
	next := func() rune {
		if body[0] == '\\' && len(body) > 1 {
			body = body[1:]
		}
		r, n := utf8.DecodeRuneInString(body)
		body = body[n:]
		return r
	}
	for body != "" {
		lo := next()
		hi := lo
		if len(body) > 1 && body[0] == '-' {
			body = body[1:]
			hi = next()
		}
		c.ranges = append(c.ranges, runeRange{lo, hi})
	}
	return c
}

// match reports whether the segment matches all of s, which holds no slash. Only
// the last star is tried again, so the time is at most len(s) times the pattern.
func (g *segment) match(s string) bool {
	if g.tokens == nil {
		return g.lit == s
	}
	t, at := 0, 0
	star, starAt := -1, 0
	for {
		if t < len(g.tokens) {
			if g.tokens[t].kind == tokenStar {
				if t == len(g.tokens)-1 {
					return true
				}
				star, starAt = t, at
				t++
				continue
			}
			if n, ok := g.tokens[t].take(s[at:]); ok {
				t, at = t+1, at+n
				continue
			}
		} else if at == len(s) {
			return true
		}
		if star < 0 || starAt >= len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[starAt:])
		starAt += n
		t, at = star+1, starAt
	}
}

// take reports whether s starts with the token, and how many bytes it takes.
func (t *token) take(s string) (int, bool) {
	if t.kind == tokenText {
		return len(t.text), strings.HasPrefix(s, t.text)
	}
	if s == "" {
		return 0, false
	}
	r, n := utf8.DecodeRuneInString(s)
	return n, t.kind == tokenOne || t.set.has(r)
}

// head and tail are the literal text that every match starts and ends with.
func (g *segment) head() string {
	if g.tokens == nil {
		return g.lit
	}
	return g.tokens[0].text
}

func (g *segment) tail() string {
	if g.tokens == nil {
		return g.lit
	}
	return g.tokens[len(g.tokens)-1].text
}
