package rules

import (
	"strings"
	"unicode/utf8"
)

// stringGlob is a compiled pattern over a descriptor: `*` is any text, newlines
// too, and where question is set `?` is one character. A trailing ` *` also
// matches the text before it ("go *" covers "go").
//
// The pattern is cut at its stars. The first piece is anchored at the start,
// the last at the end, and those between are searched leftmost first, which is
// right because a star takes anything: no backtracking, so no pattern is slow.
type stringGlob struct {
	pieces []string
	// bare is the text that a trailing ` *` matches alone, if hasBare.
	bare     *stringGlob
	question bool
	// any says that the pattern is nothing but stars.
	any bool
}

// newStringGlob compiles a pattern.
func newStringGlob(pattern string, question bool) *stringGlob {
	g := &stringGlob{pieces: strings.Split(squeezeStars(pattern), "*"), question: question && strings.Contains(pattern, "?")}
	g.any = len(g.pieces) == 2 && g.pieces[0] == "" && g.pieces[1] == ""
	if head, ok := strings.CutSuffix(pattern, " *"); ok {
		g.bare = &stringGlob{pieces: strings.Split(squeezeStars(head), "*"), question: g.question}
	}
	return g
}

// squeezeStars folds runs of stars.
func squeezeStars(s string) string {
	for strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "*")
	}
	return s
}

// match reports whether the pattern matches all of s.
func (g *stringGlob) match(s string) bool {
	return g.matchPieces(s) || g.bare != nil && g.bare.matchPieces(s)
}

func (g *stringGlob) matchPieces(s string) bool {
	first, last := g.pieces[0], g.pieces[len(g.pieces)-1]
	if len(g.pieces) == 1 {
		n, ok := g.prefix(first, s)
		return ok && n == len(s)
	}
	n, ok := g.prefix(first, s)
	if !ok {
		return false
	}
	s = s[n:]
	for _, piece := range g.pieces[1 : len(g.pieces)-1] {
		end := g.find(piece, s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return g.suffix(last, s)
}

// prefix reports whether s starts with piece, and how many bytes it took.
func (g *stringGlob) prefix(piece, s string) (int, bool) {
	if !g.question {
		return len(piece), strings.HasPrefix(s, piece)
	}
	at := 0
	for i := 0; i < len(piece); i++ {
		if at >= len(s) {
			return 0, false
		}
		if piece[i] == '?' {
			_, n := utf8.DecodeRuneInString(s[at:])
			at += n
			continue
		}
		if piece[i] != s[at] {
			return 0, false
		}
		at++
	}
	return at, true
}

// find returns the end of the leftmost place of piece in s, or -1.
func (g *stringGlob) find(piece, s string) int {
	if !g.question || strings.IndexByte(piece, '?') < 0 {
		at := strings.Index(s, piece)
		if at < 0 {
			return -1
		}
		return at + len(piece)
	}
	for at := 0; at <= len(s); {
		if n, ok := g.prefix(piece, s[at:]); ok {
			return at + n
		}
		if at == len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return -1
}

// suffix reports whether s ends with piece.
func (g *stringGlob) suffix(piece, s string) bool {
	if !g.question || strings.IndexByte(piece, '?') < 0 {
		return strings.HasSuffix(s, piece)
	}
	at := len(s)
	for i := len(piece) - 1; i >= 0; i-- {
		if at == 0 {
			return false
		}
		if piece[i] == '?' {
			_, n := utf8.DecodeLastRuneInString(s[:at])
			at -= n
			continue
		}
		if at--; piece[i] != s[at] {
			return false
		}
	}
	return true
}

// keys returns the literal text that every match starts and ends with; they
// put the pattern into the index.
func (g *stringGlob) keys() (prefix, suffix string) {
	prefix, suffix = g.pieces[0], g.pieces[len(g.pieces)-1]
	if g.bare != nil {
		prefix = commonPrefix(prefix, g.bare.pieces[0])
		suffix = ""
	}
	if g.question {
		prefix, _, _ = strings.Cut(prefix, "?")
		suffix = suffix[strings.LastIndexByte(suffix, '?')+1:]
	}
	return prefix, suffix
}

// inside returns the longest literal text that every match holds somewhere.
func (g *stringGlob) inside() string {
	pieces := g.pieces
	if g.bare != nil {
		// The pieces of "x *" are those of "x", the last with a blank behind it.
		pieces = g.bare.pieces
	}
	longest := ""
	for _, piece := range pieces {
		for piece != "" {
			literal := piece
			piece = ""
			if g.question {
				literal, piece, _ = strings.Cut(literal, "?")
			}
			if len(literal) > len(longest) {
				longest = literal
			}
		}
	}
	return longest
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
