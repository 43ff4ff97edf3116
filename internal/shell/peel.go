package shell

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// pctx is what is known about a command whose inner commands are looked for.
type pctx struct {
	cx     ctx
	part   int
	depth  int
	remote bool
	// input: words from somewhere else are appended to the command (xargs, find).
	input bool
	// hole is the placeholder that is replaced by such words ("{}").
	hole string
	why  reason // of holes in scripts
}

// inner records a command that is seen only through another one, and goes on
// with what that one runs.
func (w *walker) inner(words []word, via string, p pctx) {
	if len(words) == 0 {
		return
	}
	if p.depth++; p.depth > maxNest {
		w.a.reason(rWrapDepth)
		return
	}
	var s model.Simple
	w.spellInner(&s, words, nil)
	w.a.addSimple(p.part, &s, via)
	w.peel(words, p)
}

func (w *walker) spellInner(s *model.Simple, words []word, assigns []assignment) {
	s.Text, s.Canonical, s.Flat = w.spellings(words, assigns)
	s.Program, s.Args = programOf(words)
}

// addSimple adds an inner command to a part, once.
func (a *analysis) addSimple(id int, s *model.Simple, via string) bool {
	p := &a.parts[id]
	if len(p.Inner) >= maxInner {
		a.reason(rTooMany)
		return false
	}
	for i := range p.Inner {
		if p.Inner[i].Canonical == s.Canonical {
			return true
		}
	}
	s.Via = via
	p.Inner = append(p.Inner, *s)
	return true
}

// foldCase: the file system takes RM for rm.
const foldCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// dropExe: rm.exe is rm.
const dropExe = runtime.GOOS == "windows"

// baseName is the name of a program without its folder.
func baseName(s string) string { return baseNameOn(s, foldCase, dropExe) }

func baseNameOn(s string, foldCase, dropExe bool) string {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		if i == len(s)-1 {
			return baseNameOn(strings.TrimRight(s, "/"), foldCase, dropExe)
		}
		s = s[i+1:]
	}
	if dropExe {
		if i := strings.LastIndexByte(s, '\\'); i >= 0 {
			s = s[i+1:]
		}
		if n := len(s) - 4; n > 0 && strings.EqualFold(s[n:], ".exe") {
			s = s[:n]
		}
	}
	if foldCase {
		s = strings.ToLower(s)
	}
	return s
}

// peel finds what a command runs. The command itself is already recorded.
func (w *walker) peel(words []word, p pctx) {
	a := w.a
	if a.steps++; a.steps > maxSteps {
		a.reason(rTooMany)
		return
	}
	head := &words[0]
	if head.is(wBraced) {
		a.reason(rCmdName)
	}
	if !head.plain() {
		w.dynamicName(words, p)
		return
	}
	name := head.val
	if name == "" {
		if len(words) > 1 {
			a.reason(rCmdName)
		}
		return
	}
	if head.is(wLead) {
		switch {
		case name[0] == '=' && len(name) > 1:
			a.reason(rZshEquals)
			w.renamed(words, name[1:], p)
			return
		case name[0] == '{' && name != "{}":
			a.reason(rZshBrace)
		}
	}
	if p.hole != "" && strings.Contains(name, p.hole) {
		a.reason(rCmdName)
	}
	base := baseName(name)
	if base != name && base != "" {
		w.renamed(words, base, p)
		return
	}
	prog := lookup(base)
	if a.runsArgs && len(words) > 1 && slices.Contains(a.funcs, base) {
		v := w.joinWords(words[1:])
		w.script(v.val, base, p, nil)
		w.inner(words[1:], base, p)
	}
	if len(a.vars) > 0 {
		w.known(words, p)
	}
	w.mention(words, base, prog, p)
	if len(a.arguments) > 0 {
		w.callFiles(words, base, p)
	}
	if prog == nil {
		return
	}
	if prog.inject {
		w.injected(words)
	}
	if prog.wrap != nil {
		w.unwrap(words, base, prog.wrap, p)
	}
	if prog.runs != nil {
		w.runOptions(words, base, prog.runs, p)
	}
	if prog.do != doNothing {
		w.special(prog.do, words, base, p)
	}
}

// renamed goes on with the same command under another name.
func (w *walker) renamed(words []word, name string, p pctx) {
	again := make([]word, len(words))
	copy(again, words)
	again[0] = text(name)
	w.inner(again, "basename", p)
}

// dynamicName deals with a command whose name is only known at run time.
func (w *walker) dynamicName(words []word, p pctx) {
	a := w.a
	if words[0].is(wBadANSI) {
		a.reason(rANSIC)
	}
	a.reason(rCmdName)
	a.runsArgs = a.runsArgs || p.cx.fn
	if words[0].is(wStatic) && words[0].is(wGlob) {
		pattern := baseName(words[0].val)
		if words[0].node != nil && strings.Contains(words[0].src, "(") {
			pattern = strings.NewReplacer("@(", "", "?(", "", "+(", "", "*(", "", ")", "").Replace(pattern)
		}
		n := 0
		for _, name := range wellKnown {
			if ok, err := path.Match(pattern, name); err == nil && ok && n < 8 {
				n++
				w.renamed(words, name, p)
			}
		}
		return
	}
	if words[0].is(wTilde) && words[0].is(wStatic) {
		w.renamed(words, baseName(words[0].val), p)
		return
	}
	if words[0].is(wBrace) && words[0].is(wStatic) {
		return
	}
	for k := range 4 {
		a.choice = false
		fields := w.guess(words, k, false)
		more := a.choice
		w.inner(fields, "value", p)
		if !more {
			break
		}
	}
	// An expansion that names the program as its last path element.
	if i := strings.LastIndexByte(words[0].src, '/'); i >= 0 && bare(words[0].src[i+1:]) {
		w.renamed(words, words[0].src[i+1:], p)
	}
}

// known offers the command with the values of variables that the text assigns.
func (w *walker) known(words []word, p pctx) {
	dynamic := false
	for i := range words {
		dynamic = dynamic || !words[i].is(wStatic) && words[i].node != nil
	}
	if !dynamic {
		return
	}
	for k := range 4 {
		w.a.choice, w.a.used = false, false
		fields := w.guess(words, k, true)
		if !w.a.used || len(fields) == 0 {
			return
		}
		var s model.Simple
		w.spellInner(&s, fields, nil)
		w.a.addSimple(p.part, &s, "value")
		if !w.a.choice {
			return
		}
	}
}

// injected: an unquoted expansion may become an option that runs a program.
func (w *walker) injected(words []word) {
	for i := 1; i < len(words); i++ {
		v := &words[i]
		if !v.is(wStatic) && strings.HasPrefix(v.val, "-") && strings.IndexByte(v.val, '=') < 0 &&
			(v.val == "-" || strings.HasPrefix(v.val, "--") || strings.HasSuffix(words[0].val, "find")) ||
			v.is(wSplit) && !strings.Contains(v.src, "$@") && !strings.Contains(v.src, "[@]") ||
			v.is(wGlob) && strings.HasPrefix(v.val, "-") {
			w.a.reason(rArgInject)
			return
		}
	}
}

// wrapper says how a program names the command that it runs.
type wrapper struct {
	optSpec
	// flags are the short options without an argument. An unknown one makes the
	// place of the command uncertain.
	flags string
	// skip is the number of words before the command.
	skip int
	// assigns: NAME=value may stand before the command.
	assigns bool
	// none are options after which no command runs, script those whose argument
	// is a script for a shell.
	none, script string
	// dir are options whose argument is the folder that the command starts in, root
	// those after which paths mean other files than ours.
	dir, root string
	// jail: it always is as behind a root option.
	jail bool
	// bare: without a command, a shell runs.
	bare bool
	// joins: the words are joined to a script for a shell.
	joins bool
	// dashes: the command stands behind `--` if there is one.
	dashes bool
	// remote: it runs on another machine or in a container.
	remote bool
	// numeric: -19 is an option.
	numeric bool
}

// unwrap goes on with the command that a wrapper runs.
func (w *walker) unwrap(words []word, via string, s *wrapper, p pctx) {
	a := w.a
	spec := s.optSpec
	spec.stop = false
	o := opts{optSpec: spec, words: words[1:]}
	skip, unsure := s.skip, false
	p.remote = p.remote || s.remote
	dir, known := a.dir, a.dirKnown
	if via != "command" && via != "builtin" { // with these, a cd is one of this shell
		defer func() { a.dir, a.dirKnown = dir, known }()
	}
	if s.jail {
		a.dir, a.dirKnown = "", false
	}
	if s.dashes {
		for i := range words {
			if words[i].is(wStatic) && words[i].val == "--" {
				w.enterAll(words[1:i], s)
				w.inner(words[i+1:], via, p)
				return
			}
		}
	}
	found := false
	for !found {
		name, kind := o.next()
		switch kind {
		case optEnd:
			if p.input {
				a.reason(rXargsShell)
			}
			if s.bare {
				w.shellStdin(p)
			}
			return
		case optOption:
			switch {
			case name == "--":
			case s.none != "" && inList(s.none, strings.TrimLeft(name, "-")):
				return
			case s.script != "" && inList(s.script, strings.TrimLeft(name, "-")):
				v := o.value
				if o.has {
					w.scriptWord(&v, via, p, rShellCDynamic, nil)
				}
			case o.has && s.dir != "" && inList(s.dir, strings.TrimLeft(name, "-")):
				v := o.value
				w.enter(&v)
			case s.root != "" && inList(s.root, strings.TrimLeft(name, "-")):
				a.dir, a.dirKnown = "", false
			case len(name) == 2 && strings.IndexByte(s.flags, name[1]) < 0 && strings.IndexByte(s.arg, name[1]) < 0 &&
				strings.IndexByte(s.maybe, name[1]) < 0 && !(s.numeric && name[1] >= '0' && name[1] <= '9'):
				unsure = true
			}
			if o.hazy() || o.has && o.value.is(wSplit) {
				unsure = true
				a.reason(rCmdName)
			}
		case optOperand:
			v := &o.value
			if s.assigns && w.envWord(v, p) {
				continue
			}
			if v.is(wSplit) && !s.remote {
				a.reason(rCmdName)
				unsure = true
			}
			if skip > 0 {
				if !v.is(wStatic) {
					unsure = true
				}
				skip--
				continue
			}
			found = true
		}
	}
	at := o.at + 1
	if s.joins {
		w.joined1(words[at:], via, p)
		return
	}
	w.inner(words[at:], via, p)
	if unsure {
		for k := 1; k <= 2 && at+k < len(words); k++ {
			w.inner(words[at+k:], via, p)
		}
	}
}

// enter goes to the folder that an option names. Unlike cd, which drops a ".."
// with the name before it, chdir(2) follows a link first: the path stays as written.
func (w *walker) enter(v *word) {
	a := w.a
	before := a.dir
	if v.val == "" && v.is(wStatic) {
		return // git -C "" stays; for others it is an error
	}
	folder := *v
	if v.val == "-" && v.is(wStatic) {
		folder = text("./-") // a name here, for cd the folder before
	}
	w.cd([]word{text("cd"), text("--"), folder}, "cd")
	if _, home := w.homePath(v); home || !a.dirKnown {
		return
	}
	switch s := literalPath(v); {
	case rooted(s):
	case before == "":
		a.dir = s
	case strings.Contains(before, dirSep):
		a.dir = joinDir(before, s)
	default:
		a.dir = before + "/" + s
	}
}

// enterAll goes to the folders that the options of a wrapper name.
func (w *walker) enterAll(words []word, s *wrapper) {
	if s.dir == "" {
		return
	}
	o := opts{optSpec: s.optSpec, words: words}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOption && o.has && inList(s.dir, strings.TrimLeft(name, "-")) {
			v := o.value
			w.enter(&v)
		}
	}
}

// joined1 reads words that are joined to a script.
func (w *walker) joined1(words []word, via string, p pctx) {
	if len(words) == 0 {
		return
	}
	v := w.joinWords(words)
	r := rEvalDynamic
	if p.remote {
		r = rRemoteDynamic
	}
	w.scriptWord(&v, via, p, r, nil)
}

// joinWords makes one word of many, as eval does.
func (w *walker) joinWords(words []word) word {
	if len(words) == 1 {
		return words[0]
	}
	var b, src strings.Builder
	static := wStatic
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
			src.WriteByte(' ')
		}
		if !words[i].is(wStatic) {
			static = 0
			b.WriteString(strings.Join(w.guessWord(&words[i], 0), " "))
		} else {
			b.WriteString(words[i].val)
		}
		src.WriteString(words[i].src)
	}
	return word{val: b.String(), src: src.String(), wflag: static}
}
