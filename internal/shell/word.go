package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wflag says what is known about a word.
type wflag uint16

const (
	// wStatic: the value is known from the text alone.
	wStatic wflag = 1 << iota
	// wBare: the value is its own canonical spelling and its own source.
	wBare
	// wGlob, wTilde, wBrace: characters that the shell expands are active.
	wGlob
	wTilde
	wBrace
	// wSplit: an expansion outside quotes, which can become any number of words.
	wSplit
	// wProc: a process substitution.
	wProc
	// wBadANSI: a $'...' escape that shells read differently.
	wBadANSI
	// wQuoted: some of it is quoted.
	wQuoted
	// wBraced: one of several words that a brace list made.
	wBraced
	// wLead: the first character is unquoted.
	wLead
)

// word is one word of a command.
type word struct {
	// val is the value if static, else the literal text before the first expansion.
	val string
	// src is the source without line continuations; equal to val if wBare.
	src  string
	node *syntax.Word
	wflag
}

// is reports whether any of f holds.
func (w *word) is(f wflag) bool { return w.wflag&f != 0 }

// plain reports a value that the shell passes on as it is.
func (w *word) plain() bool { return w.wflag&(wStatic|wGlob|wTilde|wBrace) == wStatic }

// flat is the value if it is known, else the source.
func (w *word) flat() string {
	if w.is(wStatic) {
		return w.val
	}
	return w.src
}

// canon is the one fixed spelling of the word: it keeps the boundary.
func (w *word) canon() string {
	switch {
	case w.is(wBare):
		return w.val
	case w.plain():
		return quote(w.val)
	}
	return w.src
}

// text makes a static word of a value that is not in the source itself.
func text(val string) word {
	w := word{val: val, src: val, wflag: wStatic | wQuoted}
	if bare(val) {
		w.wflag |= wBare
	}
	return w
}

// bareChar are the characters that a canonical word leaves unquoted.
var bareChar = func() (t [256]bool) {
	for c := range 128 {
		t[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_@%+=:,./^~-", byte(c)) >= 0
	}
	return t
}()

func bare(s string) bool {
	if s == "" || s[0] == '~' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !bareChar[s[i]] {
			return false
		}
	}
	return true
}

// quote spells a value canonically.
func quote(s string) string {
	if bare(s) {
		return s
	}
	switch s {
	case "{}", "[", "]", "!":
		return s
	}
	if strings.IndexByte(s, '\'') < 0 {
		return "'" + s + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// push evaluates words onto the scratch stack: brace lists make several of one.
// Commands inside the words use the stack above and leave it as it was.
func (w *walker) push(nodes []*syntax.Word, cx ctx) {
	a := w.a
	for _, n := range nodes {
		if w.g != gPOSIX && hasBraces(n) {
			if many, ok := w.braces(n, cx); ok {
				a.scratch = append(a.scratch, many...)
				continue
			}
		}
		v := w.word(n, cx)
		a.scratch = append(a.scratch, v)
	}
}

// word evaluates one word and visits everything that runs inside it.
func (w *walker) word(n *syntax.Word, cx ctx) word {
	if len(n.Parts) == 1 {
		if l, ok := n.Parts[0].(*syntax.Lit); ok && bare(l.Value) {
			return word{val: l.Value, src: l.Value, node: n, wflag: wStatic | wBare | wLead}
		}
	}
	e := evaluator{walker: w, flags: wStatic}
	if _, ok := n.Parts[0].(*syntax.Lit); ok {
		e.flags |= wLead
	}
	mark := len(w.a.buf)
	for i, p := range n.Parts {
		e.part(p, i == 0, cx)
	}
	val := string(w.a.buf[mark:])
	w.a.buf = w.a.buf[:mark]
	if !e.is(wStatic) {
		val = val[:e.known]
	}
	out := word{val: val, node: n, wflag: e.flags}
	if hasBraces(n) && w.g != gPOSIX {
		out.wflag |= wBrace
	}
	out.src = w.source(n)
	return out
}

// source is the text of a word without line continuations outside of quotes
// and substitutions.
func (w *walker) source(n *syntax.Word) string {
	s := w.slice(n.Pos(), n.End())
	if !strings.Contains(s, "\\\n") {
		return s
	}
	var b strings.Builder
	w.joined(&b, n.Parts)
	return b.String()
}

func (w *walker) joined(b *strings.Builder, parts []syntax.WordPart) {
	for _, p := range parts {
		s := w.slice(p.Pos(), p.End())
		switch p := p.(type) {
		case *syntax.Lit:
			s = strings.ReplaceAll(s, "\\\n", "")
		case *syntax.DblQuoted:
			if strings.Contains(s, "\\\n") {
				if p.Dollar {
					b.WriteByte('$')
				}
				b.WriteByte('"')
				w.joined(b, p.Parts)
				s = `"`
			}
		}
		b.WriteString(s)
	}
}

// slice is the source between two positions, empty where they make no sense.
func (w *walker) slice(from, to syntax.Pos) string {
	i, j := int(from.Offset()), min(int(to.Offset()), len(w.text))
	if i > j {
		return ""
	}
	return w.text[i:j]
}
