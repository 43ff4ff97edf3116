package shell

import "strings"

// Commands that get words from somewhere else: xargs, parallel, find, fd.

func (w *walker) xargs(words []word, p pctx) {
	o := opts{optSpec: optSpec{
		arg: "aEILdPsnRSJ", maybe: "eil",
		long: "arg-file delimiter max-procs max-chars max-args max-lines process-slot-var",
	}, words: words[1:]}
	p.input, p.why = true, rXargsShell
	for {
		name, kind := o.next()
		if kind == optEnd {
			return // echo
		}
		switch name {
		case "-I", "-J":
			p.hole = o.value.flat()
		case "-i", "--replace":
			if p.hole = o.value.flat(); !o.has || p.hole == "" {
				p.hole = "{}"
			}
		}
		if kind == optOption && (o.hazy() || o.has && o.value.is(wSplit)) {
			w.a.reason(rXargsShell)
		}
		if o.has && (name == "-a" || name == "--arg-file") {
			v := o.value
			w.fileWord(&v, reads, "xargs", p)
		}
		if kind == optOperand {
			break
		}
	}
	body := p.cx.body
	p.cx.stdin, p.cx.body = inNone, ""
	w.fed(words[o.at+1:], "xargs", p)
	w.fedFiles(words[o.at+1:], p.hole, bodyFields(body), p)
	if w.a.seen[rXargsShell] {
		w.script(body, "xargs", p, nil)
	}
}

// fed goes on with a command that other words are added to.
func (w *walker) fed(words []word, via string, p pctx) {
	if len(words) > 0 && p.hole != "" && words[0].is(wStatic) && strings.Contains(words[0].val, p.hole) {
		w.a.reason(p.why)
	}
	w.inner(words, via, p)
}

func (w *walker) parallel(words []word, p pctx) {
	o := opts{optSpec: optSpec{
		arg: "aCdDEIjLNPnsS", maybe: "iel",
		long: "arg-file colsep delimiter jobs max-procs max-args max-lines max-replace-args sshlogin sshloginfile results joblog timeout delay retries tmpdir workdir wd halt halt-on-error load memfree nice profile return basefile transferfile recstart recend block tagstring env rpl",
	}, words: words[1:]}
	p.input, p.why = true, rXargsShell
	p.hole = "{}"
	for {
		name, kind := o.next()
		if kind == optEnd {
			w.a.reason(rParallelStdin)
			return
		}
		if name == "-I" && o.has {
			p.hole = o.value.flat()
		}
		if kind == optOperand {
			break
		}
	}
	cmd := words[o.at+1:]
	for i := range cmd {
		if s := cmd[i].flat(); strings.HasPrefix(s, ":::") {
			if i == 0 { // the arguments are the commands
				w.a.reason(rParallelStdin)
				for k := i + 1; k < len(cmd); k++ {
					w.script(cmd[k].flat(), "parallel", p, nil)
				}
				return
			}
			w.fedFiles(cmd[:i], p.hole, flats(cmd[i+1:]), p)
			w.fedFiles(cmd[:i], "", flats(cmd[i+1:]), p)
			cmd = cmd[:i]
			break
		}
	}
	if strings.HasPrefix(cmd[0].flat(), p.hole) {
		w.a.reason(rParallelStdin)
	}
	v := w.joinWords(cmd)
	in := p
	in.hole = "" // parallel quotes what it puts in
	w.scriptWord(&v, "parallel", in, rXargsShell, nil)
	w.fed(cmd, "parallel", p)
}

func (w *walker) find(words []word, p pctx) {
	p.input, p.why, p.hole = true, rFindShell, "{}"
	p.cx.stdin = inNone
	for i := 1; i < len(words); i++ {
		switch words[i].val {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		from := i + 1
		to := from
		for to < len(words) && words[to].flat() != ";" && !(words[to].flat() == "+" && to > from && words[to-1].flat() == "{}") {
			to++
		}
		in := p
		if to > from && to < len(words) && words[to].flat() == ";" {
			in.input = false
			for _, v := range words[from:to] {
				in.input = in.input || strings.Contains(v.flat(), "{}")
			}
		}
		w.fed(words[from:to], "find", in)
		w.fedFiles(words[from:to], p.hole, found(w.knownTexts(words[1:])), p)
		i = to
	}
}

func (w *walker) fd(words []word, p pctx) {
	p.input, p.why, p.hole = true, rFindShell, "{}"
	p.cx.stdin = inNone
	for i := 1; i < len(words); i++ {
		v := words[i].val
		from := i + 1
		switch {
		case v == "-x" || v == "-X" || v == "--exec" || v == "--exec-batch":
		case strings.HasPrefix(v, "--exec=") || strings.HasPrefix(v, "--exec-batch="):
			_, s, _ := strings.Cut(v, "=")
			w.fed(append([]word{text(s)}, words[from:]...), "fd", p)
			return
		case len(v) > 2 && v[0] == '-' && v[1] != '-' && strings.ContainsAny(v, "xX"):
			k := strings.IndexAny(v, "xX")
			if k < len(v)-1 {
				w.fed(append([]word{text(v[k+1:])}, words[from:]...), "fd", p)
				return
			}
		default:
			continue
		}
		to := from
		for to < len(words) && words[to].flat() != ";" {
			to++
		}
		w.fed(words[from:to], "fd", p)
		i = to
	}
}
