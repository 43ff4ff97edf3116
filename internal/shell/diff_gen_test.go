package shell

import (
	"math/rand/v2"
	"strings"
)

// generator makes shell texts for the differential test: from a grammar, from a
// soup of tokens, and by changing rows of the corpus. Half of them are hostile.
type generator struct {
	r    *rand.Rand
	seed []string
}

func newGenerator(seed uint64, corpus []string) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), seed: corpus}
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// text makes the next text.
func (g *generator) text() string {
	switch g.r.IntN(10) {
	case 0, 1, 2:
		return g.list(3)
	case 3, 4:
		return g.soup()
	case 5, 6, 7:
		return g.mutate()
	case 8:
		return g.hostile()
	default:
		return g.wrapped(3)
	}
}

func (g *generator) command(d int) string {
	words := g.pick("rm", "ls", "echo", "a", "b", "r\\m", "'rm'", "r''m", `"rm"`, "/bin/rm", "$'rm'", "rm", "cat", "true", "false", "printf %s", "test", "[", ":")
	for range g.r.IntN(4) {
		words += " " + g.word(d)
	}
	if g.r.IntN(4) == 0 {
		words += " " + g.redirect(d)
	}
	if g.r.IntN(8) == 0 {
		words = g.pick("x", "y", "A_B") + "=" + g.word(d) + " " + words
	}
	return words
}

func (g *generator) word(d int) string {
	if d <= 0 {
		return g.pick("q", "-rf", "x", "'a b'", `"a b"`, "$x", `"$x"`, "*", "x*", "a\\ b", "~", "{a,b}", "$((1+1))", "1", "-n", "''")
	}
	d--
	switch g.r.IntN(22) {
	case 0, 1:
		return "$(" + g.list(d) + ")"
	case 2:
		return `"$(` + g.list(d) + `)"`
	case 3:
		return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`", "$", "\\$").Replace(g.list(d)) + "`"
	case 4:
		return "${x:-" + g.word(d) + "}"
	case 5:
		return `"${x:-` + g.word(d) + `}"`
	case 6:
		return "<(" + g.list(d) + ")"
	case 7:
		return "'" + strings.ReplaceAll(g.list(d), "'", "") + "'"
	case 8:
		return `"` + strings.NewReplacer(`"`, `\"`, "$", "\\$", "`", "\\`").Replace(g.list(d)) + `"`
	case 9:
		return "$((" + g.pick("1+", "x+", "$(echo 1)+", "a[0]+") + "1))"
	case 10:
		return "${x/" + g.word(d) + "/" + g.word(d) + "}"
	case 11:
		return "${a[" + g.word(d) + "]}"
	case 12:
		return "$'" + g.pick(`\x41`, `\'`, `\\`, `a\tb`, `\101`) + "'"
	case 13:
		return "{" + g.word(d) + "," + g.word(d) + "}"
	case 14:
		return `"$(cat <<` + g.pick("E", "'E'", `"E"`, "\\E", "-E") + "\n" + g.body(d) + "\nE\n)\""
	default:
		return g.word(0)
	}
}

func (g *generator) redirect(d int) string {
	switch g.r.IntN(9) {
	case 0:
		return ">" + g.pick("f", "/dev/null", "'f g'")
	case 1:
		return "2>&1"
	case 2:
		return "<" + g.pick("f", "/dev/null")
	case 3:
		return "&>f"
	case 4:
		return "<<<" + g.word(d)
	case 5:
		return "<<" + g.pick("E", "'E'", `"E"`, "\\E", "-E") + "\n" + g.body(d) + "\nE\n"
	case 6:
		return ">>f 2>/dev/null"
	case 7:
		return ">&f"
	default:
		return "< <(" + g.list(d-1) + ")"
	}
}

func (g *generator) body(d int) string {
	var b strings.Builder
	for range 1 + g.r.IntN(3) {
		b.WriteString(g.pick("x y", "it's", `"`, "rm q", "$(rm q)", "`rm q`", "${x:-$(rm q)}", "\\", "$(echo ')", "#", "E ", " E", "a\\", "\tE", "$x", "E\\", "E)", "E $(rm q)", "Ex`rm q`)", "E}"))
		b.WriteString(g.pick("", "\n", " "))
	}
	return b.String()
}

func (g *generator) list(d int) string {
	if d <= 0 {
		return g.pick("rm q", "ls", "echo x", "rm -rf x", "a", "true")
	}
	d--
	switch g.r.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		return g.command(d)
	case 6, 7:
		return g.command(d) + g.pick("; ", " && ", " || ", "\n", " & ", "|", " | ", " |& ") + g.list(d)
	case 8:
		return "(" + g.list(d) + ")" + g.pick("", " >f")
	case 9:
		return "{ " + g.list(d) + "; }"
	case 10:
		return "if " + g.list(d) + "; then " + g.list(d) + "; " + g.pick("", "else "+g.list(d)+"; ") + "fi"
	case 11:
		return "for i in " + g.word(d) + " z; do " + g.list(d) + "; done"
	case 12:
		return "while " + g.command(d) + "; do " + g.list(d) + "; break; done"
	case 13:
		return "case " + g.word(d) + " in " + g.pick("*", "x", "(x|*") + ") " + g.list(d) + ";; esac"
	case 14:
		return "f() { " + g.list(d) + "; }; f"
	case 15:
		return "! " + g.list(d)
	case 16:
		return g.pick("time ", "time -p ", "coproc ") + g.command(d)
	case 17:
		return "[[ " + g.word(d) + g.pick(" == ", " =~ ", " -eq ", " != ") + g.word(d) + " ]]"
	case 18:
		return "(( " + g.pick("1", "x", "$(rm q)", "a['1']", "x=1") + " ))"
	case 19:
		return g.pick("x", "a[0]", "y") + "=" + g.pick(g.word(d), "("+g.word(d)+" "+g.word(d)+")")
	case 20:
		return g.pick("export ", "declare ", "local ", "readonly ", "let ") + "x=" + g.word(d)
	case 21:
		return g.command(d) + " # " + g.pick("c", "it's", "\\", `"`, "`") + "\n" + g.list(d)
	case 22:
		return g.command(d) + " \\\n" + g.word(d)
	default:
		return g.wrapped(d)
	}
}

// wrapped makes a command behind wrappers.
func (g *generator) wrapped(d int) string {
	if d <= 0 {
		return g.command(0)
	}
	d--
	inner := g.wrapped(d)
	if g.r.IntN(2) == 0 {
		inner = g.command(0)
	}
	q := "'" + strings.ReplaceAll(inner, "'", `'\''`) + "'"
	switch g.r.IntN(19) {
	case 0:
		return "env " + g.pick("", "-i PATH=\"$PATH\" ", "A=1 ", "-u X ", "-- ", "--unset=Y ") + inner
	case 1:
		return "nice " + g.pick("", "-n 1 ", "-1 ", "--adjustment=1 ", "--adj 1 ") + inner
	case 2:
		return "timeout " + g.pick("", "-k 1 ", "-s KILL ", "--signal=KILL ", "--sig KILL ", "--foreground ") + "5 " + inner
	case 3:
		return "nohup " + inner
	case 4:
		return "setsid " + g.pick("", "-w ", "--wait ") + inner
	case 5:
		return "stdbuf -o0 " + inner
	case 6:
		return "command " + g.pick("", "-p ", "-- ") + inner
	case 7:
		return "exec " + g.pick("", "-a ls ", "-c ", "-l ") + inner
	case 8:
		return "eval " + q
	case 9:
		return "eval " + inner
	case 10:
		return g.pick("bash -c ", "sh -c ", "bash -ec ", "bash --norc -c ", "bash -o posix -c ", "dash -c ", "bash +x -c ") + q
	case 11:
		return "echo x | xargs " + g.pick("", "-n 1 ", "-I{} ", "-r ", "-I % ", "--max-args 1 ") + inner
	case 12:
		return "find . -maxdepth 0 " + g.pick("-exec ", "-execdir ") + inner + " {} \\;"
	case 13:
		return "trap " + q + " EXIT"
	case 14:
		return "builtin " + g.pick("eval ", "command ") + inner
	case 15:
		return "env -S " + q
	case 16:
		return g.pick("awk 'BEGIN{system(\"", "awk 'BEGIN{\"") + g.pick("rm q", "ls") + g.pick("\")}'", "\"|getline}'")
	case 17:
		return "sed " + g.pick("1e"+"rm", "'s/x/rm q/e'", "-n 's/a;e/b/p'", "'/x/e rm q'") + " f"
	default:
		return "x=" + g.word(0) + " " + inner
	}
}

var tokens = []string{
	"'", `"`, "`", "$(", ")", "(", "{", "}", "<<E", "<<'E'", "<<-E", "\n", "\nE\n", "E", "\\", "\\\n", "#", ";", "&", "|", "&&", "||", "((", "))",
	"[[", "]]", "rm q", "rm", " rm q ", "ls", "echo", "x=1", "$x", "${x:-", "${x", "<(", ">(", ">f", "2>&1", ">&", "<&", "case x in", "esac", "x)", "if", "then", "fi",
	"do", "done", "while", "for i in", "let x=1", "let", "!", "coproc", "time", "eval", "bash -c", "function f", "f()", "=", "@(", "*(", "$'", `$"`, "$((", "$[", "]", "[",
	"a[", "]=", "+=", " ", " ", " ", "\t", "-", "--", "x", "*", "?", "~", "$", "$$", "$@", "!!", "&>", ">|", "<>", "<<<", ";;", ";&", "|&", "in", "{a,b}", "declare -i", "export", "\\'", `\"`, "\\`", "%", ":", "+", "^", "@", ",",
}

func (g *generator) soup() string {
	var b strings.Builder
	for range 2 + g.r.IntN(14) {
		b.WriteString(tokens[g.r.IntN(len(tokens))])
		if g.r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	b.WriteString(g.pick("", "\nrm q", ";rm q", " rm q", "\nrm q #'", "\nrm q #`", "\nrm q #\"", "\nE\nrm q", ")"))
	return b.String()
}

// mutate changes a row of the corpus.
func (g *generator) mutate() string {
	s := g.seed[g.r.IntN(len(g.seed))]
	if len(s) > 600 {
		s = s[:600]
	}
	for range 1 + g.r.IntN(3) {
		i := g.r.IntN(len(s) + 1)
		switch g.r.IntN(8) {
		case 6: // one character of punctuation
			const marks = "'\"`$(){}[]<>|&;#\\!=~*?-+:@%^, \n"
			k := g.r.IntN(len(marks))
			s = s[:i] + marks[k:k+1] + s[i:]
		case 7: // a line continuation
			s = s[:i] + "\\\n" + s[i:]
		case 0, 1:
			s = s[:i] + tokens[g.r.IntN(len(tokens))] + s[i:]
		case 2:
			j := min(len(s), i+1+g.r.IntN(4))
			s = s[:i] + s[j:]
		case 3:
			t := g.seed[g.r.IntN(len(g.seed))]
			if len(t) > 200 {
				t = t[:200]
			}
			s = s[:i] + t + s[i:]
		case 4:
			s += g.pick("\n", ";", " ", "|", " && ") + "rm q"
		case 5:
			s = s[:i] + g.pick("$(rm q)", "`rm q`", "\nrm q\n", "'$(rm q)'", `"$(rm q)"`, "<(rm q)", "\\\n") + s[i:]
		}
	}
	return s
}

// hostile fills shapes that once hid a command.
func (g *generator) hostile() string {
	tail := g.pick("rm q", "rm q #'", "rm q #`", "rm q #\"", "rm q;")
	switch g.r.IntN(29) {
	case 26:
		return g.pick("RANDOM", "OPTIND", "SECONDS", "x", "x[0]", "LINENO", "HISTCMD", "SRANDOM", "PATH", "IFS", "_", "BASH_ARGV0", "COLUMNS", "UID") + "=" +
			g.pick("'a[$(rm q)]'", "\"a[\\$(rm q)]\"", "$(rm q)", "'$(rm q)'") + g.pick("", "; echo $((x))", "; let y=x", "; : ${x@P}", "; [[ $x ]]", "; [[ x -gt 0 ]]", "; echo ${!x}", " ls", "; read -t x", "; exit $x", "; shift x", "; kill -x", "; ulimit -c $x")
	case 27: // a continuation inside a token
		return g.pick("ls ", "echo a ", "cat ") + g.pick("$", "<", ">", "&", "|", "$(", "`", "<<", "((", "${x", "'", "\"", "[", "#", "<(", "$'") + "\\\n" + g.pick("{x}", "(rm q)", "<E\nrm q\nE", "& rm q", "| rm q", ">f", "E\nrm q\nE", " rm q", "'", "x") + "\n" + tail
	case 28: // declarations of every kind
		return g.pick("declare", "typeset", "local", "export", "readonly", "let", "integer", "f() { local") + g.pick("", " -i", " -n", " -x", " -a", " -A", " -r", " -g", " -l") + " " +
			g.pick("x='a[$(rm q)]'", "'x=a[$(rm q)]'", "a[$(rm q)]=1", "'a[$(rm q)]=1'", "x=$(rm q)", "x=y", "$(rm q)", "x=(rm q)", "x+=`rm q`", "'a[$(rm q)]'") + g.pick("", "; x='a[$(rm q)]'; y=$x", "; echo $x", "; }; f", "; echo $((x))")
	case 0:
		return g.command(0) + " # " + g.pick("", "x ", "'", "\"") + "\\" + g.pick("", "\\", " ") + "\n" + tail
	case 1:
		return "cat <<" + g.pick(`"A\\B"`, "$'A\\x42'", "A\\\\B", "'A B'", `"A$x"`, "A'B'", "$(echo E)", "`E`", "E\\\nF", "${x}") + "\n" + g.body(0) + "\nA\\B\n" + tail + "\nAB\n"
	case 2:
		return "cat <<E\n" + g.body(0) + "\nE\\\n\n" + tail + "\nE"
	case 3:
		return "cat <<E\n$(echo " + g.pick("')", `")`, "`)") + "\nE\n" + tail + ")\nE"
	case 4:
		return "echo `cat <<E`\n" + tail + "\nE"
	case 5:
		return "echo $(cat <<E)\n" + tail + "\nE"
	case 6:
		return "let x=1" + g.pick("&", "|", "<<E\n'\nE\n", ";", "&&", ">f;", "<(", ">(") + tail
	case 7:
		return "ls " + g.pick("@(", "*(", "?(", "+(", "!(") + g.pick("$(rm q)", "`rm q`", "e:'rm q':", "e:rm:", "+rm", "a|b", "<(rm q)") + ")"
	case 8:
		return "echo `echo " + g.pick("'", `"`, "\\'", "$(", "${x", "#") + " `; " + tail + g.pick("'`", "\"`", "`")
	case 9:
		return "echo " + g.pick("", `"`) + "${x" + g.pick(":-", "-", "/a/", "##", "%", ":", "^", "@") + g.pick("<(rm q)", "'}", "\"}\"", "'$(rm q)'", ">(rm q)", "`rm q`", "\\}", "$'}'") + "}" + g.pick("", `"`) + "; " + tail
	case 10:
		return "coproc " + g.pick("rm q", "rm <f", "rm q | cat", "N rm q", "N { rm q; }", "N (rm q)") + "; wait"
	case 11:
		return "echo hi " + g.pick(">&", "<&") + g.pick("'$(rm q)'", "'>(rm q)'", "\"$x\"", "$x", "1", "-", "f", "\\$\\(rm\\ q\\)")
	case 12:
		return g.pick("{rm q}", "{rm,q}", "{ rm q }", "{ rm q; }", "=rm q", "{}", "{rm }", "}rm q")
	case 13:
		return "echo $" + g.pick("((", "[") + g.pick(" '$(rm q)' ", " a['$(rm q)'] ", `"$(rm q)"`, "'))", "x ? '1' : 2", "`rm q`") + g.pick("))", "]") + "; " + tail
	case 14:
		return g.pick("rm\\", "echo \\", "rm q\\", "\\rm\\\n q", "r\\\nm q")
	case 15:
		return "x='a[$(rm q)]'; " + g.pick("echo $((x))", "((x))", "[[ x -eq 1 ]]", "let x", "declare -i y=x", "a[x]=1", "echo ${a[x]}", "test -v \"$x\"", "printf -v \"$x\" b", "echo ${a:x}", "unset \"$x\"", "for ((i=x;0;)); do :; done")
	case 16:
		return g.pick("test -v", "[ -v", "[[ -v", "printf -v", "read", "declare", "unset", "export", "let", "typeset", "wait -p") + " 'a[$(rm q)]' " + g.pick("]", "]]", "x", "<<<x", "")
	case 17:
		return "x='$(rm q)'; echo ${x@P} ${x" + g.pick("@Q", "@E", "@A", "") + "}"
	case 18:
		return g.pick("PATH=.", "IFS=,", "x=rm", "BASH_ENV=f", "PS4='$(rm q)'", "ENV=f") + "; " + g.pick("$x q", "set -x; ls", "c=rm,q; $c", "ls", "bash -c ls")
	case 19:
		return "f() { " + g.pick("bash", "sh", "rm q", "eval \"$1\"", "\"$@\"", "cat") + "; }; " + g.pick("echo rm q | f", "f rm q", "f 'rm q'", "f")
	case 20:
		return "echo 'rm q' | " + g.pick("bash", "sh -s", "{ bash; }", "( sh )", "while read l; do $l; done", "xargs", "xargs -I{} bash -c {}", "tee >(bash)", "env bash", "if true; then sh; fi", "command sh", "cat | sh")
	case 21:
		return "exec " + g.pick("<<<'rm q'", "< <(echo rm q)", "0<f", "3<<<'rm q'") + "; " + g.pick("bash", "sh", "bash <&3", "cat", "read x; $x", ". /dev/stdin")
	case 22:
		return "alias ls='rm q'\n" + g.pick("ls", "shopt -s expand_aliases\nls", "\\ls")
	case 23:
		return "case x in " + g.pick("x", "$(rm q)", "`rm q`", "(x", "x|y", "'", "@(x)") + ") " + tail + g.pick(";;", ";&", ";;&", "") + " esac"
	case 24:
		return "((" + g.pick("rm q", "rm q) ; (ls", " rm q ", "(rm q)") + g.pick("))", ") )", ") ; )")
	default:
		return g.pick("select i in a; do rm q; break; done <<<1", "for i; do rm q; done", "set -- a; for i do rm q; done", "for ((;;)) { rm q; break; }", "function f { rm q; }; f", "function f() (rm q); f", "f() if true; then rm q; fi; f", "f() [[ $(rm q) ]]; f", "repeat 2 rm q", "if [[ x ]] { rm q }", "for i (a b) rm q", "() { rm q }", "rm q &!", "noglob rm q", "- rm q", "{ rm q } always { ls }", "while ((0)) rm q", "echo =(rm q)", "print -P '%$(rm q)'", "ls(e:'rm q':)", "echo ${(e):-'$(rm q)'}", "echo ${:-$(rm q)}", "a=(rm q); $a", "a=(rm q); ${=a}")
	}
}
