package shell

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

// mention records the files and hosts that a command names.
func (w *walker) mention(words []word, base string, prog *program, p pctx) {
	if w.a.light {
		return
	}
	w.hosts(words, base, prog)
	if prog == nil || prog.files == nil || p.remote || w.remote {
		return
	}
	switch base {
	case "find", "gfind":
		w.findFiles(words, p)
		return
	case "git":
		w.gitFiles(words, p)
		return
	}
	w.fileOperands(words, base, prog.files, p)
}

func (w *walker) fileOperands(words []word, base string, s *fileSpec, p pctx) {
	a := w.a
	o := opts{optSpec: s.optSpec, words: words[1:]}
	var operandsBuf [16]word
	list := operandsBuf[:0]
	given, inPlace, target := false, false, false
	dir, known := a.dir, a.dirKnown
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOperand {
			list = append(list, o.value)
			continue
		}
		opt := strings.TrimLeft(name, "-")
		given = given || inList(s.given, opt)
		inPlace = inPlace || inList(s.when, opt)
		if !o.has {
			continue
		}
		v := o.value
		switch {
		case inList(s.write, opt):
			target = target || opt == "t" || opt == "target-directory"
			w.fileWord(&v, writes, base, p)
		case inList(s.read, opt):
			w.fileWord(&v, reads, base, p)
		case inList(s.dir, opt):
			w.fileWord(&v, writes, base, p)
			w.cd([]word{text("cd"), v}, "cd")
		case base == "curl":
			w.curlFile(&v, p)
		case !given && s.operands != noOperands && !strings.HasPrefix(name, "--"):
			// Whether a letter takes an argument differs between versions of a program:
			// what may be the next operand counts as one.
			w.fileWord(&v, s.access, base, p)
		}
	}
	if base == "tar" && len(words) > 1 && words[1].val != "" && words[1].val[0] != '-' && strings.ContainsRune(words[1].val, 'f') && len(list) > 1 {
		v := list[1] // tar cf FILE
		acc := reads
		if strings.ContainsAny(words[1].val, "cru") {
			acc = writes
		}
		w.fileWord(&v, acc, base, p)
	}
	switch s.operands {
	case allFiles:
		for i := range list {
			w.fileWord(&list[i], s.access, base, p)
		}
	case lastFile:
		for i := range list {
			if i == len(list)-1 && len(list) > 1 && !target {
				w.fileWord(&list[i], s.access, base, p)
			} else {
				w.fileWord(&list[i], s.source, base, p)
			}
		}
	case allButFirst:
		if !given && len(list) > 0 {
			list = list[1:]
		}
		acc := s.access
		if inPlace {
			acc = writes
		}
		for i := range list {
			w.fileWord(&list[i], acc, base, p)
		}
	case prefixed:
		for i := range list {
			if f, ok := cutWord(&list[i], "of="); ok {
				w.fileWord(&f, writes, base, p)
			}
			if f, ok := cutWord(&list[i], "if="); ok {
				w.fileWord(&f, reads, base, p)
			}
		}
	}
	a.dir, a.dirKnown = dir, known
}

// curlFile records the files that curl's data options name: @file, name=@file,
// name@file and name=<file.
func (w *walker) curlFile(v *word, p pctx) {
	if !v.is(wStatic) {
		return
	}
	name := ""
	for _, mark := range []string{"=@", "=<", "@"} {
		if _, f, ok := strings.Cut(v.val, mark); ok {
			name = f
			break
		}
	}
	if name, _, _ = strings.Cut(name, ";"); name != "" {
		t := text(name)
		w.fileWord(&t, reads, "curl", p)
	}
}

func (w *walker) findFiles(words []word, p pctx) {
	i := 1
	from := i
	for ; i < len(words) && !strings.HasPrefix(words[i].val, "-") && words[i].val != "(" && words[i].val != "!"; i++ {
	}
	acc := lists
	for k := i; k < len(words); k++ {
		switch words[k].val {
		case "-delete":
			acc = deletes
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if k+1 < len(words) {
				w.fileWord(&words[k+1], writes, "find", p)
			}
		case "-newer", "-anewer", "-cnewer", "-samefile", "-files0-from":
			if k+1 < len(words) {
				w.fileWord(&words[k+1], reads, "find", p)
			}
		}
	}
	for k := from; k < i; k++ {
		w.fileWord(&words[k], acc, "find", p)
	}
}

// gitOperands says what git's subcommands do with the files that they name.
// Others take revisions first, and a file only behind "--".
var gitOperands = map[string]access{
	"add": reads, "stage": reads, "rm": deletes, "mv": writes, "apply": reads, "am": reads, "hash-object": reads,
}

// gitPaths are the subcommands whose operands behind "--" are files.
var gitPaths = map[string]access{
	"checkout": writes, "restore": writes, "reset": writes, "diff": reads, "log": reads, "show": reads, "blame": reads, "stash": reads,
}

// gitOutputs are the subcommands whose -o names a file that is written.
var gitOutputs = map[string]bool{"archive": true, "format-patch": true, "bugreport": true}

// gitMakes are the subcommands that write to the last of their operands, if
// there are at least so many.
var gitMakes = map[string]int{"clone": 2, "init": 1, "bundle": 2}

func (w *walker) gitFiles(words []word, p pctx) {
	o := opts{optSpec: gitGlobal, words: words[1:]}
	o.stop = true
	i := len(words)
	for {
		name, kind := o.next()
		if kind == optOperand {
			i = o.at + 1
		} else if kind != optEnd {
			if name == "-C" || name == "--work-tree" {
				return // somewhere else: what it names is not below this folder
			}
			continue
		}
		break
	}
	sub := ""
	if i < len(words) {
		sub = words[i].val
	}
	acc, named := gitOperands[sub]
	behind, some := gitPaths[sub]
	noIndex, dashes := false, false
	if sub == "worktree" && i+1 < len(words) && words[i+1].val == "add" {
		sub, i = "worktree add", i+1
		acc, named = writes, true
	}
	var operands []*word
	defer func() {
		if least, ok := gitMakes[sub]; ok && len(operands) >= least {
			w.fileWord(operands[len(operands)-1], writes, "git", p)
		}
	}()
	for i++; i < len(words); i++ {
		v := &words[i]
		switch {
		case strings.HasPrefix(v.val, "--output=") || strings.HasPrefix(v.val, "--output-directory="):
			_, f, _ := strings.Cut(v.val, "=")
			t := text(f)
			w.fileWord(&t, writes, "git", p)
		case (v.val == "--output" || v.val == "--output-directory" || v.val == "-o" && gitOutputs[sub]) && i+1 < len(words):
			i++
			w.fileWord(&words[i], writes, "git", p)
		case v.val == "--no-index":
			noIndex = true
		case v.val == "--" && !dashes:
			dashes = true
		case strings.HasPrefix(v.val, "-") && !dashes:
		case gitMakes[sub] > 0:
			operands = append(operands, v)
		case named:
			w.fileWord(v, acc, "git", p)
		case some && (dashes || noIndex || sub == "restore"):
			w.fileWord(v, behind, "git", p)
		}
	}
}

// fileWord records one file operand, if its value is known.
func (w *walker) fileWord(v *word, acc access, program string, p pctx) {
	if p.remote || w.remote {
		return
	}
	if v.is(wStatic) {
		if v.val == "" || v.val == "-" {
			return
		}
		if (program == "scp" || program == "rsync") && remotePath(v.val) {
			return
		}
		w.a.addFile(literalPath(v), accesses[acc], program, p.part, v.is(wGlob))
		return
	}
	if s, ok := w.homePath(v); ok {
		w.a.addFile(s, accesses[acc], program, p.part, false)
		return
	}
	w.knownEnds(v, accesses[acc], program, p.part)
}

// knownEnds records what is known of an operand with an expansion in it, with a *
// for what is not: "secrets/$f" is secrets/*, "$name.pem" some *.pem, "$dir/.env"
// some .env in a folder that is not known.
func (w *walker) knownEnds(v *word, acc model.Access, program string, part int) {
	a := w.a
	head, tail := w.ends(v)
	if head == "" && tail == "" || (program == "scp" || program == "rsync") && remotePath(head) {
		return
	}
	f := model.FileUse{Value: head + "*" + tail, Access: acc, Part: part, Program: program}
	dir, known := a.dir, a.dirKnown
	if head == "" {
		dir, known = "", false
		if i := strings.IndexByte(tail, '/'); i >= 0 {
			if f.Value = strings.TrimLeft(tail[i:], "/"); f.Value == "" {
				return
			}
		}
	}
	a.addUse(f, dir, known)
}

// ends returns the literal text of a word before its first expansion and the one
// after its last; a leading $HOME or $PWD is text. Text that is quoted in a way
// that would have to be read is an expansion.
func (w *walker) ends(v *word) (head, tail string) {
	if v.node == nil {
		return "", ""
	}
	var text strings.Builder
	first := true // still before the first expansion
	literal := func(s string) { text.WriteString(s) }
	unknown := func() {
		if first {
			head, first = text.String(), false
		}
		text.Reset()
	}
	plain := func(s string) {
		const special = "\\*?[{"
		i := strings.IndexAny(s, special)
		if i < 0 {
			literal(s)
			return
		}
		literal(s[:i])
		unknown()
		// What a lone * or ? ends is text again.
		if j := strings.LastIndexAny(s, special); s[j] == '*' || s[j] == '?' {
			literal(s[j+1:])
		}
	}
	param := func(e *syntax.ParamExp) {
		if first && text.Len() == 0 {
			if name, ok := w.homeParam(e); ok {
				literal(name)
				return
			}
		}
		unknown()
	}
	for _, part := range v.node.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			plain(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				unknown()
			} else {
				literal(part.Value)
			}
		case *syntax.ParamExp:
			param(part)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				switch inner := inner.(type) {
				case *syntax.Lit:
					if strings.IndexByte(inner.Value, '\\') >= 0 {
						unknown()
					} else {
						literal(inner.Value)
					}
				case *syntax.ParamExp:
					param(inner)
				default:
					unknown()
				}
			}
		default:
			unknown()
		}
	}
	if first {
		return "", ""
	}
	return head, text.String()
}

func remotePath(s string) bool {
	i := strings.IndexByte(s, ':')
	return i > 0 && strings.IndexByte(s[:i], '/') < 0
}

func (a *analysis) addFile(value string, acc model.Access, program string, part int, glob bool) {
	a.addUse(model.FileUse{Value: value, Access: acc, Part: part, Program: program, Glob: glob}, a.dir, a.dirKnown)
}

// addUse records a file operand that starts at dir.
func (a *analysis) addUse(f model.FileUse, dir string, known bool) {
	if a.light || len(a.files) >= maxListed {
		return
	}
	f.Dir, f.DirKnown = dir, known
	for i := max(0, len(a.files)-8); i < len(a.files); i++ {
		if a.files[i] == f {
			return
		}
	}
	a.files = append(a.files, f)
}

// literalPath is the value of a static word as a path: an active tilde is kept,
// a quoted one, or a quoted $HOME, is made to look like the file that it is.
func literalPath(v *word) string {
	s := v.val
	if s == "" || s[0] != '~' && s[0] != '$' {
		return s
	}
	if s[0] == '~' && v.is(wTilde) {
		return s
	}
	return "./" + s
}

// homePath is the path that a word with a leading $HOME or $PWD stands for.
func (w *walker) homePath(v *word) (string, bool) {
	if v.is(wStatic) || v.node == nil || len(v.node.Parts) == 0 {
		return "", false
	}
	parts := v.node.Parts
	if d, ok := parts[0].(*syntax.DblQuoted); ok && !d.Dollar {
		parts = append(append([]syntax.WordPart{}, d.Parts...), parts[1:]...)
	}
	if len(parts) == 0 {
		return "", false
	}
	e, ok := parts[0].(*syntax.ParamExp)
	if !ok {
		return "", false
	}
	s, ok := w.homeParam(e)
	if !ok {
		return "", false
	}
	for _, p := range parts[1:] {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[") {
				return "", false
			}
			s += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			s += p.Value
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || strings.IndexByte(l.Value, '\\') >= 0 {
					return "", false
				}
				s += l.Value
			}
		default:
			return "", false
		}
	}
	if len(s) > len(e.Param.Value)+1 && s[len(e.Param.Value)+1] != '/' {
		return "", false
	}
	return s, true
}

// homeParam is $HOME or $PWD, if that is all that the expansion is and the text
// does not set it.
func (w *walker) homeParam(e *syntax.ParamExp) (string, bool) {
	if e.Param == nil || e.Excl || e.Length || e.Index != nil || e.Exp != nil || e.Slice != nil || e.Repl != nil ||
		e.Flags != nil || e.Param.Value != "HOME" && e.Param.Value != "PWD" {
		return "", false
	}
	if _, set := w.a.vars[e.Param.Value]; set {
		return "", false
	}
	return "$" + e.Param.Value, true
}
