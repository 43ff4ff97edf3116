package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Files that a command gets as words from somewhere else: from find, through xargs
// or parallel, or as the arguments of a function.

// maxFed is how many such words are looked at.
const maxFed = 64

// fedFiles records the files of a command that words are added to, or put in where
// its placeholder stands.
func (w *walker) fedFiles(cmd []word, hole string, fields []string, p pctx) {
	if len(cmd) == 0 || len(fields) == 0 || !cmd[0].is(wStatic) || w.a.light {
		return
	}
	base := baseName(cmd[0].val)
	prog := lookup(base)
	if prog == nil || prog.files == nil {
		return
	}
	p.input, p.why = false, 0
	script := prog.do == doShell
	if script {
		fields = fields[:min(len(fields), 4)]
	}
	if len(fields) > maxFed {
		fields = fields[:maxFed]
	}
	p.hole = ""
	if hole == "" {
		words := slices.Clone(cmd)
		for _, f := range fields {
			words = append(words, fieldWord(f))
		}
		w.mention(words, base, prog, p)
		if script {
			w.shell(words, base, p)
		}
		return
	}
	for _, f := range fields {
		if w.a.tries++; w.a.tries > maxTries {
			return
		}
		words := slices.Clone(cmd)
		for i := range words {
			if i > 0 && words[i].is(wStatic) && strings.Contains(words[i].val, hole) {
				words[i] = fieldWord(strings.ReplaceAll(words[i].val, hole, f))
			}
		}
		w.mention(words, base, prog, p)
		if script {
			w.shell(words, base, p)
		}
	}
}

// fieldWord is a word from somewhere else. A name with wildcards is one that find
// looked for, not every name.
func fieldWord(s string) word {
	v := text(s)
	if strings.ContainsAny(s, "*?[") && !strings.HasSuffix(s, "/*") {
		v.wflag |= wGlob
	}
	if strings.HasPrefix(s, "$PWD") || strings.HasPrefix(s, "$HOME") {
		v.wflag |= wTilde // it is expanded
	}
	return v
}

// found is what find prints, as far as its words say: below each folder it starts
// in, the names that it looks for.
func found(args []string) []string {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") && inList("-H -L -P", args[i]) {
		i++
	}
	from := i
	for i < len(args) && args[i] != "" && args[i][0] != '-' && args[i] != "(" && args[i] != "!" {
		i++
	}
	starts := args[from:i]
	if len(starts) == 0 {
		starts = []string{"."}
	}
	names := foundNames(args[i:])
	var out []string
	for _, start := range starts[:min(len(starts), maxFed)] {
		start = strings.TrimRight(start, "/")
		if len(names) == 0 && !strings.HasPrefix(start, "*") {
			out = append(out, start+"/*")
		}
		for _, name := range names {
			if len(out) >= maxFed {
				return out
			}
			out = append(out, start+"/"+strings.TrimPrefix(name, start+"/"))
		}
	}
	return out
}

// foundNames are the names and paths that the tests of find ask for, without those
// that are negated or that it prunes.
func foundNames(args []string) (names []string) {
	var list []string // of this alternative
	depth, negated, not := 0, -1, false
	for i := 0; i < len(args); i++ {
		switch s := args[i]; s {
		case "!", "-not":
			not = !not
			continue
		case "(":
			if not && negated < 0 {
				negated = depth
			}
			depth++
		case ")":
			if depth--; depth == negated {
				negated = -1
			}
		case "-o", "-or", ",":
			if depth == 0 {
				names, list = append(names, list...), nil
			}
		case "-prune":
			list = nil
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename":
			if i++; i < len(args) && !not && negated < 0 && len(list) < maxFed {
				list = append(list, strings.TrimLeft(args[i], "*/"))
				if strings.HasPrefix(args[i], "*") && strings.Contains(s, "name") && !strings.Contains(s, "whole") {
					list[len(list)-1] = args[i]
				}
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			for i < len(args) && args[i] != ";" && args[i] != "+" {
				i++
			}
		}
		not = false
	}
	return append(names, list...)
}

// bodyFields are the words of a text that a command reads; \n is what printf ends
// lines with.
func bodyFields(s string) []string { return strings.Fields(strings.ReplaceAll(s, `\n`, " ")) }

func fieldWords(s string) []word {
	fields := bodyFields(s)
	out := make([]word, 0, len(fields))
	for _, f := range fields[:min(len(fields), maxFed)] {
		out = append(out, text(f))
	}
	return out
}

// flats are the texts of words.
func flats(words []word) []string {
	out := make([]string, len(words))
	for i := range words {
		out[i] = words[i].flat()
	}
	return out
}

// knownTexts are the texts of words, with the values that the text gives.
func (w *walker) knownTexts(words []word) []string {
	out := make([]string, 0, len(words))
	for i := range words {
		v := &words[i]
		if s, home := w.homePath(v); home {
			out = append(out, s)
		} else if v.is(wStatic) || !w.values(v, func(s string, _ bool) { out = append(out, s) }) {
			out = append(out, v.flat())
		}
	}
	return out
}

// printsNames is what a program that lists files prints.
func (w *walker) printsNames(call *syntax.CallExpr) string {
	name := call.Args[0].Lit()
	switch {
	case name == "find", name == "gfind", name == "ls":
	case name == "git" && len(call.Args) > 2 && call.Args[1].Lit() == "ls-files":
	default:
		return ""
	}
	args := make([]string, 0, len(call.Args)-1)
	for _, n := range call.Args[1:min(len(call.Args), 256)] {
		r := reading{walker: w}
		var b strings.Builder
		r.parts(&b, n.Parts, false, 0)
		args = append(args, b.String())
	}
	if name == "find" || name == "gfind" {
		return strings.Join(found(args), " ")
	}
	// ls prints its operands, unless they are folders; git what is below them.
	var out []string
	for _, s := range args {
		switch {
		case strings.HasPrefix(s, "-"), name == "ls" && !strings.Contains(s, "/") && !strings.HasPrefix(s, "."):
		case name == "ls":
			out = append(out, s)
		case s != "ls-files":
			out = append(out, s, strings.TrimRight(s, "/")+"/*")
		}
	}
	return strings.Join(out, " ")
}

// argument is a file operand in a function that its arguments, or variables that are
// set before the call, give its value.
type argument struct {
	fn, program string
	v           word
	acc         access
}

// let is an assignment in a function whose value its arguments give (local f=$1, for
// f in "$@").
type let struct {
	fn, name string
	v        word
}

// argumentWord remembers an operand in a function's body for its calls.
func (w *walker) argumentWord(v *word, acc access, program string) {
	a := w.a
	if a.fn == "" || v.node == nil || len(a.arguments) >= maxFed || a.light {
		return
	}
	a.arguments = append(a.arguments, argument{fn: a.fn, program: program, v: *v, acc: acc})
}

// callFiles records the files that a call of a function names by its arguments.
func (w *walker) callFiles(words []word, base string, p pctx) {
	a := w.a
	if a.tries++; a.tries > maxTries || !slices.ContainsFunc(a.arguments, func(u argument) bool { return u.fn == base }) {
		return
	}
	vars, all, fn := a.vars, a.all, a.fn
	a.vars, a.all, a.fn = positional(vars, words), maps.Clone(all), ""
	for i := range a.lets {
		if l := &a.lets[i]; l.fn == base && a.tries < maxTries {
			w.setVar(l.name, []word{l.v})
		}
	}
	for i := range a.arguments {
		if u := &a.arguments[i]; u.fn == base && a.tries < maxTries {
			w.valued(&u.v, accesses[u.acc], u.program, p.part)
		}
	}
	a.vars, a.all, a.fn = vars, all, fn
}
