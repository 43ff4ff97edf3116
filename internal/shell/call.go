package shell

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

// assignment is NAME=value before a command.
type assignment struct {
	name  string
	canon string
	src   string
	value word
	array bool
	index bool
	plain bool // a static value
	adds  bool // NAME+=value
	elems []word
}

// call makes a part of a simple command and finds what it runs.
func (w *walker) call(c *syntax.CallExpr, cx ctx) int {
	a := w.a
	mark := len(a.scratch)
	var assigns []assignment
	for _, n := range c.Assigns {
		assigns = append(assigns, w.assign(n, cx))
	}
	if cx.time != "" {
		a.scratch = append(a.scratch, text("time"))
		if cx.time != "time" {
			a.scratch = append(a.scratch, text("-p"))
		}
	}
	w.push(c.Args, cx)
	words := a.scratch[mark:]
	var pos syntax.Pos
	if len(c.Assigns) > 0 || len(c.Args) > 0 {
		pos = c.Pos()
	}
	if cx.time != "" {
		pos = cx.timePos
		if len(c.Args) > 0 && len(assigns) == 0 {
			if n := len(words) - 1; n >= 1 {
				if first := &words[min(n, strings.Count(cx.time, " ")+1)]; strings.HasPrefix(first.flat(), "-") {
					a.reason(rTimeOption)
				}
			}
		}
	}
	id := w.emit(words, assigns, int(pos.Offset()), cx)
	a.scratch = a.scratch[:mark]
	return id
}

// assign evaluates an assignment.
func (w *walker) assign(n *syntax.Assign, cx ctx) assignment {
	as := assignment{}
	if n.Name == nil { // a word of declare
		as.value = w.word(n.Value, cx)
		as.src, as.canon = as.value.src, as.value.canon()
		return as
	}
	as.name = n.Name.Value
	if !syntax.ValidName(as.name) {
		// The parser takes 0=x[ for an assignment; shells run a program of that name.
		w.a.reason(rCmdName)
	}
	if n.Index != nil {
		as.index = true
		w.index(n.Index, cx)
	}
	if n.Naked {
		as.src = w.slice(n.Pos(), n.End())
		as.canon = as.src
		return as
	}
	as.plain, as.adds = !as.index, n.Append
	if n.Array != nil {
		as.array = true
		for _, e := range n.Array.Elems {
			if e.Index != nil {
				w.index(e.Index, cx)
			}
			if e.Value == nil {
				continue
			}
			v := w.word(e.Value, cx)
			as.plain = as.plain && v.is(wStatic)
			as.elems = append(as.elems, v)
		}
	} else if n.Value != nil {
		as.value = w.word(n.Value, cx)
		as.plain = as.plain && as.value.is(wStatic)
		as.elems = append(as.elems, as.value)
	} else {
		as.value = word{wflag: wStatic}
		as.elems = append(as.elems, as.value)
	}
	as.src = strings.ReplaceAll(w.slice(n.Pos(), n.End()), "\\\n", "")
	as.canon = as.src
	if n.Array == nil && !as.index && (n.Value == nil || as.value.is(wStatic) && !as.value.is(wTilde)) {
		op := "="
		if n.Append {
			op = "+="
		}
		as.canon = as.name + op
		if as.value.val != "" {
			as.canon += quote(as.value.val)
		}
	}
	return as
}

// timeAlone makes the part of a `time` that stands before a compound command.
func (w *walker) timeAlone(cx ctx) {
	words := []word{text("time")}
	if cx.time != "time" {
		words = append(words, text("-p"))
	}
	w.emit(words, nil, int(cx.timePos.Offset()), ctx{})
}

// decl makes a part of export, declare and their kind.
func (w *walker) decl(c *syntax.DeclClause, cx ctx) int {
	a := w.a
	mark := len(a.scratch)
	pos := c.Pos()
	if cx.time != "" {
		a.scratch = append(a.scratch, text("time"))
		pos = cx.timePos
	}
	a.scratch = append(a.scratch, text(c.Variant.Value))
	var names []assignment
	for _, n := range c.Args {
		as := w.assign(n, cx)
		if as.name != "" && !n.Naked {
			names = append(names, as)
		}
		a.scratch = append(a.scratch, as.word(n.Naked))
	}
	id := w.emitWith(a.scratch[mark:], nil, int(pos.Offset()), cx, names)
	a.scratch = a.scratch[:mark]
	return id
}

// word is an assignment as an argument of declare.
func (as *assignment) word(naked bool) word {
	switch {
	case as.name == "":
		return as.value
	case naked:
		v := word{val: as.src, src: as.src, wflag: wLead}
		if !as.index {
			v.wflag |= wStatic
		}
		return v
	}
	v := word{val: as.name + "=", src: as.canon, wflag: wLead | wTilde} // not quoted as a whole
	if as.plain && !as.array {
		v.val += as.value.val
		v.wflag |= wStatic
	}
	return v
}

// let makes a part of a let command. Its words are expressions to the parser.
func (w *walker) let(c *syntax.LetClause, cx ctx) int {
	src := w.slice(c.Pos(), c.End())
	if strings.ContainsAny(src, "&|;<>()") {
		w.a.reason(rLetOps)
	}
	words := []word{text("let")}
	pos := c.Pos()
	if cx.time != "" {
		words, pos = []word{text("time"), text("let")}, cx.timePos
	}
	in := cx
	in.time = ""
	w.a.arith = true
	for _, x := range c.Exprs {
		if n, ok := x.(*syntax.Word); ok {
			v := w.word(n, in)
			w.subscript(&v)
			if !v.is(wBare) {
				v.wflag |= wTilde // spelled as written
			}
			words = append(words, v)
			continue
		}
		w.arithm(x, in)
		s := w.slice(x.Pos(), x.End())
		v := word{val: s, src: s, wflag: wLead}
		if !strings.ContainsAny(s, "$`*?[~'\"\\") {
			v.wflag |= wStatic
			if bare(s) {
				v.wflag |= wBare
			}
		}
		words = append(words, v)
	}
	return w.emit(words, nil, int(pos.Offset()), cx)
}

// emit records a simple command: a part at the top, an inner command of the
// owner in a nested script. It returns the part's id.
func (w *walker) emit(words []word, assigns []assignment, pos int, cx ctx) int {
	return w.emitWith(words, assigns, pos, cx, nil)
}

func (w *walker) emitWith(words []word, assigns []assignment, pos int, cx ctx, declared []assignment) int {
	a := w.a
	if len(words) == 0 && len(assigns) == 0 {
		return -1
	}
	id := w.owner
	var canon string
	if w.owner < 0 {
		if len(a.parts) >= maxListed {
			a.reason(rTooMany)
			a.stop = true
			return -1
		}
		id = len(a.parts)
		if id < cap(a.parts) {
			a.parts = a.parts[:id+1]
		} else {
			a.parts = append(a.parts, part{})
		}
		p := &a.parts[id]
		*p = part{pos: w.base + pos}
		w.spell(&p.Part, words, assigns, pos)
		if a.light {
			return id
		}
		canon = p.Canonical
		if p.Inner == nil {
			p.Inner = noInner
		}
	} else {
		var s model.Simple
		w.spellInner(&s, words, assigns)
		canon = s.Canonical
		if !a.addSimple(id, &s, w.via) {
			return id
		}
	}
	from := len(a.parts[id].Inner)
	if len(words) > 0 || len(assigns) > 0 {
		w.op2(canon, id, from)
	}
	at := len(a.seq) - 1
	p := pctx{cx: cx, part: id, depth: w.nest, remote: w.remote}
	w.assigned(assigns, words, p)
	w.assigned(declared, nil, p)
	if len(words) > 0 && len(assigns) > 0 {
		vars, all := a.vars, a.all
		w.lend(assigns, words)
		w.runs(words, assigns, p)
		a.vars, a.all = vars, all
	} else if len(words) > 0 {
		w.runs(words, nil, p)
	}
	if at >= 0 && at < len(a.seq) {
		a.seq[at].to = len(a.parts[id].Inner)
	}
	return id
}

// runs finds what the words of a command run.
func (w *walker) runs(words []word, assigns []assignment, p pctx) {
	a := w.a
	if len(words) > 0 {
		if len(assigns) > 0 {
			dir, known := a.dir, a.dirKnown
			w.inner(words, "assignment", p)
			a.dir, a.dirKnown = dir, known // a cd goes there once
		}
		w.peel(words, p)
	}
}
