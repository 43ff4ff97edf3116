package shell

import (
	"strings"

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
	if a.stdin != inNone && cx.stdin == inNone {
		cx.stdin, cx.body = a.stdin, a.body
	}
	first := len(a.redirs)
	was := cx.stdin
	for _, r := range s.Redirs {
		w.redirect(r, &cx)
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(s.Redirs) > 0 && cx.stdin != was && callsExec(call) {
		a.stdin, a.body = cx.stdin, cx.body
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

// callsExec reports `exec` without a command, whose redirections last.
func callsExec(c *syntax.CallExpr) bool {
	for _, n := range c.Args {
		switch s := n.Lit(); s {
		case "exec":
			return true
		case "command", "builtin", "-", "--", "-p", "noglob", "nocorrect":
		default:
			return strings.Contains(s, "exec") || s == ""
		}
	}
	return false
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
		body := ""
		for ; piped(i); i-- {
			a.dir, a.dirKnown = dir, known
			w.op(" | ")
			a.stages = append(a.stages, len(a.seq))
			in := cx
			body = w.printed(left, body)
			in.stdin, in.body = inPipe, body
			left = spine[i].Y
			w.stmt(left, in)
		}
		a.dir, a.dirKnown = dir, known
		w.pipeline(a.stages[n:])
		a.stages = a.stages[:n]
	}
	left0 := a.dir
	for ; i >= 0; i-- {
		if piped(i) {
			// A pipe above a list cannot be: lists bind weaker.
			a.reason(rInternal)
		}
		if spine[i].Op == syntax.OrStmt {
			w.op(" || ")
			// What failed may be the cd.
			went := a.dir
			a.dir = eitherDir(went, dir)
			from := a.dir
			w.branch(func() { w.stmt(spine[i].Y, cx) })
			if a.dir == from {
				a.dir = went
			}
			continue
		}
		w.op(" && ")
		w.stmt(spine[i].Y, cx)
	}
	if a.dir != left0 {
		a.dir = eitherDir(a.dir, left0) // a cd behind && need not run
	}
}

// printed is the text that a statement prints, as far as a guess goes: what echo
// is given, or the here-document of cat.
func (w *walker) printed(s *syntax.Stmt, body string) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || w.a.light {
		return ""
	}
	if inList("head tail sort uniq grep egrep tr", call.Args[0].Lit()) {
		return body // some of what the stage before it prints
	}
	if call.Args[0].Lit() == "cat" {
		for _, r := range s.Redirs {
			var b strings.Builder
			switch {
			case r.Hdoc != nil:
				w.guessParts(&b, r.Hdoc.Parts, 0, true, 0)
				return b.String()
			case r.Op == syntax.WordHdoc:
				w.guessParts(&b, r.Word.Parts, 0, false, 0)
				return b.String()
			}
		}
		if len(call.Args) == 1 {
			return body // what the stage before it prints
		}
		return ""
	}
	var b strings.Builder
	w.echoed(&b, call)
	if b.Len() == 0 {
		return w.printsNames(call)
	}
	return b.String()
}
