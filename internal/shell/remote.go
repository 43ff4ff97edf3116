package shell

import (
	"slices"
	"strings"
)

func (w *walker) ssh(words []word, base string, p pctx) {
	o := opts{optSpec: optSpec{arg: "BbcDEeFIiJLlmOoPpQRSWw", long: "ssh port server client predict bind-server family"}, words: words[1:]}
	for {
		name, kind := o.next()
		if kind == optEnd {
			return
		}
		if name == "-o" && o.has {
			w.sshOption(&o.value, p)
		}
		if name == "--ssh" && o.has {
			w.scriptWord(&o.value, base, p, rOptionExec, nil)
		}
		if kind == optOperand {
			break
		}
	}
	rest := words[o.at+2:]
	for len(rest) > 0 && rest[0].is(wStatic) && rest[0].val == "--" {
		rest = rest[1:]
	}
	// Options may follow the host.
	for len(rest) > 0 && rest[0].is(wStatic) && len(rest[0].val) > 1 && rest[0].val[0] == '-' {
		n := 1
		if c := rest[0].val[1]; len(rest[0].val) == 2 && strings.IndexByte("BbcDEeFIiJLlmOoPpQRSWw", c) >= 0 && len(rest) > 1 {
			n = 2
			if c == 'o' {
				w.sshOption(&rest[1], p)
			}
		}
		rest = rest[n:]
	}
	p.remote = true
	w.joined1(rest, base, p)
}

// sshOption reads an ssh configuration option that runs a program.
func (w *walker) sshOption(v *word, p pctx) {
	name, value, ok := strings.Cut(v.flat(), "=")
	if !ok {
		name, value, _ = strings.Cut(strings.TrimSpace(v.flat()), " ")
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand", "include", "match", "pkcs11provider", "securitykeyprovider", "xauthlocation", "smartcarddevice":
		if !v.is(wStatic) {
			w.a.reason(rOptionExec)
		}
		w.script(strings.TrimSpace(value), "ssh", p, nil)
	}
}

func (w *walker) su(words []word, p pctx) {
	o := opts{optSpec: optSpec{arg: "cgGswT", long: "command session-command group supp-group shell whitelist-environment"}, words: words[1:]}
	found := false
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if (name == "-c" || name == "--command" || name == "--session-command") && o.has {
			found = true
			v := o.value
			w.scriptWord(&v, "su", p, rShellCDynamic, nil)
		}
		if (name == "-s" || name == "--shell") && o.has {
			w.inner([]word{o.value}, "su", p)
		}
	}
	if !found {
		w.shellStdin(p)
	}
}

func (w *walker) deferred(words []word, base string, p pctx) {
	if base == "crontab" {
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); s == "-l" || s == "-r" || s == "-e" {
				return
			}
		}
		if len(words) > 1 && words[len(words)-1].flat() != "-" {
			return
		}
	} else {
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); strings.HasPrefix(s, "-") && strings.ContainsAny(s, "flcrdV") {
				return
			}
		}
	}
	w.a.reason(rDeferredStdin)
	for line := range strings.SplitSeq(p.cx.body, "\n") {
		if base == "crontab" {
			fields := strings.Fields(line)
			if len(fields) > 5 {
				line = strings.Join(fields[5:], " ")
			}
		}
		w.script(line, base, p, nil)
	}
}

func (w *walker) scripts(words []word, base string, p pctx) {
	o := opts{optSpec: optSpec{arg: "nxewcmMrpsuSLDNPi", long: "exec watch ext delay names prefix prefix-colors max-processes ignore signal prepare setup cleanup conclude shell runs warmup command-name export-json export-markdown export-csv min-runs max-runs parameter-list parameter-scan config"}, words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		switch {
		case kind == optOperand && base != "nodemon":
			w.scriptWord(&o.value, base, p, rShellCDynamic, nil)
		case o.has && slices.Contains([]string{"-x", "--exec", "-p", "-c", "--prepare", "--setup", "--cleanup", "--conclude"}, name):
			w.scriptWord(&o.value, base, p, rShellCDynamic, nil)
		}
	}
}

// tmux runs the commands that it is given in a window, or types them.
func (w *walker) tmux(words []word, base string, p pctx) {
	o := opts{optSpec: optSpec{arg: "LSfcnstxyFeT"}, words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		_ = name
		if kind != optOperand || !o.value.is(wStatic) {
			if kind == optOperand {
				w.a.reason(rShellCDynamic)
			}
			continue
		}
		switch s := o.value.val; s {
		case "new", "new-session", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawn-window", "run-shell", "run",
			"send-keys", "send", "if-shell", "pipe-pane", "popup", "display-popup", "attach", "kill-session", "kill-server", "ls":
		default:
			w.script(strings.TrimSuffix(strings.TrimSuffix(s, "C-m"), "\n"), base, p, nil)
		}
	}
}

// sudoEdit: sudo -e writes files.
func (w *walker) sudoEdit(words []word, p pctx) {
	o := opts{optSpec: programs["sudo"].wrap.optSpec, words: words[1:]}
	edit := false
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		edit = edit || name == "-e" || name == "--edit"
		if kind == optOperand {
			if !edit {
				return
			}
			w.fileWord(&o.value, writes, "sudo", p)
		}
	}
}

// envSplit: env -S splits a string into words.
func (w *walker) envSplit(words []word, p pctx) {
	o := opts{optSpec: programs["env"].wrap.optSpec, words: words[1:]}
	for name, kind := o.next(); kind == optOption; name, kind = o.next() {
		if name != "-S" && name != "--split-string" || !o.has {
			continue
		}
		if !o.value.is(wStatic) {
			w.a.reason(rShellCDynamic)
		}
		split, ok := splitEnv(o.value.flat())
		if !ok {
			split = strings.Fields(unquoter.Replace(o.value.flat()))
			w.a.reason(rCmdName)
		}
		again := []word{text("env")}
		for _, s := range split {
			again = append(again, text(s))
		}
		again = append(again, words[min(o.i+1, len(words)):]...)
		p.depth++
		if p.depth <= maxNest {
			w.unwrap(again, "env", programs["env"].wrap, p)
			w.envSplit(again, p)
		}
		return
	}
}

// splitEnv splits a string as env -S does: like a shell, but a backslash works
// inside single quotes too. It gives up on variables, comments and `\c`.
func splitEnv(s string) (words []string, ok bool) {
	var b strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if in {
				words = append(words, b.String())
				b.Reset()
				in = false
			}
		case c == '\\':
			if i++; i >= len(s) {
				return words, false
			}
			in = true
			switch e := s[i]; {
			case quote == '\'':
				if e != '\\' && e != '\'' {
					b.WriteByte('\\')
				}
				b.WriteByte(e)
			case strings.IndexByte(`"#$'\`, e) >= 0:
				b.WriteByte(e)
			default:
				return words, false
			}
		case c == '$' && quote != '\'', c == '#' && !in:
			return words, false
		default:
			in = true
			b.WriteByte(c)
		}
	}
	if in {
		words = append(words, b.String())
	}
	return words, quote == 0
}

// make runs its recipes with the SHELL that it is given.
func (w *walker) make(words []word, p pctx) {
	for i := 1; i < len(words); i++ {
		if v, ok := cutWord(&words[i], "SHELL="); ok {
			w.scriptWord(&v, "SHELL", p, rOptionExec, nil)
		}
		if v, ok := cutWord(&words[i], "--eval="); ok {
			w.makeEval(&v, p)
		}
	}
}

// makeEval reads $(shell ...) in a make expression.
func (w *walker) makeEval(v *word, p pctx) {
	s := v.flat()
	for {
		i := strings.Index(s, "$(shell ")
		if i < 0 {
			break
		}
		s = s[i+len("$(shell "):]
		body, _, _ := strings.Cut(s, ")")
		w.script(body, "make", p, nil)
	}
	if i := strings.Index(v.flat(), "SHELL"); i >= 0 || !v.is(wStatic) {
		w.a.reason(rOptionExec)
	}
}
