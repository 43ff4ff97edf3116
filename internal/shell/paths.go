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
	given, inPlace, target, many := false, false, false, false
	dir, known := a.dir, a.dirKnown
words:
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOperand {
			if !many {
				list = append(list, o.value)
			}
			if base == "curl" && strings.HasPrefix(o.value.val, "file://") {
				v := o.value
				v.node = trimNode(v.node, "file://")
				w.fileWord(&v, reads, base, p)
			}
			if s.subs != "" && runsElsewhere(list) {
				break words
			}
			continue
		}
		many = false
		opt := strings.TrimLeft(name, "-")
		given = given || inList(s.given, opt)
		inPlace = inPlace || inList(s.when, opt)
		if inList(s.many, opt) {
			many = !o.has
			continue
		}
		if !o.has {
			continue
		}
		v := o.value
		if len(name) == 2 && strings.HasPrefix(v.val, "=") && v.is(wStatic) {
			v = text(v.val[1:]) // kubectl -f=x
		}
		switch {
		case inList(s.enter, opt):
			w.enter(&v)
		case inList(s.pairs, opt):
			w.pairFiles(&v, base, p)
		case inList(s.write, opt):
			target = target || opt == "t" || opt == "target-directory"
			w.fileWord(&v, writes, base, p)
		case inList(s.read, opt):
			acc := reads
			if inPlace && inList(s.made, opt) {
				acc = writes
			}
			if opt == "include" {
				v.wflag |= wGlob // grep expands it
			}
			if opt == "cert" { // curl --cert file:password
				if file, _, ok := strings.Cut(v.val, ":"); ok && v.is(wStatic) {
					v = text(file)
				}
			}
			w.fileWord(&v, acc, base, p)
		case inList(s.dir, opt):
			w.fileWord(&v, writes, base, p)
			w.cd([]word{text("cd"), v}, "cd")
		case base == "curl":
			w.curlFile(&v, p)
		case !given && s.operands != noOperands && s.subs == "" && len(name) == 2:
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
	if s.subs != "" {
		if len(list) == 0 || !inList(s.subs, list[0].val) {
			list = nil
		} else {
			list = list[1:]
		}
	}
	if base == "ln" && inPlace && len(list) > 1 && list[len(list)-1].is(wStatic) {
		w.linkFiles(list, p)
		return
	}
	switch s.operands {
	case allFiles:
		acc := s.access
		if inPlace && s.made == "" {
			acc = writes
		}
		for i := range list {
			w.fileWord(&list[i], acc, base, p)
		}
	case firstRead:
		if len(list) > 0 {
			w.fileWord(&list[0], s.access, base, p)
		}
	case firstFile:
		for i := range list {
			if i == 0 {
				w.fileWord(&list[i], writes, base, p)
			} else {
				w.fileWord(&list[i], s.access, base, p)
			}
		}
	case scriptFile:
		if given || len(list) == 0 {
			break
		}
		if !inPlace {
			list = list[:1]
		}
		a.script = true
		for i := range list {
			w.fileWord(&list[i], s.access, base, p)
		}
		a.script = false
	case lastFile:
		for i := range list {
			if inPlace { // install -d
				w.fileWord(&list[i], s.access, base, p)
			} else if i == len(list)-1 && len(list) > 1 && !target {
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

// runsElsewhere reports the words before a command in a container, whose own words
// follow.
func runsElsewhere(list []word) bool {
	if len(list) > 0 && list[0].val == "compose" {
		list = list[1:]
	}
	return len(list) > 1 && inList("exec run debug", list[0].val)
}

// curlFile records the files that curl's data options name: @file, name=@file,
// name@file and name=<file.
func (w *walker) curlFile(v *word, p pctx) {
	for _, mark := range []string{"=@", "=<", "@"} {
		head, name, ok := strings.Cut(v.val, mark)
		if !ok {
			continue
		}
		if !v.is(wStatic) { // @$dir/x
			f := *v
			f.node = trimNode(v.node, head+mark)
			w.fileWord(&f, reads, "curl", p)
			return
		}
		name, _, _ = strings.Cut(name, ";")
		if name = strings.Trim(name, `"`); name != "" {
			t := text(name)
			w.fileWord(&t, reads, "curl", p)
		}
		return
	}
}

// pairFiles records the files in an option's argument: of -v HOST:PLACE, of
// --mount type=bind,source=HOST, of --from-file=NAME=FILE.
func (w *walker) pairFiles(v *word, program string, p pctx) {
	host, place, bind := strings.Cut(v.val, ":")
	bind = bind && program != "gh"
	switch {
	case bind && strings.IndexByte(host, '/') < 0 && strings.IndexByte(host, '.') < 0 && host != "~" && v.is(wStatic):
		// the name of a volume
	case bind || !v.is(wStatic):
		f := *v
		if v.is(wStatic) {
			f = text(host)
			f.wflag |= v.wflag & wTilde
		} else {
			f.node = headNode(v.node, ":")
			if strings.HasSuffix(v.val, "src=") || strings.HasSuffix(v.val, "source=") {
				f.node = headNode(trimNode(v.node, v.val), ",")
			}
		}
		w.fileWord(&f, reads, program, p)
		if !strings.HasSuffix(place, ":ro") && !strings.HasSuffix(v.src, ":ro") && !strings.HasSuffix(v.src, `:ro"`) {
			w.fileWord(&f, writes, program, p)
		}
	case strings.Contains(v.val, "="):
		for field := range strings.SplitSeq(v.val, ",") {
			name, file, ok := strings.Cut(field, "=")
			if !ok || name == "target" || name == "destination" || name == "dst" || name == "type" || name == "id" || program == "gh" && !strings.HasPrefix(file, "@") {
				continue
			}
			f := text(strings.TrimPrefix(file, "@"))
			w.fileWord(&f, reads, program, p)
		}
	default:
		w.fileWord(v, reads, program, p)
	}
}

// linkFiles records what ln -s names: a relative target starts at the link's folder.
func (w *walker) linkFiles(list []word, p pctx) {
	a := w.a
	last := &list[len(list)-1]
	w.fileWord(last, writes, "ln", p)
	dir, known := a.dir, a.dirKnown
	if i := strings.LastIndexByte(last.val, '/'); i > 0 {
		folder := text(last.val[:i])
		folder.wflag |= last.wflag & wTilde
		w.enter(&folder)
	}
	for i := range list[:len(list)-1] {
		w.fileWord(&list[i], reads, "ln", p)
	}
	a.dir, a.dirKnown = dir, known
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
	if acc == deletes {
		for _, f := range found(w.knownTexts(words[1:])) {
			if strings.HasSuffix(f, "/*") {
				continue // whatever there is: the folder itself says it
			}
			v := text(f)
			w.fileWord(&v, deletes, "find", p)
		}
	}
}

// gitOperands says what git's subcommands do with the files that they name.
// Others take revisions first, and a file only behind "--".
var gitOperands = map[string]access{
	"update-index": reads, "checkout-index": writes, "send-email": reads, "add": reads, "stage": reads, "rm": deletes, "mv": writes, "apply": reads, "am": reads, "hash-object": reads,
}

// gitPaths are the subcommands whose operands behind "--" are files.
var gitPaths = map[string]access{
	"checkout": writes, "restore": writes, "reset": writes, "diff": reads, "log": reads, "show": reads, "blame": reads, "stash": reads,
	"grep": reads, "difftool": reads, "archive": reads, "annotate": reads, "whatchanged": reads, "cat-file": reads,
}

// gitFileOptions are the options of subcommands whose argument is a file that is
// read.
var gitFileOptions = map[string]string{
	"commit": "-F --file -t --template --pathspec-from-file", "tag": "-F --file", "notes": "-F --file", "config": "-f --file", "merge": "-F --file",
	"add": "--pathspec-from-file", "blame": "--contents --ignore-revs-file", "grep": "-f", "rm": "--pathspec-from-file", "commit-tree": "-F",
}

// gitNames are options whose argument is a name or a text, no file.
const gitNames = "-b -B -c -C --orphan -m --message --author --grep -S -G -n --max-count --format --since --until --conflict -e -L"

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
	if sub == "rm" {
		for k := i; k < len(words); k++ {
			if words[k].val == "--cached" {
				return // the files stay
			}
		}
	}
	fileOptions := gitFileOptions[sub]
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
			made := operands[len(operands)-1]
			if sub == "bundle" {
				made = operands[1]
			}
			w.fileWord(made, writes, "git", p)
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
		case strings.HasPrefix(v.val, "--directory=") && sub == "apply":
			t, _ := cutWord(v, "--directory=")
			w.fileWord(&t, writes, "git", p)
		case !dashes && inList(fileOptions, v.val) && i+1 < len(words):
			i++
			acc := reads
			if sub == "config" && i+2 < len(words) {
				acc = writes
			}
			w.fileWord(&words[i], acc, "git", p)
		case !dashes && fileOptions != "" && strings.HasPrefix(v.val, "--") && strings.IndexByte(v.val, '=') > 0:
			if name, _, _ := strings.Cut(v.val, "="); inList(fileOptions, name) {
				t, _ := cutWord(v, name+"=")
				w.fileWord(&t, reads, "git", p)
			}
		case !dashes && some && inList(gitNames, v.val):
			i++
		case v.val == "--no-index":
			noIndex = true
		case v.val == "--" && !dashes:
			dashes = true
		case strings.HasPrefix(v.val, "-L") && !dashes: // -L1,2:file
			if k := strings.LastIndexByte(v.val, ':'); k > 0 {
				t := text(v.val[k+1:])
				w.fileWord(&t, reads, "git", p)
			}
		case strings.HasPrefix(v.val, "-") && !dashes:
		case gitMakes[sub] > 0:
			operands = append(operands, v)
		case named:
			w.fileWord(v, acc, "git", p)
		case some && (dashes || noIndex || sub == "restore"):
			w.fileWord(v, behind, "git", p)
		case some:
			w.gitOperand(v, behind, p)
		}
	}
}

// gitOperand records an operand that is a revision or a file, or a file in a
// revision (HEAD:file), whose path starts at the top.
func (w *walker) gitOperand(v *word, acc access, p pctx) {
	if !v.is(wStatic) {
		_, tail := w.ends(v)
		if _, file, ok := strings.Cut(tail, ":"); ok && file != "" {
			w.a.addUse(model.FileUse{Value: file, Access: model.AccessRead, Part: p.part, Program: "git"}, w.a.dir, false)
		}
		return
	}
	if _, file, ok := strings.Cut(v.val, ":"); ok {
		if len(file) > 1 && file[1] == ':' { // :0:file
			file = file[2:]
		}
		if file != "" && file[0] != '/' {
			w.a.addUse(model.FileUse{Value: file, Access: model.AccessRead, Part: p.part, Program: "git"}, w.a.dir, false)
		}
		return
	}
	if strings.Contains(v.val, "..") && !strings.Contains(v.val, "../") || strings.ContainsAny(v.val, "^@~") || rooted(v.val) {
		return
	}
	w.fileWord(v, acc, "git", p)
}

// fileWord records one file operand, if its value is known.
func (w *walker) fileWord(v *word, acc access, program string, p pctx) {
	if p.remote || w.remote {
		return
	}
	if acc == edits {
		w.fileWord(v, reads, program, p)
		acc = writes
	}
	if v.is(wStatic) {
		if v.val == "" || v.val == "-" {
			return
		}
		if file, ok := strings.CutPrefix(v.val, "file://"); ok {
			w.a.addFile(file, accesses[acc], program, p.part, false)
			return
		}
		if copiesRemote(program) && remotePath(v.val) || isURL(v.val) {
			return
		}
		w.a.addFile(literalPath(v), accesses[acc], program, p.part, v.is(wGlob))
		return
	}
	if s, ok := w.homePath(v); ok {
		w.a.addFile(s, accesses[acc], program, p.part, false)
		return
	}
	w.argumentWord(v, acc, program)
	if !w.valued(v, accesses[acc], program, p.part) {
		w.knownEnds(v, accesses[acc], program, p.part)
	}
}

// knownEnds records what is known of an operand with an expansion in it, with a *
// for what is not: "secrets/$f" is secrets/*, "$name.pem" some *.pem, "$dir/.env"
// some .env in a folder that is not known.
func (w *walker) knownEnds(v *word, acc model.Access, program string, part int) {
	a := w.a
	head, tail := w.ends(v)
	if head == "" && tail == "" || copiesRemote(program) && remotePath(head) || isURL(head) {
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

// copiesRemote reports a program whose operands may be host:path.
func copiesRemote(program string) bool {
	return inList("scp rsync docker podman nerdctl kubectl oc rclone", program)
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
	if a.light || len(a.files) >= MaxFiles {
		return
	}
	if strings.Contains(dir, dirSep) {
		for d := range strings.SplitSeq(dir, dirSep) {
			a.addUse(f, firstDir(d+dirSep), known)
		}
		return
	}
	if !known && f.Access == model.AccessDelete && strings.HasPrefix(dir, FreshDir) && !strings.Contains(f.Value, "..") && !rooted(f.Value) {
		return // what is in a folder that mktemp made is nobody's
	}
	f.Dir, f.DirKnown, f.Script = dir, known, a.script
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
	if v.is(wTilde) {
		return tildePath(s)
	}
	return "./" + s
}

// tildePath is a path with an active tilde: ~+ is $PWD, ~user someone's home.
func tildePath(s string) string {
	name, rest, _ := strings.Cut(s[1:], "/")
	switch {
	case name == "", s[0] == '$':
		return s
	case name == "+":
		return "$PWD/" + rest
	case !nameStart(name[0]):
		return s
	case name == "root":
		return "/root/" + rest
	}
	return "/home/" + name + "/" + rest
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
