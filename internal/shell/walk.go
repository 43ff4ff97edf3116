package shell

import (
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

// stdin says where the input of a command comes from.
type stdin uint8

const (
	inNone stdin = iota
	inPipe
	inFile
	inText // a here-document or here-string
)

// ctx is what a construct hands down to what stands inside of it.
type ctx struct {
	stdin  stdin
	body   string // the static text of a here-document, "" if none or not static
	depth  int
	subEnd int // end of the enclosing substitution, 0 at the top
	dq     bool
	param  bool
	arith  bool
	// heredoc: inside the body of a here-document.
	heredoc bool
	// fn: inside a function, whose input is only known where it is called.
	fn bool
	// time is the prefix of the leftmost simple command ("time", "time -p").
	time    string
	timePos syntax.Pos
}

// walker walks the tree of one text.
type walker struct {
	a    *analysis
	text string
	g    grammar
	// zsh: the text may be run by zsh.
	zsh bool
	// base orders the parts of this text among those of the whole source.
	base int
	// owner is the part whose inner commands this text's commands are; -1 at the top.
	owner int
	// via names what the text was seen through, nest how deep that was.
	via  string
	nest int
	// remote: the text runs on another machine or in a container.
	remote bool
}

func (w *walker) stmts(list []*syntax.Stmt, cx ctx) {
	for i, s := range list {
		if i > 0 {
			if list[i-1].Background {
				w.op(" & ")
			} else {
				w.op("; ")
			}
		}
		w.stmt(s, cx)
		if w.a.stop {
			return
		}
		cx.time = ""
	}
}

func (w *walker) stmt(s *syntax.Stmt, cx ctx) {
	a := w.a
	if a.stmts++; a.stmts > maxStmts {
		a.reason(rTooMany)
		a.stop = true
	}
	if cx.depth++; cx.depth > MaxDepth {
		a.reason(rTooDeep)
		a.stop = true
	}
	if a.stop {
		return
	}
	first := len(a.redirs)
	for _, r := range s.Redirs {
		w.redirect(r, &cx)
	}
	last := len(a.redirs)
	dir, known := a.dir, a.dirKnown
	part := w.command(s, cx)
	if s.Background || s.Coprocess || s.Disown {
		a.dir, a.dirKnown = dir, known
	}
	for i := first; i < last; i++ {
		if a.redirs[i].Part == ownRedirect {
			a.redirs[i].Part = part
		}
	}
}

// command walks the command of a statement and returns the id of its part, or
// -1 for a compound command.
func (w *walker) command(s *syntax.Stmt, cx ctx) int {
	a := w.a
	if cx.time != "" {
		switch s.Cmd.(type) {
		case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.DeclClause, *syntax.LetClause:
		default:
			w.timeAlone(cx)
			cx.time = ""
		}
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return w.call(c, cx)
	case *syntax.DeclClause:
		return w.decl(c, cx)
	case *syntax.LetClause:
		return w.let(c, cx)
	case *syntax.BinaryCmd:
		w.binary(s, cx)
	case *syntax.Subshell:
		dir, known := a.dir, a.dirKnown
		w.stmts(c.Stmts, cx)
		a.dir, a.dirKnown = dir, known
	case *syntax.Block:
		w.stmts(c.Stmts, cx)
	case *syntax.IfClause:
		w.ifClause(c, cx)
	case *syntax.WhileClause:
		w.branch(func() {
			w.stmts(c.Cond, cx)
			w.op("; ")
			w.stmts(c.Do, cx)
		})
	case *syntax.ForClause:
		w.forClause(c, cx)
	case *syntax.CaseClause:
		w.word(c.Word, cx)
		for _, it := range c.Items {
			for _, p := range it.Patterns {
				w.word(p, cx)
			}
			w.branch(func() { w.stmts(it.Stmts, cx) })
			w.op("; ")
		}
	case *syntax.FuncDecl:
		w.function(c, cx)
	case *syntax.ArithmCmd:
		w.arithm(c.X, cx)
	case *syntax.TestClause:
		w.test(c.X, cx)
	case *syntax.TimeClause:
		cx.time, cx.timePos = "time", c.Time
		if c.PosixFormat {
			cx.time = "time -p"
		}
		if c.Stmt == nil {
			w.timeAlone(cx)
			return -1
		}
		if c.Stmt.Cmd == nil {
			w.timeAlone(cx)
			cx.time = ""
		}
		w.stmt(c.Stmt, cx)
	case *syntax.CoprocClause:
		w.coproc(c, cx)
	case *syntax.TestDecl:
		a.reason(rDialect)
		w.stmt(c.Body, cx)
	default:
		a.reason(rInternal)
	}
	return -1
}

// binary walks a list or pipeline. Lists are left-deep, so the left spine is
// walked in a loop.
func (w *walker) binary(s *syntax.Stmt, cx ctx) {
	a := w.a
	var spineBuf [8]*syntax.BinaryCmd
	spine := spineBuf[:0]
	left := s
	for {
		b, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok || left != s && len(left.Redirs) > 0 {
			break
		}
		spine = append(spine, b)
		left = b.X
	}
	start := len(a.seq)
	piped := func(i int) bool {
		return i >= 0 && (spine[i].Op == syntax.Pipe || spine[i].Op == syntax.PipeAll)
	}
	i := len(spine) - 1
	dir, known := a.dir, a.dirKnown
	w.stmt(left, cx)
	cx.time = ""
	if piped(i) {
		a.stages = append(a.stages, start)
		n := len(a.stages) - 1
		for ; piped(i); i-- {
			a.dir, a.dirKnown = dir, known
			w.op(" | ")
			a.stages = append(a.stages, len(a.seq))
			in := cx
			in.stdin, in.body = inPipe, ""
			w.stmt(spine[i].Y, in)
		}
		a.dir, a.dirKnown = dir, known
		w.pipeline(a.stages[n:])
		a.stages = a.stages[:n]
	}
	for ; i >= 0; i-- {
		if piped(i) {
			// A pipe above a list cannot be: lists bind weaker.
			a.reason(rInternal)
		}
		if spine[i].Op == syntax.OrStmt {
			w.op(" || ")
			w.branch(func() { w.stmt(spine[i].Y, cx) })
			continue
		}
		w.op(" && ")
		w.stmt(spine[i].Y, cx)
	}
}

// branch walks something that may or may not run: a `cd` in it makes the folder
// unknown afterwards.
func (w *walker) branch(walk func()) {
	a := w.a
	dir := a.dir
	walk()
	if a.dir != dir {
		a.dirKnown = false
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
		switch n.Value {
		case "command_not_found_handle", "command_not_found_handler":
			w.a.reason(rCNFHandler)
		}
	}
	cx.fn = true
	w.branch(func() { w.stmt(c.Body, cx) })
}

func (w *walker) coproc(c *syntax.CoprocClause, cx ctx) {
	cx.fn = true
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

// ownRedirect marks redirections whose part is not known yet.
const ownRedirect = -2

func (w *walker) redirect(r *syntax.Redirect, cx *ctx) {
	a := w.a
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		w.assignName(strings.Trim(r.N.Value, "{}"))
	}
	input := r.N == nil || r.N.Value == "0"
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		w.heredoc(r, *cx)
		body := ""
		if r.Hdoc != nil {
			in := *cx
			in.dq, in.heredoc, in.time = true, true, ""
			if strings.ContainsAny(w.slice(r.Word.Pos(), r.Word.End()), `\'"`) {
				body = r.Hdoc.Lit()
			} else if v := w.word(r.Hdoc, in); v.is(wStatic) {
				body = v.val
			}
		}
		if input {
			cx.stdin, cx.body = inText, body
		}
		return
	case syntax.WordHdoc:
		v := w.word(r.Word, *cx)
		if input {
			cx.stdin, cx.body = inText, v.val
			if !v.is(wStatic) {
				cx.body = ""
			}
		}
		return
	}
	v := w.word(r.Word, *cx)
	if v.val != "" && (v.val[0] == '!' || v.val[0] == '&') && v.is(wLead) {
		a.reason(rZshRedirect)
	}
	access := model.AccessWrite
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if v.is(wStatic) && dupTarget(v.val) {
			if input && r.Op == syntax.DplIn && v.val != "-" && v.val != "0" {
				cx.stdin, cx.body = inFile, ""
			}
			return
		}
		if !v.is(wStatic) || strings.ContainsAny(w.slice(r.Word.Pos(), r.Word.End()), "$`()<>{}\\'\"") {
			a.reason(rDupExpand)
		}
		if r.Op == syntax.DplIn {
			access = model.AccessRead
		}
	case syntax.RdrIn:
		access = model.AccessRead
	}
	if r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn {
		if r.Op == syntax.RdrInOut {
			input = r.N == nil || r.N.Value == "0"
		}
		if input {
			cx.stdin, cx.body = inFile, ""
			if v.is(wStatic) && v.val == "/dev/null" {
				cx.stdin = inNone
			}
		}
	}
	w.addRedirect(&v, access, int(r.OpPos.Offset()))
}

func (w *walker) addRedirect(v *word, access model.Access, pos int) {
	a := w.a
	if w.owner >= 0 && w.remote {
		return
	}
	r := redirectAt{pos: w.base + pos}
	r.Access, r.Dir, r.DirKnown, r.Part = access, a.dir, a.dirKnown, ownRedirect
	if w.owner >= 0 {
		r.Part = w.owner
		r.inner = true
	}
	r.Static = v.is(wStatic) && !v.is(wGlob|wBrace)
	r.Value, r.shown = v.src, v.src
	if v.is(wStatic) {
		r.shown = v.val
	}
	if r.Static {
		r.Value = literalPath(v)
	}
	a.redirs = append(a.redirs, r)
	if !r.Static {
		if p, ok := w.homePath(v); ok {
			w.a.addFile(p, access, ">", -1)
		}
	}
	w.netRedirect(v)
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
