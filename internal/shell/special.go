package shell

import "strings"

// special goes on with a command whose program needs knowledge of its own.
func (w *walker) special(do action, words []word, base string, p pctx) {
	switch do {
	case doShell:
		w.shell(words, base, p)
	case doForeignShell:
		w.foreignShell(words, p)
	case doEval:
		w.eval(words, base, p)
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
		w.make(words, p)
	case doDeferred:
		w.deferred(words, base, p)
	case doAlias:
		w.alias(words, p)
	case doHash:
		w.hash(words, p)
	case doEnable:
		w.enable(words)
	case doBind:
		w.bind(words)
	case doFc:
		w.history(words)
	case doZmodload:
		if len(words) > 1 {
			w.a.reason(rZmodload)
		}
	case doShopt:
		w.shopt(words)
	case doSet:
		w.set(words)
	case doCd:
		w.cd(words, base)
	case doTest:
		for i := 1; i < len(words); i++ {
			w.subscript(&words[i])
		}
	case doPrintf:
		w.printf(words, base)
	case doRead:
		for i := 1; i < len(words); i++ {
			w.subscript(&words[i])
			w.assignName(words[i].flat())
			if s := words[i].flat(); p.cx.body != "" && base == "read" && s != "" && nameStart(s[0]) {
				w.setLoop(s, fieldWords(p.cx.body))
			}
		}
	case doDeclare:
		w.declare(words, base)
	case doMapfile:
		w.mapfile(words, base, p)
	case doCompgen:
		w.compgen(words, base, p)
	case doSu:
		w.su(words, p)
	case doDockerRun:
		if !w.runner(words, base, p) {
			w.dockerRun(words, p)
		}
	case doRunner:
		w.runner(words, base, p)
	case doScripts:
		w.scripts(words, base, p)
	case doTmux:
		w.tmux(words, base, p)
	case doEnv:
		w.envSplit(words, p)
	case doSudo:
		w.sudoEdit(words, p)
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
	out.node = trimNode(v.node, prefix)
	if _, tail, ok := strings.Cut(v.src, prefix); ok {
		out.src = tail
	}
	return out, true
}
