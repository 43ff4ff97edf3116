package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The tree checks. Each of these texts parses without an error and runs
// something else in a real shell than the tree says: parser defects, second
// expansions inside the shell, and differences between shells. A hit makes the
// text opaque, which costs a question and never an answer.

// checkWhole looks at a parsed text as a whole: comments and the end of text.
func (w *walker) checkWhole(f *syntax.File) {
	n := len(w.text)
	for n > 0 && w.text[n-1] == '\\' {
		n--
	}
	if (len(w.text)-n)%2 == 1 {
		w.a.reason(rTrailingBackslash)
	}
	if strings.Contains(w.text, "\\\n") {
		if strings.IndexByte(w.text, '#') >= 0 {
			w.checkComments(f)
		}
		w.checkTokens(f)
	}
}

// splices are pairs of characters that make one token. Shells join them over a
// line continuation, the parser does not always.
var splices = map[byte]string{'$': "({['\"", '(': "(", '<': "<(&>", '>': ">(&|", '&': "&>", '|': "|&", ';': ";&"}

// checkTokens finds line continuations inside an operator.
func (w *walker) checkTokens(f *syntax.File) {
	var literal []bool
	for at := 0; ; {
		i := strings.Index(w.text[at:], "\\\n")
		if i < 0 {
			return
		}
		from := at + i
		to := from + 2
		for strings.HasPrefix(w.text[to:], "\\\n") {
			to += 2
		}
		at = to
		if from == 0 || to >= len(w.text) {
			continue
		}
		prev, next := w.text[from-1], w.text[to]
		fd := prev >= '0' && prev <= '9' && (next == '<' || next == '>') // 2>f, or the word 2 in zsh
		if !fd && strings.IndexByte(splices[prev], next) < 0 {
			continue
		}
		if literal == nil {
			literal = literals(f, len(w.text))
		}
		if fd && !literal[to] || !fd && (!literal[from-1] || !literal[to]) {
			w.a.reason(rTokenSplice)
			return
		}
	}
}

// checkComments finds comments that end in a backslash: the parser lets the
// backslash swallow the newline, no shell does.
func (w *walker) checkComments(f *syntax.File) {
	var literal []bool // where quoted text and words stand
	for at := 0; ; {
		i := strings.Index(w.text[at:], "\\\n")
		if i < 0 {
			return
		}
		end := at + i
		line := strings.LastIndexByte(w.text[:end], '\n') + 1
		at = end + 2
		for k := line; k < end; k++ {
			if w.text[k] != '#' || k > 0 && strings.IndexByte(" \t\n;&|(){}<>`", w.text[k-1]) < 0 {
				continue
			}
			if literal == nil {
				literal = literals(f, len(w.text))
			}
			if !literal[k] {
				w.a.reason(rCommentSplice)
				return
			}
		}
	}
}

// literals marks every byte that belongs to a literal or to a quoted string: a
// '#' there starts no comment.
func literals(f *syntax.File, size int) []bool {
	out := make([]bool, size)
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			for i := int(n.Pos().Offset()); i < min(int(n.End().Offset()), size); i++ {
				out[i] = true
			}
		}
		return true
	})
	return out
}

// checkQuote looks at a single-quoted string where single quotes may not quote.
func (w *walker) checkQuote(q *syntax.SglQuoted, cx ctx) {
	if cx.dq && cx.param {
		w.a.reason(rParamQuote)
	}
	if cx.arith {
		for i := 0; i < len(q.Value); i++ {
			if c := q.Value[i]; !bareChar[c] && c != ' ' {
				w.a.reason(rArithQuote)
				return
			}
		}
	}
}

func (w *walker) checkLitQuote(cx ctx) {
	if cx.dq && cx.param {
		w.a.reason(rParamQuote)
	}
	if cx.arith {
		w.a.reason(rArithQuote)
	}
}

// checkParamSubst finds a process substitution inside ${...}, from what follows
// its first character.
func (w *walker) checkParamSubst(rest string, cx ctx) {
	if cx.param && strings.HasPrefix(rest, "(") {
		w.a.reason(rParamProcSubst)
	}
}

// checkDollars finds a literal dollar sign that zsh reads as an expansion.
func (w *walker) checkDollars(l *syntax.Lit, cx ctx) {
	from, to := int(l.Pos().Offset()), min(int(l.End().Offset()), len(w.text))
	for i := from; i < to && i+1 < len(w.text); i++ {
		switch w.text[i] {
		case '\\':
			i++
		case '$':
			next := w.text[i+1]
			if next == '\\' && i+2 < len(w.text) && w.text[i+2] == '\n' {
				w.a.reason(rTokenSplice)
			}
			if cx.dq {
				if strings.IndexByte("=~^+", next) >= 0 && i+2 < len(w.text) && nameStart(w.text[i+2]) {
					w.a.reason(rZshExpand)
				}
			} else if strings.IndexByte("=~^+:#*@!?-&|<>([", next) >= 0 {
				w.a.reason(rZshExpand)
			}
		}
	}
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// extGlob: the parser keeps the pattern as one literal, shells expand it.
func (w *walker) extGlob(e *syntax.ExtGlob) {
	p := e.Pattern.Value
	if strings.ContainsAny(p, "$`'\"\\<>") {
		w.a.reason(rExtglob)
	}
	if strings.IndexByte(p, '|') < 0 && strings.ContainsAny(p, "e+") {
		w.a.reason(rZshGlob)
	}
}

// zshQualifier: a glob qualifier of zsh can run code.
func (w *walker) zshQualifier(v string) {
	if strings.ContainsAny(v, "e+$`'\"\\<>") {
		w.a.reason(rZshGlob)
	}
}

// delimiter returns a here-document's end mark, if all shells read it alike.
func delimiter(n *syntax.Word, src string) (v string, ok bool) {
	if len(n.Parts) != 1 {
		return "", false
	}
	switch p := n.Parts[0].(type) {
	case *syntax.Lit:
		v = p.Value
		if v != src {
			return "", false // a line continuation inside
		}
		v = strings.TrimPrefix(v, `\`)
	case *syntax.SglQuoted:
		if p.Dollar {
			return "", false
		}
		v = p.Value
	case *syntax.DblQuoted:
		if p.Dollar || len(p.Parts) != 1 {
			return "", false
		}
		l, ok := p.Parts[0].(*syntax.Lit)
		if !ok || len(src) != len(l.Value)+2 {
			return "", false
		}
		v = l.Value
	default:
		return "", false
	}
	if v == "" {
		return "", false
	}
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !nameStart(c) && (c < '0' || c > '9') && strings.IndexByte(".+:@%,/-!", c) < 0 {
			return "", false
		}
	}
	return v, true
}

// heredoc checks one here-document: the end mark, where the body lies, and
// whether an unquoted body can end earlier than the tree says.
func (w *walker) heredoc(r *syntax.Redirect, cx ctx) {
	src := w.slice(r.Word.Pos(), r.Word.End())
	mark, ok := delimiter(r.Word, src)
	if !ok {
		w.a.reason(rHeredocDelim)
		return
	}
	if r.Hdoc == nil {
		return
	}
	if cx.subEnd > 0 && int(r.Hdoc.End().Offset()) > cx.subEnd {
		w.a.reason(rHeredocEscape)
	}
	quoted := strings.ContainsAny(src, `\'"`)
	if quoted && cx.subEnd == 0 {
		return
	}
	body := w.slice(r.Hdoc.Pos(), r.Hdoc.End())
	lines := strings.Split(body, "\n")
	if r.Op == syntax.DashHdoc {
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	if n := len(lines); n > 0 && lines[n-1] == mark {
		lines = lines[:n-1]
	}
	if cx.subEnd > 0 {
		// Inside $( ), bash ends the body at a line that only starts with the end
		// mark if a parenthesis follows on it.
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, mark); ok && strings.ContainsAny(rest, ")}") {
				w.a.reason(rHeredocSplice)
				return
			}
		}
	}
	if quoted {
		return
	}
	joined, cont := "", false
	for _, l := range lines {
		if len(joined) <= len(mark) {
			joined += l
		}
		if l == mark || joined == mark {
			w.a.reason(rHeredocSplice)
			return
		}
		tail := len(l) - len(strings.TrimRight(l, `\`))
		if cont = tail%2 == 1; cont {
			joined = strings.TrimSuffix(joined, `\`)
			if joined == mark {
				w.a.reason(rHeredocSplice)
				return
			}
			continue
		}
		joined = ""
	}
	if cont {
		w.a.reason(rHeredocSplice)
	}
}

// backquoteEnd finds the end of a backquoted command as shells do: the first
// backquote with no backslash before it, whatever quotes are open.
func backquoteEnd(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '`':
			return i
		}
	}
	return -1
}

// unbackquote undoes one level of backslashes inside backquotes.
func unbackquote(s string, dq bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch c := s[i+1]; {
			case c == '$', c == '`', c == '\\', c == '"' && dq:
				i++
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// dupTarget reports the target of >& or <& that is a descriptor. `>&-` is a
// token of its own to shells: what follows the dash is another word.
func dupTarget(s string) bool {
	if s == "-" {
		return true
	}
	if n := len(s); n > 1 && s[n-1] == '-' {
		s = s[:n-1]
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
