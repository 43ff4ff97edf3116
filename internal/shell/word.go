package shell

import (
	"strings"
	"unicode/utf8"

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

// evaluator gathers the value of one word.
type evaluator struct {
	*walker
	flags    wflag
	known    int // how much of the value precedes the first expansion
	start int
}

func (e *evaluator) is(f wflag) bool { return e.flags&f != 0 }

func (e *evaluator) dynamic(from int) {
	if e.flags&wStatic != 0 {
		e.flags &^= wStatic
		e.known = len(e.a.buf) - from
	}
}

func (e *evaluator) part(p syntax.WordPart, first bool, cx ctx) {
	a := e.a
	if first {
		e.start = len(a.buf)
	}
	switch p := p.(type) {
	case *syntax.Lit:
		e.lit(p, first, cx)
	case *syntax.SglQuoted:
		e.flags |= wQuoted
		e.checkQuote(p, cx)
		if !p.Dollar {
			a.buf = append(a.buf, p.Value...)
			return
		}
		var ok bool
		if a.buf, ok = ansiC(a.buf, p.Value); !ok {
			e.dynamic(e.start)
			e.flags |= wBadANSI
		}
	case *syntax.DblQuoted:
		e.flags |= wQuoted
		if p.Dollar {
			e.dynamic(e.start)
		}
		in := cx
		in.dq = true
		for _, q := range p.Parts {
			switch q := q.(type) {
			case *syntax.Lit:
				e.quotedLit(q, in)
			case *syntax.SglQuoted: // not produced inside double quotes, but harmless
				a.buf = append(a.buf, q.Value...)
			default:
				e.dynamic(e.start)
				if manyWords(q) {
					e.flags |= wSplit
				}
				e.expansion(q, in)
			}
		}
	case *syntax.ExtGlob:
		e.flags |= wGlob
		e.extGlob(p)
		a.buf = append(a.buf, e.text[p.Pos().Offset():min(int(p.End().Offset()), len(e.text))]...)
	case *syntax.ProcSubst:
		e.dynamic(e.start)
		e.flags |= wProc
		e.expansion(p, cx)
	case *syntax.BraceExp:
		e.flags |= wBrace
	default:
		e.dynamic(e.start)
		if !cx.dq && !numeric(p) {
			e.flags |= wSplit
		}
		e.expansion(p, cx)
	}
}

// numeric reports an expansion that can only be one number.
func numeric(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		if p.Param == nil {
			return false
		}
		return p.Length || p.Short && (p.Param.Value == "?" || p.Param.Value == "#" || p.Param.Value == "$")
	}
	return false
}

// manyWords reports "$@" and "${a[@]}", which are many words inside quotes.
func manyWords(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	if !ok || e.Length {
		return false
	}
	if e.Param != nil && e.Param.Value == "@" {
		return true
	}
	v, ok := e.Index.(*syntax.Word)
	return ok && v.Lit() == "@"
}

// lit takes an unquoted literal apart: backslashes, patterns, a leading tilde.
func (e *evaluator) lit(l *syntax.Lit, first bool, cx ctx) {
	v := l.Value
	if first && v != "" && v[0] == '~' {
		e.flags |= wTilde
	}
	if cx.dq { // inside a here-document
		e.quotedLit(l, cx)
		return
	}
	open, dollars := false, false
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch c {
		case '\\':
			if i++; i < len(v) {
				e.flags |= wQuoted
				if i == 1 && first {
					e.flags &^= wLead
				}
				e.a.buf = append(e.a.buf, v[i])
			}
			continue
		case '*', '?':
			e.flags |= wGlob
		case '[':
			open = true
		case ']':
			if open {
				e.flags |= wGlob
				}
		case '$':
			if !dollars {
				dollars = true
				e.checkDollars(l, cx)
			}
		case '\'':
			e.checkLitQuote(cx)
		case '<', '>', '=':
			if cx.param && i+1 < len(v) && v[i+1] == '(' {
				e.a.reason(rParamProcSubst)
			}
		case '(':
			if e.g == gZsh && i == 0 {
				e.zshQualifier(v)
			}
		}
		e.a.buf = append(e.a.buf, c)
	}
}

// quotedLit takes a literal inside double quotes apart.
func (e *evaluator) quotedLit(l *syntax.Lit, cx ctx) {
	v := l.Value
	dollars := false
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch c {
		case '\\':
			if i+1 < len(v) {
				switch v[i+1] {
				case '"':
					if cx.heredoc {
						break
					}
					i++
					c = v[i]
				case '$', '`', '\\':
					i++
					c = v[i]
				case '\n':
					i++
					continue
				case '}':
					if cx.param {
						i++
						c = v[i]
					}
				}
			}
		case '$':
			if !dollars {
				dollars = true
				e.checkDollars(l, cx)
			}
		case '\'':
			e.checkLitQuote(cx)
		case '<', '>', '=':
			if cx.param && i+1 < len(v) && v[i+1] == '(' {
				e.a.reason(rParamProcSubst)
			}
		}
		e.a.buf = append(e.a.buf, c)
	}
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
