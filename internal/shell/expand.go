package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expansion visits a substitution or expansion inside a word.
func (w *walker) expansion(p syntax.WordPart, cx ctx) {
	switch p := p.(type) {
	case *syntax.CmdSubst:
		w.cmdSubst(p, cx)
	case *syntax.ProcSubst:
		in := w.inside(cx, p.End())
		if p.Op == syntax.CmdInTemp {
			w.a.reason(rDialect)
		}
		if p.Op == syntax.CmdOut {
			in.stdin, in.body = inPipe, ""
		}
		w.scope(p.Stmts, in)
	case *syntax.ArithmExp:
		w.arithm(p.X, cx)
	case *syntax.ParamExp:
		w.param(p, cx)
	default:
		w.a.reason(rInternal)
	}
}

// inside is the context of the statements in a substitution that ends at end.
func (w *walker) inside(cx ctx, end syntax.Pos) ctx {
	in := ctx{stdin: cx.stdin, body: cx.body, depth: cx.depth, fn: cx.fn, subEnd: int(end.Offset())}
	return in
}

// scope walks statements that run in a subshell of their own.
func (w *walker) scope(stmts []*syntax.Stmt, cx ctx) {
	a := w.a
	dir, known, seq := a.dir, a.dirKnown, a.seq
	a.seq = nil
	w.stmts(stmts, cx)
	w.wholeLine()
	a.dir, a.dirKnown, a.seq = dir, known, seq
}

func (w *walker) cmdSubst(p *syntax.CmdSubst, cx ctx) {
	if p.TempFile || p.ReplyVar {
		w.a.reason(rDialect)
	}
	if !p.Backquotes {
		w.scope(p.Stmts, w.inside(cx, p.End()))
		return
	}
	from := int(p.Left.Offset()) + 1
	end := backquoteEnd(w.text, min(from, len(w.text)))
	if end < 0 || end != int(p.Right.Offset()) {
		w.a.reason(rBacktick)
	}
	if end < 0 {
		return
	}
	body := w.text[from:end]
	if cx.heredoc && strings.Contains(body, `\"`) {
		w.a.reason(rBacktick)
	}
	in := *w
	in.text, in.base = unbackquote(body, cx.dq && !cx.heredoc), w.base+from
	if cx.depth++; cx.depth > MaxDepth {
		w.a.reason(rTooDeep)
		return
	}
	in.read(ctx{stdin: cx.stdin, body: cx.body, depth: cx.depth, fn: cx.fn}, false)
}

// read parses and walks the walker's text.
func (w *walker) read(cx ctx, keepDir bool) {
	a := w.a
	f, err := parse(w.text, w.g)
	dir, known, seq := a.dir, a.dirKnown, a.seq
	a.seq = nil
	if err != nil {
		if w.owner >= 0 {
			a.reason(rScript)
		} else {
			a.reason(rParse)
		}
		w.readPartial(f, cx)
	} else {
		w.checkWhole(f)
		w.stmts(f.Stmts, cx)
	}
	w.wholeLine()
	a.seq = seq
	if !keepDir {
		a.dir, a.dirKnown = dir, known
	}
}

// readPartial walks the tree beside a syntax error, for deny rules. It may be
// broken anywhere.
func (w *walker) readPartial(f *syntax.File, cx ctx) {
	defer func() { _ = recover() }()
	w.stmts(f.Stmts, cx)
}

// param visits a parameter expansion.
func (w *walker) param(p *syntax.ParamExp, cx ctx) {
	a := w.a
	if p.Short && p.Index == nil {
		w.shortParam(p)
		return
	}
	in := cx
	in.param, in.arith = true, false
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.Flags != nil || p.Width || p.IsSet || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 ||
		p.NestedParam != nil || len(p.Modifiers) > 0 {
		a.reason(rDialect)
	}
	if p.NestedParam != nil {
		if _, ok := p.NestedParam.(*syntax.Lit); !ok {
			n := syntax.Word{Parts: []syntax.WordPart{p.NestedParam}}
			w.word(&n, in)
		}
	}
	if p.Index != nil {
		w.index(p.Index, cx)
	}
	if p.Excl && p.Names == 0 && !allIndex(p.Index) {
		a.reason(rIndirect)
	}
	if p.Slice != nil {
		w.arithm(p.Slice.Offset, cx)
		w.arithm(p.Slice.Length, cx)
	}
	if p.Repl != nil {
		if p.Repl.Orig != nil {
			w.word(p.Repl.Orig, in)
		}
		if p.Repl.With != nil {
			w.word(p.Repl.With, in)
		}
	}
	if p.Exp == nil {
		return
	}
	var v word
	if p.Exp.Word != nil {
		v = w.word(p.Exp.Word, in)
	}
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		if strings.ContainsRune(v.flat(), 'P') {
			a.reason(rPromptExpand)
			a.prompt = true
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		w.assignName(name)
		w.setVar(name, []word{v})
	}
}

// shortParam looks at what follows $x: zsh reads a subscript there.
func (w *walker) shortParam(p *syntax.ParamExp) {
	i := int(p.End().Offset())
	if i >= len(w.text) || w.text[i] != '[' {
		return
	}
	for _, c := range []byte(w.text[i:min(len(w.text), i+256)]) {
		switch c {
		case '\'', '"', '`', '$', '(':
			w.a.reason(rZshExpand)
			return
		case ']', ' ', '\n', '\t', ';', '&', '|':
			return
		}
	}
}

func allIndex(x syntax.ArithmExpr) bool {
	v, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	lit := v.Lit()
	return lit == "@" || lit == "*"
}

// index visits the subscript of an array.
func (w *walker) index(x syntax.ArithmExpr, cx ctx) {
	if allIndex(x) {
		return
	}
	w.arithm(x, cx)
}
