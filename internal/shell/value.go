package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluator gathers the value of one word.
type evaluator struct {
	*walker
	flags wflag
	known int // how much of the value precedes the first expansion
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
		if !cx.dq && !e.tame(p) {
			e.flags |= wSplit
		}
		e.expansion(p, cx)
	}
}

// tamePrograms print one word that is no option. A text that redefines one of
// them is opaque.
const tamePrograms = "nproc pwd whoami hostname uname arch id date mktemp"

// tame reports an expansion that can only be one word, and no option: a number,
// or what a few programs print.
func (w *walker) tame(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		if p.Param == nil {
			return false
		}
		return p.Length || p.Short && (p.Param.Value == "?" || p.Param.Value == "#" || p.Param.Value == "$")
	case *syntax.CmdSubst:
		if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 || p.Backquotes {
			return false
		}
		call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
			return false
		}
		name := call.Args[0].Lit()
		if !inList(tamePrograms, name) {
			return false
		}
		for _, n := range call.Args[1:] {
			if arg := n.Lit(); len(arg) < 2 || name != "date" && arg[0] != '-' || name == "date" && !tameDate(arg) || name == "mktemp" && arg != "-d" {
				return false
			}
		}
		return true
	}
	return false
}

// tameDate reports a format of date that prints one word.
func tameDate(s string) bool {
	if s == "-u" {
		return true
	}
	rest, ok := strings.CutPrefix(s, "+%")
	if !ok || rest == "" {
		return false
	}
	for i := 0; i < len(rest); i++ {
		if c := rest[i]; c == '%' {
			if i++; i >= len(rest) || strings.IndexByte("YmdHMSFTsjyN", rest[i]) < 0 {
				return false
			}
		} else if i > 0 && strings.IndexByte("-_:.TZ", c) < 0 || i == 0 && strings.IndexByte("YmdHMSFTsjyN", c) < 0 {
			return false
		}
	}
	return true
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
			e.checkParamSubst(v[i+1:], cx)
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
			e.checkParamSubst(v[i+1:], cx)
		}
		e.a.buf = append(e.a.buf, c)
	}
}
