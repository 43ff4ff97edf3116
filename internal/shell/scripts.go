package shell

import "strings"

// scriptWord reads a word that is a script for a shell. If it is not static,
// why is the reason, and what it could be is read for deny rules.
func (w *walker) scriptWord(v *word, via string, p pctx, why reason, argv []word) {
	if v.is(wStatic) {
		if p.hole != "" && strings.Contains(v.val, p.hole) {
			w.a.reason(p.why)
		}
		w.script(v.val, via, p, argv)
		return
	}
	w.a.reason(why)
	w.a.runsArgs = w.a.runsArgs || p.cx.fn
	guess := v.val
	if v.node != nil {
		guess = strings.Join(w.guessWord(v, 0), " ")
	}
	if guess != "" {
		w.script(guess, via, p, argv)
	}
}

// script reads a script inside a command. Its commands become inner commands.
func (w *walker) script(s, via string, p pctx, argv []word) {
	a := w.a
	if strings.TrimSpace(s) == "" {
		return
	}
	if p.depth >= maxNest {
		a.reason(rWrapDepth)
		return
	}
	if a.steps++; a.steps > maxSteps {
		a.reason(rTooMany)
		return
	}
	if !checkText(s, func(reason) { a.reason(rScript) }) {
		return
	}
	if argv != nil {
		old := a.vars
		a.vars = positional(old, argv)
		defer func() { a.vars = old }()
	}
	stopped := a.stop
	in := walker{a: a, text: s, g: gBash, zsh: w.zsh, owner: p.part, via: via, nest: p.depth + 1, base: w.base, remote: w.remote || p.remote}
	cx := ctx{stdin: p.cx.stdin, body: p.cx.body, depth: p.cx.depth + 1, fn: p.cx.fn}
	// A script inside one that is read as dash reads it is read so as well, and
	// not twice again: the work must not double with every level.
	posix := w.g == gPOSIX && w.owner >= 0
	if !posix {
		in.read(cx, via == "eval")
	}
	if posix || via != "bash" && strings.ContainsAny(s, "&<>({[$") {
		in.readPOSIX(s, cx)
	}
	a.stop = stopped || a.stop && a.stmts > maxStmts
}

// readPOSIX reads a script as dash does, for it is sh on some machines: `a &>f b`
// are two commands there.
func (w *walker) readPOSIX(s string, cx ctx) {
	w.g = gPOSIX
	f, err := parse(s, gPOSIX)
	if err != nil && strings.Contains(s, "&>") {
		w.text = strings.ReplaceAll(s, "&>", "& >")
		f, err = parse(w.text, gPOSIX)
	}
	if err != nil {
		return
	}
	seq := w.a.seq
	w.a.seq = nil
	w.stmts(f.Stmts, cx)
	w.a.seq = seq
}

// positional are variables with the arguments of a script.
func positional(old map[string][]string, argv []word) map[string][]string {
	vars := make(map[string][]string, len(old)+len(argv)+2)
	for k, v := range old {
		vars[k] = v
	}
	var all []string
	for i := range argv {
		s := argv[i].flat()
		if i < 10 {
			vars["0123456789"[i:i+1]] = []string{s}
		}
		if i > 0 {
			all = append(all, s)
		}
	}
	vars["@"], vars["*"] = all, all
	return vars
}

// shell goes on with a shell: a script in its words, in a file, or on its input.
func (w *walker) shell(words []word, base string, p pctx) {
	a := w.a
	cflag, sflag, lost := false, false, false
	i := 1
	for ; i < len(words); i++ {
		v := &words[i]
		if v.is(wSplit) && !v.is(wStatic) {
			a.reason(rShellCDynamic)
			lost = true
			continue
		}
		s := v.val
		if !v.is(wStatic) && (s == "-" || s == "+" || s == "" && !strings.Contains(v.src, "/") && i+1 < len(words)) {
			a.reason(rShellCDynamic) // may become -c
			lost = true
			continue
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			if s == "-" && v.is(wStatic) { // ends the options
				i++
			}
			break
		}
		if !v.is(wStatic) {
			a.reason(rShellCDynamic)
			continue
		}
		if s == "--" {
			i++
			break
		}
		if strings.HasPrefix(s, "--") {
			switch s {
			case "--rcfile", "--init-file":
				i++
				a.reason(rSourceDynamic)
			case "--emulate":
				i++
			case "--version", "--help", "--dump-strings", "--dump-po-strings":
				return
			}
			continue
		}
		for _, c := range []byte(s[1:]) {
			switch c {
			case 'c':
				cflag = cflag || s[0] == '-'
			case 's':
				sflag = sflag || s[0] == '-'
			case 'o', 'O':
				if i+1 < len(words) && !strings.HasPrefix(words[i+1].val, "-") {
					i++
				}
			}
		}
	}
	if lost {
		w.lostScript(words, base, p)
	}
	switch {
	case cflag && i < len(words):
		argv := words[i+1:]
		if len(argv) == 0 {
			argv = []word{text(base)}
		}
		if p.input && words[i].is(wStatic) && len(words) == i+1 && strings.Contains(words[i].val, "$0") {
			a.reason(rXargsShell)
		}
		w.scriptWord(&words[i], base, p, rShellCDynamic, argv)
	case cflag && p.input:
		a.reason(rXargsShell)
	case i >= len(words) || sflag:
		if p.input {
			a.reason(rXargsShell)
		}
		w.shellStdin(p)
	default:
		w.scriptFile(&words[i], p)
	}
}

// lostScript reads the script behind an option -c that an expansion hides.
func (w *walker) lostScript(words []word, base string, p pctx) {
	for i := 1; i+1 < len(words); i++ {
		s := words[i].flat()
		if k := strings.LastIndexByte(s, '-'); k >= 0 && strings.IndexByte(s[k:], 'c') > 0 || !words[i].is(wStatic) {
			w.scriptWord(&words[i+1], base, p, rShellCDynamic, nil)
		}
	}
}

// scriptFile looks at the file that a shell is given to run.
func (w *walker) scriptFile(v *word, p pctx) {
	s := v.val
	switch {
	case v.is(wProc):
		w.a.reason(rShellStdin)
		w.script(w.feed(v), "stdin", p, nil)
	case v.is(wStatic) && (s == "-" || strings.HasPrefix(s, "/dev/") || strings.HasPrefix(s, "/proc/")):
		if p.cx.stdin != inNone || p.cx.fn || s != "/dev/stdin" && s != "-" {
			w.a.reason(rShellStdin)
		}
	case v.is(wSplit), v.is(wGlob):
		w.a.reason(rSourceDynamic)
	}
}

// shellStdin: a shell without a script runs what it reads.
func (w *walker) shellStdin(p pctx) {
	if p.cx.stdin == inNone && !p.cx.fn || p.remote && p.cx.stdin == inNone {
		return
	}
	w.a.reason(rShellStdin)
	if p.cx.body != "" {
		body := p.cx.body
		p.cx.body = ""
		w.script(body, "stdin", p, nil)
	}
}

func (w *walker) foreignShell(words []word, p pctx) {
	for i := 1; i < len(words); i++ {
		s := strings.ToLower(words[i].flat())
		if strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "-v") && !strings.HasPrefix(s, "--v") && !strings.HasPrefix(s, "--help") ||
			strings.HasPrefix(s, "/c") || strings.HasPrefix(s, "/k") {
			w.a.reason(rForeignShell)
			if i+1 < len(words) {
				w.script(words[i+1].flat(), words[0].val, p, nil)
			}
		}
	}
	if len(words) == 1 && (p.cx.stdin != inNone || p.cx.fn) {
		w.a.reason(rShellStdin)
	}
}

func (w *walker) trap(words []word, p pctx) {
	i := 1
	for ; i < len(words) && words[i].is(wStatic) && strings.HasPrefix(words[i].val, "-") && words[i].val != "-"; i++ {
		if words[i].val == "--" {
			i++
			break
		}
	}
	if len(words)-i < 2 {
		if i < len(words) && !words[i].is(wStatic) {
			w.a.reason(rTrapDynamic)
		}
		return
	}
	v := &words[i]
	if v.is(wStatic) && (v.val == "-" || v.val == "") {
		return
	}
	// It runs wherever the text has gone by then.
	dir, known := w.a.dir, w.a.dirKnown
	w.a.dir, w.a.dirKnown = "", false
	w.scriptWord(v, "trap", p, rTrapDynamic, nil)
	w.a.dir, w.a.dirKnown = dir, known
}

// sourced looks at the file that source reads.
func (w *walker) sourced(words []word, p pctx) {
	i := 1
	for ; i < len(words) && words[i].is(wStatic) && words[i].val == "--"; i++ {
	}
	if i >= len(words) {
		return
	}
	v := &words[i]
	if _, home := w.homePath(v); home {
		return
	}
	if !v.is(wStatic) || v.is(wGlob|wBrace) || v.val == "-" || strings.HasPrefix(v.val, "/dev/") || strings.HasPrefix(v.val, "/proc/") {
		w.a.reason(rSourceDynamic)
		w.script(p.cx.body, "source", p, nil)
		w.script(w.feed(v), "source", p, nil)
	}
}
