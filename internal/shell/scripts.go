package shell

import (
	"slices"
	"strings"
)

// special goes on with a command whose program needs knowledge of its own.
func (w *walker) special(do action, words []word, base string, p pctx) {
	a := w.a
	switch do {
	case doShell:
		w.shell(words, base, p)
	case doForeignShell:
		w.foreignShell(words, p)
	case doEval:
		if len(words) > 1 {
			args := words[1:]
			if args[0].is(wStatic) && args[0].val == "--" {
				args = args[1:]
			}
			if len(args) > 0 {
				v := w.joinWords(args)
				w.scriptWord(&v, base, p, rEvalDynamic, nil)
			}
		}
	case doTrap:
		w.trap(words, p)
	case doSource:
		w.sourced(words, p)
	case doSSH:
		w.ssh(words, base, p)
	case doXargs:
		w.xargs(words, p)
	case doParallel:
		w.parallel(words, p)
	case doFind:
		w.find(words, p)
	case doFd:
		w.fd(words, p)
	case doGit:
		w.git(words, p)
	case doInterp:
		w.interpreter(words, base, p)
	case doAwk:
		w.awk(words, p)
	case doSed:
		w.sed(words, p)
	case doVim:
		w.vim(words, p)
	case doMake:
		for i := 1; i < len(words); i++ {
			if v, ok := cutWord(&words[i], "SHELL="); ok {
				w.scriptWord(&v, "SHELL", p, rOptionExec, nil)
			}
			if v, ok := cutWord(&words[i], "--eval="); ok {
				w.makeEval(&v, p)
			}
		}
	case doDeferred:
		w.deferred(words, base, p)
	case doAlias:
		for i := 1; i < len(words); i++ {
			if _, body, ok := strings.Cut(words[i].flat(), "="); ok {
				a.reason(rAlias)
				w.script(strings.Trim(body, `"'`), "alias", p, nil)
			}
		}
	case doHash:
		for i := 1; i+1 < len(words); i++ {
			if strings.HasPrefix(words[i].flat(), "-") && strings.Contains(words[i].flat(), "p") {
				a.reason(rHash)
				w.inner([]word{text(baseName(words[i+1].flat()))}, "hash", p)
				w.inner(append([]word{text(baseName(words[i+1].flat()))}, words[min(i+3, len(words)):]...), "hash", p)
				return
			}
			if strings.Contains(words[i].flat(), "=") {
				a.reason(rHash)
			}
		}
		if n := len(words); n > 1 && strings.Contains(words[n-1].flat(), "=") {
			a.reason(rHash)
		}
	case doEnable:
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); !words[i].is(wStatic) || strings.HasPrefix(s, "-") && strings.ContainsAny(s, "fndar") {
				a.reason(rEnable)
			}
		}
	case doBind:
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); !words[i].is(wStatic) || strings.HasPrefix(s, "-x") || strings.HasPrefix(s, "-f") || strings.HasPrefix(s, "-s") || strings.Contains(s, ":") {
				a.reason(rBind)
			}
		}
	case doFc:
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); strings.HasPrefix(s, "-") && strings.Contains(s, "l") {
				return
			}
		}
		a.reason(rFc)
	case doZmodload:
		if len(words) > 1 {
			a.reason(rZmodload)
		}
	case doShopt:
		for i := 1; i < len(words); i++ {
			s := strings.ToLower(strings.ReplaceAll(words[i].flat(), "_", ""))
			switch {
			case strings.Contains(s, "alias"):
				a.reason(rAlias)
			case !words[i].is(wStatic), strings.Contains(s, "extglob"), strings.Contains(s, "magicequal"), strings.Contains(s, "extendedglob"),
				strings.Contains(s, "promptsubst"), strings.Contains(s, "cshjunkie"), strings.Contains(s, "globalias"), strings.Contains(s, "posix"),
				strings.Contains(s, "shfileexpansion"), strings.Contains(s, "ksharrays"), strings.Contains(s, "shwordsplit"), strings.Contains(s, "globassign"),
				strings.Contains(s, "autocd"), strings.Contains(s, "ignorebraces"), strings.Contains(s, "shortloops"), strings.Contains(s, "rcquotes"):
				a.reason(rDialect)
			}
		}
	case doSet:
		w.set(words)
	case doCd:
		w.cd(words, base)
	case doTest:
		for i := 1; i < len(words); i++ {
			w.subscript(&words[i])
		}
	case doPrintf:
		for i := 1; i < len(words); i++ {
			s := words[i].flat()
			if s == "-v" && i+1 < len(words) {
				w.subscript(&words[i+1])
				w.assignName(words[i+1].flat())
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
	case doRead:
		for i := 1; i < len(words); i++ {
			w.subscript(&words[i])
			w.assignName(words[i].flat())
		}
	case doDeclare:
		w.declare(words, base)
	case doUnset:
		for i := 1; i < len(words); i++ {
			w.subscript(&words[i])
		}
	case doMapfile:
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
	case doCompgen:
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
	case doSu:
		w.su(words, p)
	case doDockerRun:
		if !w.runner(words, base, p) {
			w.dockerRun(words, p)
		}
		w.remoteOptions(words, base, p)
	case doRunner:
		w.runner(words, base, p)
		w.remoteOptions(words, base, p)
	case doTar, doOptions:
		w.remoteOptions(words, base, p)
	case doScripts:
		w.scripts(words, base, p)
	case doTmux:
		w.tmux(words, base, p)
	case doEnv:
		w.envSplit(words, p)
	case doSudo:
		w.sudoEdit(words, p)
	}
	if do != doTar && do != doOptions && do != doRunner && do != doDockerRun {
		if prog := lookup(base); prog != nil && prog.runs != nil {
			w.remoteOptions(words, base, p)
		}
	}
}

// cutWord is the rest of a word behind a literal prefix.
func cutWord(v *word, prefix string) (word, bool) {
	if !strings.HasPrefix(v.val, prefix) {
		return word{}, false
	}
	out := *v
	out.val = v.val[len(prefix):]
	if out.is(wStatic) {
		return text(out.val), true
	}
	if _, tail, ok := strings.Cut(v.src, prefix); ok {
		out.src = tail
	}
	return out, true
}

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
	arith := a.stop
	in := walker{a: a, text: s, g: gBash, zsh: w.zsh, owner: p.part, via: via, nest: p.depth + 1, base: w.base, remote: w.remote || p.remote}
	cx := ctx{stdin: p.cx.stdin, body: p.cx.body, depth: p.cx.depth + 1, fn: p.cx.fn}
	in.read(cx, via == "eval")
	if strings.ContainsAny(s, "&<>({[$") && via != "bash" && via != "guess" {
		in.g = gPOSIX
		if f, err := parse(s, gPOSIX); err == nil { // sh is dash on some machines
			seq := a.seq
			a.seq = nil
			in.stmts(f.Stmts, cx)
			a.seq = seq
		}
	}
	a.stop = arith || a.stop && a.stmts > maxStmts
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
		if k := strings.LastIndexByte(s, '-'); k >= 0 && strings.IndexByte(s[k:], 'c') > 0 {
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
	w.scriptWord(v, "trap", p, rTrapDynamic, nil)
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
		if p.cx.body != "" {
			w.script(p.cx.body, "source", p, nil)
		}
	}
}

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
	p.cx.stdin = inNone
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
	o := opts{optSpec: optSpec{arg: "LSfcnstxyFeTdhp"}, words: words[1:]}
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
		split, err := Words(o.value.flat())
		if err != nil {
			split = strings.Fields(o.value.flat())
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
