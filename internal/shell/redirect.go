package shell

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

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
				w.values(&v, func(s string, _ bool) { cx.body += s + "\n" })
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
		if !v.is(wStatic) || v.val == "" || v.val[0] == '-' || strings.ContainsAny(w.slice(r.Word.Pos(), r.Word.End()), "$`()<>{}\\'\"") {
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
			cx.stdin, cx.body = inFile, w.feed(&v)
			if v.is(wStatic) && v.val == "/dev/null" {
				cx.stdin = inNone
			}
		}
	}
	w.addRedirect(&v, access, int(r.OpPos.Offset()))
}

func redirectAccess(acc model.Access) access {
	if acc == model.AccessRead {
		return reads
	}
	return writes
}

func (w *walker) addRedirect(v *word, access model.Access, pos int) {
	a := w.a
	if w.owner >= 0 && w.remote {
		return
	}
	r := redirectAt{pos: w.base + pos}
	r.Access, r.Dir, r.DirKnown, r.Part = access, firstDir(a.dir), a.dirKnown, ownRedirect
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
			w.a.addFile(p, access, ">", -1, false)
		} else if w.argumentWord(v, redirectAccess(access), ">"); !w.valued(v, access, ">", -1) {
			w.knownEnds(v, access, ">", -1)
		}
	} else if strings.Contains(a.dir, dirSep) {
		a.addFile(r.Value, access, ">", -1, false)
	}
	w.netRedirect(v)
}
