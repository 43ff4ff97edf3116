package shell

import (
	"path"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

// The values that a text itself gives to its variables say which files its operands
// are (f=.env; cat "$f"). They serve prohibitions only.

// FreshDir stands for a folder that mktemp makes: it is new, so that nothing in it
// is a file of the project.
const FreshDir = "/tmp/tmp.*"

const (
	// maxValues is how many values of a variable are remembered, maxTries how many
	// are tried in one text.
	maxValues = 256
	maxTries  = 4096
)

// reading puts together what a word with expansions is.
type reading struct {
	*walker
	// k selects one of several values; more: there is another one.
	k    int
	more bool
	// used: the text knew something; open: something is not known, and stands as *.
	used, open bool
}

func (r *reading) unknown(b *strings.Builder) {
	r.open = true
	if s := b.String(); s == "" || s[len(s)-1] != '*' {
		b.WriteByte('*')
	}
}

func (r *reading) parts(b *strings.Builder, parts []syntax.WordPart, dq bool, depth int) {
	if depth > 8 || b.Len() > maxGuess {
		r.unknown(b)
		return
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, dq)
		case *syntax.SglQuoted:
			if p.Dollar {
				s, _ := ansiC(nil, p.Value)
				b.Write(s)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			r.used = r.used || p.Dollar // $"text" is text
			r.parts(b, p.Parts, true, depth+1)
		case *syntax.ParamExp:
			r.param(b, p, dq, depth)
		case *syntax.CmdSubst:
			r.output(b, p)
		default:
			r.unknown(b)
		}
	}
}

func (r *reading) param(b *strings.Builder, p *syntax.ParamExp, dq bool, depth int) {
	if p.Param == nil || p.Length || p.Excl || p.Slice != nil || p.Repl != nil || p.Flags != nil {
		r.unknown(b)
		return
	}
	orElse := false
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
			syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			orElse = p.Exp.Word != nil
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default: // a part of the value
			r.unknown(b)
			return
		}
	}
	values, ok := r.a.all[p.Param.Value]
	if !ok {
		values = r.a.vars[p.Param.Value]
	}
	switch {
	case len(values) > 0:
		r.more = r.more || r.k+1 < len(values)
		s := values[min(r.k, len(values)-1)]
		if s == "*" {
			r.unknown(b)
			return
		}
		r.used = true
		r.open = r.open || ok && strings.IndexByte(s, '*') >= 0
		b.WriteString(s)
	case orElse:
		r.used = true
		r.parts(b, p.Exp.Word.Parts, dq, depth+1)
	default:
		if name, home := r.homeParam(p); home && b.Len() == 0 {
			b.WriteString(name)
			return
		}
		r.unknown(b)
	}
}

// output is what a command substitution prints, if that can be told.
func (r *reading) output(b *strings.Builder, p *syntax.CmdSubst) {
	if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
		r.unknown(b)
		return
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		r.unknown(b)
		return
	}
	_, moved := r.a.vars["TMPDIR"]
	switch name := call.Args[0].Lit(); {
	case name == "pwd" && len(call.Args) == 1 && b.Len() == 0:
		r.used = true
		b.WriteString("$PWD")
	case name == "mktemp" && r.tame(p) && !moved && b.Len() == 0:
		r.used = true
		b.WriteString(FreshDir)
	case name == "git" && len(call.Args) == 3 && call.Args[1].Lit() == "rev-parse" && inList("--git-dir --git-common-dir", call.Args[2].Lit()):
		r.used = true
		b.WriteString(".git")
	case name == "echo" || name == "printf":
		n := b.Len()
		r.echoed(b, call)
		r.used = r.used || b.Len() > n
	default:
		names := r.printsNames(call)
		if names == "" {
			r.unknown(b)
			return
		}
		r.used, r.open = true, true
		b.WriteString(names)
	}
}

// unescape writes a literal as its value.
func unescape(b *strings.Builder, v string, dq bool) {
	if strings.IndexByte(v, '\\') < 0 {
		b.WriteString(v)
		return
	}
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) && (!dq || strings.IndexByte("$`\"\\", v[i+1]) >= 0) {
			i++
		}
		b.WriteByte(v[i])
	}
}

// values calls each with what a word can be by what the text says; open says that a
// * in it stands for something unknown. It reports whether the text says anything.
func (w *walker) values(v *word, each func(s string, open bool)) bool {
	if v.node == nil {
		return false
	}
	for k := 0; k < maxValues && w.a.tries < maxTries; k++ {
		w.a.tries++
		r := reading{walker: w, k: k}
		var b strings.Builder
		r.parts(&b, v.node.Parts, false, 0)
		if !r.used {
			return k > 0
		}
		s := b.String()
		if len(s) > 4096 {
			s = s[:4096]
		}
		if v.is(wSplit) && strings.ContainsAny(s, " \t\n") {
			for f := range strings.FieldsSeq(s) {
				each(f, r.open)
			}
		} else {
			each(s, r.open)
		}
		if !r.more {
			break
		}
	}
	return true
}

// valued records the files that an operand is by the values that the text gives. It
// reports that they all lie in a fresh folder, so that none is known to be a
// file of the project.
func (w *walker) valued(v *word, acc model.Access, program string, part int) (fresh bool) {
	a := w.a
	fresh = true
	some := w.values(v, func(s string, open bool) {
		dir, known := a.dir, a.dirKnown
		if rest, ok := freshRest(s); ok {
			if rest != "" {
				a.addUse(model.FileUse{Value: rest, Access: acc, Part: part, Program: program}, FreshDir, false)
			}
			return
		}
		fresh = false
		if open && strings.HasPrefix(s, "*") {
			i := strings.IndexByte(s, '/')
			dir, known = "", false
			if i >= 0 {
				s = strings.TrimLeft(s[i:], "/")
			}
			if strings.Trim(s, "*") == "" {
				return
			}
		}
		if s == "" || s == "-" || isURL(s) {
			return
		}
		a.addUse(model.FileUse{Value: s, Access: acc, Part: part, Program: program, Glob: !open && strings.ContainsAny(s, "*?[")}, dir, known)
	})
	return some && fresh
}

// freshRest is the path in a folder that mktemp made.
func freshRest(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, FreshDir)
	return strings.Trim(rest, "/"), ok && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "..")
}

// dirSep parts the folders that the text may be in.
const dirSep = "\x00"

// joinDir goes on from each of the folders that the text may be in.
func joinDir(dirs, s string) string {
	if rooted(s) {
		return s
	}
	if strings.Contains(dirs, dirSep) {
		var b strings.Builder
		for dir := range strings.SplitSeq(dirs, dirSep) {
			if b.Len() > 0 {
				b.WriteString(dirSep)
			}
			b.WriteString(dirOr(path.Join(dir, s)))
		}
		return b.String()
	}
	return path.Join(dirs, s)
}

func dirOr(s string) string {
	if s == "" {
		return "."
	}
	return s
}

// eitherDir is one folder, or the other.
func eitherDir(dirs, other string) string {
	if dirs == other || strings.Count(dirs, dirSep)+strings.Count(other, dirSep) >= 7 || len(dirs)+len(other) > 4096 {
		return dirs
	}
	have := dirSep + dirs + dirSep
	for dir := range strings.SplitSeq(other, dirSep) {
		if dir = dirOr(dir); !strings.Contains(have, dirSep+dir+dirSep) {
			dirs = dirOr(dirs) + dirSep + dir
		}
	}
	return dirs
}

// firstDir is the folder that the text is in if all goes well.
func firstDir(dirs string) string {
	dir, _, more := strings.Cut(dirs, dirSep)
	if more && dir == "." {
		return ""
	}
	return dir
}

// cdValued goes to the folders that a word is by the values that the text gives.
func (w *walker) cdValued(v *word) bool {
	a := w.a
	dirs, n := "", 0
	from := a.dir
	if !w.values(v, func(s string, open bool) {
		if i := strings.IndexAny(s, "*?["); i >= 0 && !strings.HasPrefix(s, FreshDir) {
			s = s[:strings.LastIndexByte(s[:i], '/')+1]
		}
		if s == "" || s == "-" {
			return
		}
		if rest, here := strings.CutPrefix(s, "$PWD"); here {
			s = "." + rest
		}
		if d := joinDir(from, s); n == 0 {
			dirs = d
		} else {
			dirs = eitherDir(dirs, d)
		}
		n++
	}) || n == 0 || len(dirs) > 4096 {
		return false
	}
	a.dir, a.dirKnown = dirs, false
	return true
}

// headNode is a word up to its first sep, for the host's side of HOST:PLACE.
func headNode(n *syntax.Word, sep string) *syntax.Word {
	if n == nil {
		return nil
	}
	parts, _ := headParts(n.Parts, sep)
	return &syntax.Word{Parts: parts}
}

func headParts(from []syntax.WordPart, sep string) (parts []syntax.WordPart, done bool) {
	for _, p := range from {
		switch p := p.(type) {
		case *syntax.Lit:
			if head, _, ok := strings.Cut(p.Value, sep); ok {
				l := *p
				l.Value = head
				return append(parts, &l), true
			}
		case *syntax.DblQuoted:
			q := *p
			if q.Parts, done = headParts(p.Parts, sep); done {
				return append(parts, &q), true
			}
		}
		parts = append(parts, p)
	}
	return parts, false
}

// isURL reports an operand that is no file.
func isURL(s string) bool { return strings.Contains(s, "://") }

// trimNode is a word without the literal prefix that it starts with, for an operand
// behind it ("of=$f").
func trimNode(n *syntax.Word, prefix string) *syntax.Word {
	if n == nil || len(n.Parts) == 0 {
		return nil
	}
	parts := append([]syntax.WordPart{}, n.Parts...)
	switch p := parts[0].(type) {
	case *syntax.Lit:
		rest, ok := strings.CutPrefix(p.Value, prefix)
		if !ok {
			return nil
		}
		if rest == "" {
			return &syntax.Word{Parts: parts[1:]}
		}
		l := *p
		l.Value = rest
		parts[0] = &l
	case *syntax.DblQuoted:
		if len(p.Parts) == 0 {
			return nil
		}
		l, ok := p.Parts[0].(*syntax.Lit)
		if !ok || !strings.HasPrefix(l.Value, prefix) {
			return nil
		}
		lit, q := *l, *p
		lit.Value = l.Value[len(prefix):]
		q.Parts = p.Parts[1:]
		if lit.Value != "" {
			q.Parts = append([]syntax.WordPart{&lit}, p.Parts[1:]...)
		}
		parts[0] = &q
	default:
		return nil
	}
	return &syntax.Word{Parts: parts}
}
