package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// branch walks something that may or may not run: a `cd` in it makes the folder
// unknown afterwards.
func (w *walker) branch(walk func()) {
	a := w.a
	dir := a.dir
	walk()
	if a.dir != dir {
		a.dir, a.dirKnown = eitherDir(a.dir, dir), false
	}
}

func (w *walker) ifClause(c *syntax.IfClause, cx ctx) {
	for ; c != nil; c = c.Else {
		if w.a.stop {
			return
		}
		c := c
		w.branch(func() {
			w.stmts(c.Cond, cx)
			if len(c.Cond) > 0 {
				w.op("; ")
			}
			w.stmts(c.Then, cx)
		})
		if c.Else != nil {
			w.op("; ")
		}
	}
}

func (w *walker) forClause(c *syntax.ForClause, cx ctx) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		mark := len(w.a.scratch)
		w.push(l.Items, cx)
		items := slices.Clone(w.a.scratch[mark:])
		w.a.scratch = w.a.scratch[:mark]
		w.assignName(l.Name.Value)
		w.setLoop(l.Name.Value, items)
		if !l.InPos.IsValid() && len(items) == 0 && w.a.vars != nil { // for f; do
			w.a.vars[l.Name.Value] = w.a.vars["@"]
		}
	case *syntax.CStyleLoop:
		w.arithm(l.Init, cx)
		w.arithm(l.Cond, cx)
		w.arithm(l.Post, cx)
	}
	w.branch(func() { w.stmts(c.Do, cx) })
}

func (w *walker) function(c *syntax.FuncDecl, cx ctx) {
	names := c.Names
	if c.Name != nil {
		names = []*syntax.Lit{c.Name}
	}
	for _, n := range names {
		w.a.funcs = append(w.a.funcs, n.Value)
		if inList(tamePrograms, n.Value) {
			w.a.reason(rArgInject)
		}
		switch n.Value {
		case "command_not_found_handle", "command_not_found_handler":
			w.a.reason(rCNFHandler)
		}
	}
	cx.fn = true
	was := w.a.fn
	if len(names) > 0 {
		w.a.fn = names[0].Value
	}
	w.branch(func() { w.stmt(c.Body, cx) })
	w.a.fn = was
}

func (w *walker) coproc(c *syntax.CoprocClause, cx ctx) {
	cx.fn = true
	if call, ok := c.Stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && strings.Contains(w.slice(call.Args[0].Pos(), call.Args[0].End()), "=") {
		w.a.reason(rCoprocName) // the parser takes an assignment for the command
	}
	if c.Name != nil {
		w.word(c.Name, cx)
		switch c.Stmt.Cmd.(type) {
		case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause,
			*syntax.CaseClause, *syntax.ArithmCmd, *syntax.TestClause:
			w.assignName(c.Name.Lit())
		default:
			w.a.reason(rCoprocName)
		}
	}
	dir, known := w.a.dir, w.a.dirKnown
	w.stmt(c.Stmt, cx)
	w.a.dir, w.a.dirKnown = dir, known
}

// test walks the expression of [[ ]].
func (w *walker) test(x syntax.TestExpr, cx ctx) {
	switch x := x.(type) {
	case *syntax.Word:
		w.word(x, cx)
	case *syntax.ParenTest:
		w.test(x.X, cx)
	case *syntax.UnaryTest:
		if v, ok := x.X.(*syntax.Word); ok {
			val := w.word(v, cx)
			if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
				w.subscript(&val)
			}
			return
		}
		w.test(x.X, cx)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			w.a.arith = true
			for _, side := range [2]syntax.TestExpr{x.X, x.Y} {
				if v, ok := side.(*syntax.Word); ok {
					val := w.word(v, cx)
					w.subscript(&val)
					continue
				}
				w.test(side, cx)
			}
			return
		}
		w.test(x.X, cx)
		w.test(x.Y, cx)
	}
}

// arithm walks an arithmetic expression.
func (w *walker) arithm(x syntax.ArithmExpr, cx ctx) {
	w.a.arith = true
	cx.arith = true
	if cx.depth++; cx.depth > 2*MaxDepth {
		w.a.reason(rTooDeep)
		return
	}
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		w.word(x, cx)
	case *syntax.BinaryArithm:
		for { // left-deep
			w.arithm(x.Y, cx)
			left, ok := x.X.(*syntax.BinaryArithm)
			if !ok {
				w.arithm(x.X, cx)
				return
			}
			x = left
		}
	case *syntax.UnaryArithm:
		w.arithm(x.X, cx)
	case *syntax.ParenArithm:
		w.arithm(x.X, cx)
	case *syntax.FlagsArithm:
		if x.Flags != nil && strings.ContainsAny(x.Flags.Value, "e$`'\"") {
			w.a.reason(rZshExpand)
		}
		w.arithm(x.X, cx)
	default:
		w.a.reason(rInternal)
	}
}
