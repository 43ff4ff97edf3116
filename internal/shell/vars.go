package shell

import (
	"maps"
	"path"
	"strings"
)

// suspicious reports a value that runs a command when it is used as arithmetic
// or expanded as a prompt.
func (as *assignment) suspicious() bool {
	for i := range as.elems {
		if runsWhenExpanded(as.elems[i].val) {
			return true
		}
	}
	return false
}

func runsWhenExpanded(s string) bool {
	return strings.Contains(s, "$(") || strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "${")
}

// assigned looks at the assignments of a command. words is the command that
// they stand before, none if they last.
func (w *walker) assigned(assigns []assignment, words []word, p pctx) {
	for i := range assigns {
		as := &assigns[i]
		if as.name == "" {
			continue
		}
		w.setting(as.name, &as.value, as, p)
		if len(words) == 0 || as.name == "CDPATH" {
			w.setVar(as.name, w.appended(as))
		}
		for k := range as.elems {
			v := as.elems[k].val
			if !as.elems[k].is(wStatic) {
				v = strings.Join(w.guessWord(&as.elems[k], 0), " ")
			}
			if runsWhenExpanded(v) && len(w.a.tainted) < 64 {
				w.a.tainted = append(w.a.tainted, taint{value: v, part: p.part})
			}
		}
	}
}

// appended are the values that NAME+=value leads to.
func (w *walker) appended(as *assignment) []word {
	before := w.a.vars[as.name]
	if !as.adds || as.array || len(before) == 0 || !as.value.is(wStatic) {
		return as.elems
	}
	out := make([]word, 0, len(before))
	for _, s := range before {
		if len(s)+len(as.value.val) > 4096 {
			return as.elems
		}
		out = append(out, text(s+as.value.val))
	}
	return out
}

// lend gives a shell the variables that stand before it, for the script that it
// runs. The caller takes them away again.
func (w *walker) lend(assigns []assignment, words []word) {
	prog := lookup(baseName(words[0].val))
	if w.a.light || prog == nil || prog.do != doShell && prog.do != doEval {
		return
	}
	w.a.vars, w.a.all = maps.Clone(w.a.vars), maps.Clone(w.a.all)
	for i := range assigns {
		w.setVar(assigns[i].name, assigns[i].elems)
	}
}

// assignName looks at a name that gets a value by other means than NAME=value.
func (w *walker) assignName(name string) {
	if name == "" || w.a.light {
		return
	}
	if i := strings.IndexAny(name, "[+="); i >= 0 {
		name = name[:i]
	}
	switch variableOf(name) {
	case varPath:
		w.a.reason(rPathChange)
	case varExec, varPrompt, varCommand:
		w.a.reason(rEnvExec)
	}
	if inList(integerVars, name) {
		w.a.reason(rArithInject)
	}
}

// integerVars are the variables that the shell evaluates as arithmetic whenever
// they get a value.
const integerVars = "RANDOM SRANDOM OPTIND HISTCMD SECONDS LINENO BASHPID EPOCHSECONDS BASH_SUBSHELL COLUMNS LINES FUNCNEST TMOUT"

// setting judges one variable that gets a value.
func (w *walker) setting(name string, v *word, as *assignment, p pctx) {
	a := w.a
	a.arith = a.arith || inList(integerVars, name)
	switch variableOf(name) {
	case varPath:
		a.reason(rPathChange)
	case varExec:
		a.reason(rEnvExec)
		if i := strings.IndexByte(v.val, '{'); strings.HasPrefix(name, "BASH_FUNC_") && i >= 0 {
			w.script(v.val[i:], name, p, nil)
		}
	case varPrompt:
		if v.is(wStatic) && !runsWhenExpanded(v.val) && name != "PROMPT_COMMAND" && !strings.Contains(v.val, `\`) && as != nil && !as.array {
			return
		}
		a.reason(rEnvExec)
		w.script(v.flat(), name, p, nil)
		w.script(": "+v.flat(), name, p, nil)
	case varCommand:
		if as != nil && as.array || !v.is(wStatic) && v.src != "" {
			a.reason(rEnvExec)
		}
		if v.flat() != "" {
			s := v.flat()
			if name == "LESSOPEN" || name == "LESSCLOSE" {
				s = strings.TrimLeft(s, "|-")
			}
			w.script(s, name, p, nil)
		}
	}
}

// envWord handles NAME=value in front of a command, as env and sudo take it.
func (w *walker) envWord(v *word, p pctx) bool {
	name, value, ok := strings.Cut(v.val, "=")
	if !ok || name == "" {
		return false
	}
	val := *v
	val.val, val.node = value, v.node
	val.wflag &^= wBare
	if !strings.HasPrefix(name, "BASH_FUNC_") {
		for i := 0; i < len(name); i++ {
			if !nameStart(name[i]) && (name[i] < '0' || name[i] > '9') {
				if strings.IndexByte(name, '/') >= 0 {
					return false
				}
				break
			}
		}
	}
	if v.is(wSplit) && !v.is(wStatic) { // env A=$x: the value is split
		w.a.reason(rCmdName)
	}
	w.setting(name, &val, nil, p)
	return true
}

// subscript: a word that is evaluated as the name of a variable runs the
// substitutions in its subscript.
func (w *walker) subscript(v *word) {
	s := v.val
	if !v.is(wStatic) {
		w.a.arith = true
		s = strings.Join(w.guessWord(v, 0), " ")
	}
	i := strings.IndexByte(s, '[')
	if i < 0 || !runsWhenExpanded(s[i:]) {
		return
	}
	w.a.reason(rArithInject)
	w.a.tainted = append(w.a.tainted, taint{value: s, part: max(len(w.a.parts)-1, 0)})
	w.a.arith = true
}

// injections looks at the values that run when they are evaluated.
func (a *analysis) injections(w *walker) {
	if len(a.tainted) == 0 || !a.arith && !a.prompt {
		return
	}
	for _, t := range a.tainted {
		if !a.prompt && strings.IndexByte(t.value, '[') < 0 {
			continue
		}
		if !a.prompt {
			a.reason(rArithInject)
		}
		if t.part < len(a.parts) {
			w.script(": "+strings.NewReplacer("[", " ", "]", " ", "=", " ").Replace(t.value), "value", pctx{part: t.part}, nil)
		}
	}
}

// set gives the positional parameters their values.
func (w *walker) set(words []word) {
	for i := 1; i < len(words); i++ {
		s := words[i].flat()
		if s == "--" || s == "-" {
			i++
		} else if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			if strings.HasSuffix(s, "o") && i+1 < len(words) {
				i++
				switch words[i].flat() {
				case "posix", "emacs", "vi", "history", "histexpand", "functrace", "onecmd":
					w.a.reason(rDialect)
				}
			}
			if strings.ContainsAny(s, "HB") && s[0] == '-' {
				w.a.reason(rDialect)
			}
			continue
		}
		w.setVar("@", words[i:])
		w.setVar("*", words[i:])
		for k := i; k < len(words) && k-i < 9; k++ {
			w.setVar("123456789"[k-i:k-i+1], words[k:k+1])
		}
		return
	}
}

// declare looks at what declare and its kind do besides assigning.
func (w *walker) declare(words []word, base string) {
	a := w.a
	integer := base == "integer" || base == "float"
	if base == "nameref" {
		a.reason(rNameref)
	}
	for i := 1; i < len(words); i++ {
		v := &words[i]
		if !v.is(wStatic) && (v.val == "" || v.val == "-") {
			integer = true // it may become -i
		}
		if s := v.val; len(s) > 1 && (s[0] == '-' || s[0] == '+') && base != "let" {
			for _, c := range []byte(s[1:]) {
				switch c {
				case 'n':
					if base != "export" && base != "readonly" && s[0] == '-' {
						a.reason(rNameref)
					}
				case 'i', 'E', 'F':
					integer = integer || s[0] == '-' && base != "export"
				case 'T', 'u', 'A', 'a':
				}
			}
			continue
		}
		w.subscript(v)
		name, value, has := strings.Cut(v.flat(), "=")
		w.declareName(name, has)
		a.arith = a.arith || integer // its values are expressions, now and later
		if integer && has && runsWhenExpanded(value) {
			a.reason(rArithInject)
			a.arith = true
			a.tainted = append(a.tainted, taint{value: value, part: max(len(a.parts)-1, 0)})
		}
	}
}

// declareName judges a name that a word of declare sets ("PATH=x" in quotes).
func (w *walker) declareName(name string, has bool) {
	if !has {
		return
	}
	switch variableOf(strings.TrimSuffix(name, "+")) {
	case varPath:
		w.a.reason(rPathChange)
	case varExec:
		w.a.reason(rEnvExec)
	}
	w.a.arith = w.a.arith || inList(integerVars, name)
}

// cd moves the folder that later relative paths start at.
func (w *walker) cd(words []word, base string) {
	a := w.a
	i := 1
	for ; i < len(words); i++ {
		s := words[i].val
		if len(s) > 1 && s[0] == '-' && words[i].is(wStatic) {
			if s == "--" {
				i++
				break
			}
			continue
		}
		break
	}
	switch {
	case base == "popd", len(words)-i > 1:
		a.dir, a.dirKnown = "", false
	case i >= len(words):
		if base == "pushd" {
			a.dir, a.dirKnown = "", false
			return
		}
		a.dir, a.dirKnown = "~", true
	default:
		v := &words[i]
		s, ok := v.val, v.is(wStatic) && !v.is(wGlob|wBrace)
		if h, home := w.homePath(v); home {
			s, ok = h, true
			if rest, here := strings.CutPrefix(h, "$PWD"); here {
				s = "." + rest
			}
		} else if ok {
			s = literalPath(v)
		}
		if !ok || s == "-" || s == "" || strings.HasPrefix(s, "+") && base == "pushd" {
			if !w.cdValued(v) {
				w.cdSomewhere(v)
			}
			return
		}
		if rooted(s) {
			a.dir, a.dirKnown = s, true
			return
		}
		// From a folder that is not known, it is still known how one goes on.
		from := a.dir
		a.dir = joinDir(from, s)
		if s[0] != '.' {
			for _, list := range a.vars["CDPATH"] {
				for base := range strings.SplitSeq(list, ":") {
					a.dir = eitherDir(a.dir, joinDir(joinDir(from, base), s))
				}
			}
		}
		if len(a.dir) > 4096 {
			a.dir, a.dirKnown = "", false
		}
	}
}

// cdSomewhere goes to a folder that the text does not say, or only in part: what
// stands behind its last expansion, or before its first.
func (w *walker) cdSomewhere(v *word) {
	a := w.a
	head, tail := w.ends(v)
	switch i, j := strings.IndexByte(tail, '/'), strings.LastIndexByte(head, '/'); {
	case i >= 0:
		a.dir = path.Join(strings.TrimLeft(tail[i:], "/"))
	case j > 0 && rooted(head):
		a.dir = head[:j]
	case j > 0:
		a.dir = joinDir(a.dir, head[:j])
	default:
		a.dir = ""
	}
	a.dirKnown = false
}

// rooted reports a path that does not depend on the folder.
func rooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$HOME") || strings.HasPrefix(s, "$PWD")
}
