package shell

import "strings"

// Interpreters get code in their own language. What it runs is found by its
// calls: good for the common ones, no more, and for deny rules only.

// interpTable has one line per interpreter: the options whose argument is code,
// and those that take any other argument.
var interpTable = []struct {
	names       string
	code, other string
	maybe       string
	longCode    string
	sub         string // subcommand whose operand is code
}{
	{names: "python python3 python2 pypy", code: "c", other: "mWXQ"},
	{names: "node nodejs bun", code: "ep", other: "rCi", longCode: "eval print"},
	{names: "deno", code: "", longCode: "", sub: "eval"},
	{names: "perl", code: "eE", other: "IMmFCxD", maybe: "i0l"},
	{names: "ruby", code: "e", other: "ICErFKTWx", maybe: "i0"},
	{names: "php", code: "rBRE", other: "dcfFSt"},
	{names: "lua luajit Rscript julia elixir groovy scala osascript tclsh", code: "e", other: "lLs", longCode: "eval"},
	{names: "irb ghci", code: "e"},
}

// maxCode bounds the code that is searched.
const maxCode = 32 << 10

func (w *walker) interpreter(words []word, base string, p pctx) {
	base = strings.TrimRight(base, "0123456789.-")
	t := &interpTable[0]
	for i := range interpTable {
		if inList(interpTable[i].names, base) || inList(interpTable[i].names, base+"3") {
			t = &interpTable[i]
		}
	}
	o := opts{optSpec: optSpec{arg: t.code + t.other, maybe: t.maybe, long: t.longCode}, words: words[1:]}
	for {
		name, kind := o.next()
		switch {
		case kind == optEnd:
			if p.input {
				w.a.reason(rXargsShell)
			}
			w.interpStdin(p)
			return
		case kind == optOperand:
			s := o.value.val
			if t.sub != "" && s == t.sub {
				for k := o.at + 2; k < len(words); k++ {
					w.code(words[k].flat(), base, p)
				}
				return
			}
			if o.value.is(wProc) {
				w.a.reason(rInterpStdin)
			}
			if s == "-" || s == "/dev/stdin" || strings.HasPrefix(s, "/dev/fd/") || strings.HasPrefix(s, "/proc/self/fd/") {
				w.interpStdin(p)
			}
			return
		case len(name) == 2 && o.has && strings.IndexByte(t.code, name[1]) >= 0,
			len(name) > 2 && o.has && inList(t.longCode, strings.TrimLeft(name, "-")):
			if p.hole != "" && strings.Contains(o.value.flat(), p.hole) {
				w.a.reason(p.why)
			}
			w.code(o.value.flat(), base, p)
			return
		case name == "-m" && base[0] == 'p' && o.has, name == "-V", name == "--version", name == "-v" && base != "perl" && base != "ruby", name == "--help", name == "-h":
			return
		}
	}
}

// interpStdin: an interpreter runs the code that it reads. A here-document is
// an everyday way to give it some; a pipe hides what it is.
func (w *walker) interpStdin(p pctx) {
	switch {
	case p.cx.stdin == inPipe || p.cx.fn && p.cx.stdin == inNone:
		w.a.reason(rInterpStdin)
	case p.cx.body != "":
		w.code(p.cx.body, "stdin", p)
	}
}

// runsPrograms are the words in code that run programs; longer ones first.
var runsPrograms = []string{
	"subprocess", "check_output", "check_call", "execFileSync", "execFile", "execSync", "spawnSync", "spawn", "system", "popen", "Popen",
	"execvp", "execv", "execl", "exec", "shell_exec", "passthru", "proc_open", "pcntl_exec", "getoutput", "getstatusoutput", "run", "call",
	"Command", "capture2", "capture3", "posix_spawn", "do shell script", "shell",
}

// code looks for calls that run programs.
func (w *walker) code(s, via string, p pctx) {
	if len(s) > maxCode {
		s = s[:maxCode]
	}
	if !mayRun(s) {
		return
	}
	found := 0
	for i := 0; i < len(s) && found < 64; i++ {
		switch c := s[i]; {
		case c == '`' && (via == "ruby" || via == "perl" || via == "php" || via == "stdin" || via == "node" || via == "bun" || via == "lua"):
			if j := strings.IndexByte(s[i+1:], '`'); j >= 0 {
				w.script(s[i+1:i+1+j], via, p, nil)
				found++
				i += j + 1
			}
		case c == '%' && i+2 < len(s) && s[i+1] == 'x' && strings.IndexByte("{([|!", s[i+2]) >= 0:
			w.delimited(s[i+2:], via, p)
			found++
		case c == 'q' && strings.HasPrefix(s[i:], "qx") && i+2 < len(s) && strings.IndexByte("{([|!/'", s[i+2]) >= 0:
			w.delimited(s[i+2:], via, p)
			found++
		case (i == 0 || !nameStart(s[i-1])) && nameStart(c):
			for _, f := range runsPrograms {
				if strings.HasPrefix(s[i:], f) && (i+len(f) == len(s) || !nameStart(s[i+len(f)])) {
					if w.callArgs(s[i+len(f):], via, p) {
						found++
					}
					break
				}
			}
		}
	}
}

func mayRun(s string) bool {
	if strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "%x") || strings.Contains(s, "qx") {
		return true
	}
	for _, f := range runsPrograms {
		if strings.Contains(s, f) {
			return true
		}
	}
	return false
}

// delimited runs what stands between a delimiter and its partner.
func (w *walker) delimited(s, via string, p pctx) {
	end := s[0]
	if k := strings.IndexByte("{([", end); k >= 0 {
		end = "})]"[k]
	}
	if j := strings.IndexByte(s[1:], end); j >= 0 {
		w.script(s[1:1+j], via, p, nil)
	}
}

// callArgs reads the first literal arguments of a call: one string is a script,
// several are words. Text right after the name may be a member or a blank.
func (w *walker) callArgs(s, via string, p pctx) bool {
	i := 0
	for i < len(s) && (s[i] == '.' || s[i] == '_' || nameStart(s[i]) || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '(' || s[i] == '[' || s[i] == '\n' || s[i] == '\t') {
		i++
	}
	if i > 0 && i < len(s) && (s[i] == 'f' || s[i] == 'r' || s[i] == 'b') && i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '"') {
		i++
	}
	var words []word
	joined := false
	for i < len(s) && len(words) < 64 {
		lit, n, ok := stringLiteral(s[i:])
		if !ok {
			break
		}
		words = append(words, text(lit))
		i += n
		for i < len(s) && strings.IndexByte(" \t\n", s[i]) >= 0 {
			i++
		}
		if i < len(s) && (s[i] == ',' || s[i] == '[') {
			joined = true
			for i < len(s) && strings.IndexByte(" ,[\t\n", s[i]) >= 0 {
				i++
			}
			continue
		}
		break
	}
	switch {
	case len(words) == 0:
		return false
	case len(words) == 1 && !joined:
		w.script(words[0].val, via, p, nil)
	default:
		if lookup(baseName(words[0].val)) == nil && strings.ContainsAny(words[0].val, " ;|&") {
			w.script(words[0].val, via, p, nil)
			return true
		}
		w.inner(words, via, p)
	}
	return true
}

// stringLiteral reads a quoted string at the start of s.
func stringLiteral(s string) (lit string, n int, ok bool) {
	if s == "" || strings.IndexByte("'\"`", s[0]) < 0 {
		return "", 0, false
	}
	q := s[:1]
	if strings.HasPrefix(s, q+q+q) {
		if j := strings.Index(s[3:], q+q+q); j >= 0 {
			return s[3 : 3+j], j + 6, true
		}
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) {
				switch s[i] {
				case 'n':
					b.WriteByte('\n')
				case 't':
					b.WriteByte('\t')
				default:
					b.WriteByte(s[i])
				}
			}
		case s[0]:
			return b.String(), i + 1, true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, false
}

// awk runs programs through system(), pipes and getline.
func (w *walker) awk(words []word, p pctx) {
	o := opts{optSpec: optSpec{arg: "FfvieEl", long: "field-separator file assign include source exec load"}, words: words[1:]}
	for {
		name, kind := o.next()
		switch {
		case kind == optEnd:
			return
		case kind == optOption && (name == "-f" || name == "--file" || name == "-E"):
			return
		case kind == optOption && (name == "-e" || name == "--source") && o.has:
			w.awkScript(&o.value, p)
		case kind == optOperand:
			w.awkScript(&o.value, p)
			return
		}
	}
}

func (w *walker) awkScript(v *word, p pctx) {
	s := v.flat()
	if len(s) > maxCode {
		s = s[:maxCode]
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"': // a string; `"cmd" | getline` runs it
			lit, n, ok := stringLiteral(s[i:])
			if !ok {
				return
			}
			i += n - 1
			rest := strings.TrimLeft(s[i+1:], " \t&")
			if strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, "||") && strings.HasPrefix(strings.TrimLeft(rest, "|& \t"), "getline") {
				w.script(lit, "awk", p, nil)
			}
		case s[i] == '|' && i+1 < len(s) && s[i+1] == '|':
			i++
		case s[i] == '|':
			rest := strings.TrimLeft(s[i+1:], "& \t")
			if lit, _, ok := stringLiteral(rest); ok && rest[0] == '"' {
				w.script(lit, "awk", p, nil)
			} else if !strings.HasPrefix(rest, "getline") {
				w.a.reason(rOptionExec)
			} else if !strings.HasSuffix(strings.TrimRight(s[:i], " \t"), `"`) {
				w.a.reason(rOptionExec)
			}
		case strings.HasPrefix(s[i:], "system") && (i == 0 || !nameStart(s[i-1])):
			rest := strings.TrimLeft(s[i+len("system"):], " \t")
			if !strings.HasPrefix(rest, "(") {
				continue
			}
			rest = strings.TrimLeft(rest[1:], " \t")
			lit, n, ok := stringLiteral(rest)
			if !ok || rest[0] != '"' || !strings.HasPrefix(strings.TrimLeft(rest[n:], " \t"), ")") {
				w.a.reason(rOptionExec)
			}
			if ok {
				w.script(lit, "awk", p, nil)
			}
		case s[i] == '#':
			if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
				i += k
			} else {
				return
			}
		}
	}
}

// vim runs the commands that it is given with -c, --cmd and +.
func (w *walker) vim(words []word, p pctx) {
	for i := 1; i < len(words); i++ {
		s := words[i].flat()
		cmd, ok := "", false
		switch {
		case (s == "-c" || s == "--cmd" || s == "-eval" || s == "--eval") && i+1 < len(words):
			i++
			cmd, ok = words[i].flat(), true
			if !words[i].is(wStatic) {
				w.a.reason(rOptionExec)
			}
		case strings.HasPrefix(s, "-c") && len(s) > 2:
			cmd, ok = s[2:], true
		case strings.HasPrefix(s, "+") && len(s) > 1:
			cmd, ok = s[1:], true
		}
		if !ok {
			continue
		}
		if k := strings.IndexByte(cmd, '!'); k >= 0 && !strings.HasPrefix(cmd, "q") && !strings.HasPrefix(cmd, "wq") {
			w.script(strings.TrimLeft(cmd[k:], "! "), "vim", p, nil)
		}
		if strings.Contains(cmd, "system") || strings.Contains(cmd, "py") || strings.Contains(cmd, "lua") || strings.Contains(cmd, "shell-command") || strings.Contains(cmd, "call-process") {
			w.code(cmd, "vim", p)
			w.a.reason(rOptionExec)
		}
	}
	if p.cx.stdin == inPipe {
		for i := 1; i < len(words); i++ {
			if s := words[i].flat(); s == "-s" || s == "-es" || s == "-" && words[0].val == "ex" {
				w.a.reason(rInterpStdin)
			}
		}
	}
}
