package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Guesses serve deny rules only: what a dynamic word could become if unset
// variables vanish, IFS is a blank, defaults hold, and assignments in the same
// text are believed. A guess never makes anything allowed.

// maxGuess bounds the text that one guess may grow to.
const maxGuess = 8 << 10

// guess takes words with expansions for the words that they would become. keep
// leaves unknown expansions as they are written.
func (w *walker) guess(words []word, k int, keep bool) []word {
	var out []word
	size := 0
	for i := range words {
		v := &words[i]
		if v.is(wStatic) || v.node == nil {
			out = append(out, *v)
			continue
		}
		if keep {
			used := w.a.used
			w.a.used = false
			fields := w.guessWord(v, k)
			hit := w.a.used
			w.a.used = used || hit
			if !hit {
				out = append(out, *v)
				continue
			}
			for _, f := range fields {
				out = append(out, text(f))
			}
			continue
		}
		for _, f := range w.guessWord(v, k) {
			if size += len(f); size > maxGuess {
				return out
			}
			out = append(out, text(f))
		}
	}
	return out
}

// guessWord is the guess of one word.
func (w *walker) guessWord(v *word, k int) []string {
	if v.is(wStatic) || v.node == nil {
		return []string{v.val}
	}
	var b strings.Builder
	w.guessParts(&b, v.node.Parts, k, false, 0)
	s := b.String()
	if len(s) > maxGuess {
		s = s[:maxGuess]
	}
	return strings.Fields(s)
}

func (w *walker) guessParts(b *strings.Builder, parts []syntax.WordPart, k int, dq bool, depth int) {
	if depth > 8 || b.Len() > maxGuess {
		return
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, dq)
		case *syntax.SglQuoted:
			if !p.Dollar {
				b.WriteString(p.Value)
				continue
			}
			s, _ := ansiC(nil, p.Value)
			b.Write(s)
		case *syntax.DblQuoted:
			w.guessParts(b, p.Parts, k, true, depth+1)
		case *syntax.ParamExp:
			w.guessParam(b, p, k, dq, depth)
		case *syntax.CmdSubst:
			w.guessOutput(b, p)
		}
	}
}

func (w *walker) guessParam(b *strings.Builder, p *syntax.ParamExp, k int, dq bool, depth int) {
	if p.Param == nil || p.Length {
		return
	}
	name := p.Param.Value
	values, ok := w.a.vars[name]
	switch {
	case ok && len(values) > 0:
		w.a.used = true
		if _, loop := w.a.vars[loopMark+name]; loop {
			w.a.choice = k+1 < len(values)
			b.WriteString(values[min(k, len(values)-1)])
			return
		}
		b.WriteString(strings.Join(values, " "))
	case name == "IFS":
		b.WriteByte(' ')
	case p.Exp != nil && p.Exp.Word != nil:
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
			syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			w.a.used = true
			w.guessParts(b, p.Exp.Word.Parts, k, dq, depth+1)
		}
	}
}

// guessOutput is what `$(echo words)` prints.
func (w *walker) guessOutput(b *strings.Builder, p *syntax.CmdSubst) {
	if len(p.Stmts) != 1 {
		return
	}
	if call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr); ok {
		w.echoed(b, call)
	}
}

// echoed is what echo or printf prints.
func (w *walker) echoed(b *strings.Builder, call *syntax.CallExpr) {
	if len(call.Args) < 2 {
		return
	}
	switch call.Args[0].Lit() {
	case "echo", "printf":
	default:
		return
	}
	for i, n := range call.Args[1:] {
		if i > 0 {
			b.WriteByte(' ')
		}
		w.guessParts(b, n.Parts, 0, false, 4)
	}
}

// feed is what the process substitution in a word prints.
func (w *walker) feed(v *word) string {
	if v.node == nil || len(v.node.Parts) != 1 {
		return ""
	}
	p, ok := v.node.Parts[0].(*syntax.ProcSubst)
	if !ok || len(p.Stmts) != 1 {
		return ""
	}
	return w.printed(p.Stmts[0], "")
}

// loopMark marks variables that take one of several values.
const loopMark = "\x00"

// setVar remembers the value that the text gives a variable.
func (w *walker) setVar(name string, values []word) {
	a := w.a
	if a.light || name == "" {
		return
	}
	if a.vars == nil {
		a.vars = map[string][]string{}
	}
	if len(a.vars) > 256 {
		return
	}
	if a.fn != "" && len(values) == 1 && !values[0].is(wStatic) && len(a.lets) < maxFed {
		a.lets = append(a.lets, let{fn: a.fn, name: name, v: values[0]})
	}
	var out, all []string
	for i := range values {
		v := &values[i]
		if v.is(wStatic) {
			out = append(out, v.val)
			if all != nil {
				all = append(all, v.val)
			}
		} else if v.node != nil {
			if all == nil {
				all = append(make([]string, 0, len(values)), out...)
			}
			if !w.values(v, func(s string, _ bool) { all = append(all, s) }) {
				r := reading{walker: w}
				var b strings.Builder
				r.parts(&b, v.node.Parts, false, 0)
				all = append(all, b.String())
			}
			out = append(out, strings.Join(w.guessWord(v, 0), " "))
		}
		if len(out) >= maxValues {
			break
		}
	}
	// What a name was before it may still be: an assignment need not run.
	before, known := a.all[name]
	if !known {
		before = a.vars[name]
	}
	if len(before) > 0 || all != nil {
		if all == nil {
			all = slices.Clone(out)
		}
		for _, s := range before {
			if len(all) < min(len(out)+16, maxValues) && !slices.Contains(all[:min(len(all), 8)], s) {
				all = append(all, s)
			}
		}
		if a.all == nil {
			a.all = map[string][]string{}
		}
		a.all[name] = all
	}
	a.vars[name] = out
}

// setLoop remembers the values that a loop gives a variable.
func (w *walker) setLoop(name string, values []word) {
	w.setVar(name, values)
	if w.a.vars != nil && len(values) > 1 {
		w.a.vars[loopMark+name] = nil
	}
}
