package shell

import "strings"

// Builtins of shells that run something, or change what later text means.

// alias: later names can mean the body of an alias.
func (w *walker) alias(words []word, p pctx) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if !words[i].is(wStatic) {
			a.reason(rAlias)
		}
		if _, body, ok := strings.Cut(words[i].flat(), "="); ok {
			a.reason(rAlias)
			w.script(strings.Trim(body, `"'`), "alias", p, nil)
		}
	}
}

// hash -p makes a name run another program; zsh sets it with `=`.
func (w *walker) hash(words []word, p pctx) {
	for i := 1; i < len(words); i++ {
		s := words[i].flat()
		if !words[i].is(wStatic) || strings.Contains(s, "=") {
			w.a.reason(rHash)
		}
		if strings.HasPrefix(s, "-") && strings.Contains(s, "p") && i+1 < len(words) {
			w.a.reason(rHash)
			name := text(baseName(words[i+1].flat()))
			w.inner([]word{name}, "hash", p)
			w.inner(append([]word{name}, words[min(i+3, len(words)):]...), "hash", p)
			return
		}
	}
}

// enable loads, removes and replaces builtins.
func (w *walker) enable(words []word) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if s := words[i].flat(); !words[i].is(wStatic) || strings.HasPrefix(s, "-") && strings.ContainsAny(s, "fndar") {
			a.reason(rEnable)
		}
	}
}

// bind makes keys run commands.
func (w *walker) bind(words []word) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if s := words[i].flat(); !words[i].is(wStatic) || strings.HasPrefix(s, "-x") || strings.HasPrefix(s, "-f") || strings.HasPrefix(s, "-s") || strings.Contains(s, ":") {
			a.reason(rBind)
		}
	}
}

// history: fc runs commands again unless it only lists them.
func (w *walker) history(words []word) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if s := words[i].flat(); strings.HasPrefix(s, "-") && strings.Contains(s, "l") {
			return
		}
	}
	a.reason(rFc)
}

// shopt: options that change how the rest of the text is read.
func (w *walker) shopt(words []word) {
	a := w.a
	for i := 1; i < len(words); i++ {
		s := strings.ToLower(strings.ReplaceAll(words[i].flat(), "_", ""))
		switch {
		case strings.Contains(s, "alias"):
			a.reason(rAlias)
		case !words[i].is(wStatic), strings.Contains(s, "magicequal"), strings.Contains(s, "extendedglob"),
			strings.Contains(s, "promptsubst"), strings.Contains(s, "cshjunkie"), strings.Contains(s, "globalias"), strings.Contains(s, "posix"),
			strings.Contains(s, "shfileexpansion"), strings.Contains(s, "ksharrays"), strings.Contains(s, "shwordsplit"), strings.Contains(s, "globassign"),
			strings.Contains(s, "autocd"), strings.Contains(s, "ignorebraces"), strings.Contains(s, "shortloops"), strings.Contains(s, "rcquotes"):
			a.reason(rDialect)
		}
	}
}

// printf -v and its kind evaluate the name of the variable.
func (w *walker) printf(words []word, base string) {
	a := w.a
	lost := false
	for i := 1; i < len(words); i++ {
		s := words[i].flat()
		if lost {
			w.subscript(&words[i])
		}
		lost = lost || !words[i].is(wStatic) // may become -v
		if s == "-v" && i+1 < len(words) {
			w.subscript(&words[i+1])
			w.assignName(words[i+1].flat())
			w.setVar(words[i+1].flat(), words[i+2:])
		} else if strings.HasPrefix(s, "-v") {
			v := words[i]
			v.val = strings.TrimPrefix(v.val, "-v")
			w.subscript(&v)
			w.assignName(v.val)
		}
		if base == "print" && strings.HasPrefix(s, "-") && strings.ContainsAny(s, "PzsS") {
			a.reason(rPromptExpand)
		}
	}
}

// mapfile runs a callback for every line.
func (w *walker) mapfile(words []word, base string, p pctx) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if v := &words[i]; v.is(wSplit) || !v.is(wStatic) && (v.val == "" || v.val[0] == '-') {
			a.reason(rMapfileC)
		}
	}
	o := opts{optSpec: optSpec{arg: "dnOsuCc"}, words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if name == "-C" && o.has {
			a.reason(rMapfileC)
			w.scriptWord(&o.value, base, p, rMapfileC, nil)
		}
		if kind == optOperand {
			w.subscript(&o.value)
			w.assignName(o.value.flat())
		}
	}
}

// compgen and complete expand words and run commands.
func (w *walker) compgen(words []word, base string, p pctx) {
	a := w.a
	for i := 1; i < len(words); i++ {
		if !words[i].is(wStatic) {
			a.reason(rCompgen)
			w.script(": "+strings.Join(w.guessWord(&words[i], 0), " "), base, p, nil)
		} else if a.seen[rCompgen] && runsWhenExpanded(words[i].val) {
			w.script(": "+words[i].val, base, p, nil)
		}
	}
	o := opts{optSpec: optSpec{arg: "oAGWFCXPS"}, words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if (name == "-C" || name == "-W" || name == "-F") && o.has {
			a.reason(rCompgen)
			if name == "-W" {
				w.script(": "+o.value.flat(), base, p, nil)
			} else {
				w.scriptWord(&o.value, base, p, rCompgen, nil)
			}
		}
	}
}

// eval runs its words, joined.
func (w *walker) eval(words []word, base string, p pctx) {
	args := words[1:]
	if len(args) > 0 && args[0].is(wStatic) && args[0].val == "--" {
		args = args[1:]
	}
	if len(args) > 0 {
		v := w.joinWords(args)
		w.scriptWord(&v, base, p, rEvalDynamic, nil)
	}
}
