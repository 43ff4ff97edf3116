package shell

import "strings"

// sed runs programs with the command `e` and with the flag `e` of `s`, and
// writes files with `w` and `W`. A small reader of sed scripts tells them from
// the same letters elsewhere.
func (w *walker) sed(words []word, p pctx) {
	o := opts{optSpec: optSpec{arg: "efl", maybe: "i", long: "expression file line-length"}, words: words[1:]}
	scripted := false
	sandbox := false
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		switch {
		case name == "--sandbox":
			sandbox = true
		case (name == "-e" || name == "--expression") && o.has:
			scripted = true
			if !sandbox {
				w.sedScript(&o.value, p)
			}
		case name == "-f" || name == "--file":
			scripted = true
		case kind == optOperand && !scripted:
			scripted = true
			if !sandbox {
				w.sedScript(&o.value, p)
			}
		}
	}
}

// sedScript walks a script of sed.
func (w *walker) sedScript(v *word, p pctx) {
	s := v.flat()
	if !v.is(wStatic) { // what stands around expansions
		s = strings.Trim(s, `"`)
	}
	r := sedReader{s: s}
	for r.i < len(r.s) && r.steps < 4096 {
		r.steps++
		switch c := r.command(); c {
		case 'e':
			w.a.reason(rSedExec)
			w.script(r.line(), "sed", p, nil)
		case 's':
			flags, file := r.substitute()
			if strings.IndexByte(flags, 'e') >= 0 {
				w.a.reason(rSedExec)
				w.script(r.replacement, "sed", p, nil)
			}
			if file != "" {
				f := text(file)
				w.fileWord(&f, writes, "sed", p)
			}
		case 'w', 'W':
			f := text(r.line())
			if f.val != "" {
				w.fileWord(&f, writes, "sed", p)
			}
		case 'r', 'R':
			f := text(r.line())
			if f.val != "" {
				w.fileWord(&f, reads, "sed", p)
			}
		case 'a', 'i', 'c':
			r.appended()
		case 'y':
			r.substitute()
		case ':', 'b', 't', 'T', 'l', 'L', 'q', 'Q':
			for r.i < len(r.s) && r.s[r.i] != ';' && r.s[r.i] != '\n' && r.s[r.i] != '}' {
				r.i++
			}
		}
	}
}

type sedReader struct {
	s           string
	i, steps    int
	replacement string
}

// command skips addresses and blanks, and returns the next command letter.
func (r *sedReader) command() byte {
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		switch {
		case c == '/':
			r.until('/')
			r.modifiers()
		case c == '\\' && r.i < len(r.s):
			d := r.s[r.i]
			r.i++
			r.until(d)
			r.modifiers()
		case c == '#':
			r.line()
		case strings.IndexByte(" \t\n;{}!,~+$", c) >= 0, c >= '0' && c <= '9':
		default:
			return c
		}
	}
	return 0
}

// modifiers of an address: I and M.
func (r *sedReader) modifiers() {
	for r.i < len(r.s) && (r.s[r.i] == 'I' || r.s[r.i] == 'M') {
		r.i++
	}
}

// until reads up to an unescaped delimiter; sets are not special in sed.
func (r *sedReader) until(d byte) string {
	from := r.i
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		if c == '\\' && r.i < len(r.s) {
			r.i++
			continue
		}
		if c == '[' && d != '[' { // a delimiter inside a set is literal in GNU sed
			if j := setEnd(r.s[r.i:]); j >= 0 && strings.IndexByte(r.s[r.i:r.i+j], d) >= 0 && strings.IndexByte(r.s[r.i+j:], d) >= 0 {
				r.i += j
				continue
			}
		}
		if c == d {
			return r.s[from : r.i-1]
		}
	}
	return r.s[from:]
}

// setEnd is where a bracket set ends, or -1.
func setEnd(s string) int {
	i := 0
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s) && s[i] != '\n'; i++ {
		if s[i] == ']' {
			return i + 1
		}
	}
	return -1
}

func (r *sedReader) line() string {
	rest := r.s[r.i:]
	if k := strings.IndexByte(rest, '\n'); k >= 0 {
		r.i += k + 1
		return strings.TrimSpace(rest[:k])
	}
	r.i = len(r.s)
	return strings.TrimSpace(rest)
}

// substitute reads the rest of s and y: delimiter, two texts, flags.
func (r *sedReader) substitute() (flags, file string) {
	if r.i >= len(r.s) {
		return "", ""
	}
	d := r.s[r.i]
	r.i++
	r.until(d)
	from := r.i
	for r.i < len(r.s) { // a set is nothing special in a replacement
		c := r.s[r.i]
		r.i++
		if c == '\\' && r.i < len(r.s) {
			r.i++
			continue
		}
		if c == d {
			break
		}
	}
	r.replacement = strings.TrimSuffix(r.s[from:min(r.i, len(r.s))], string(d))
	from = r.i
	for r.i < len(r.s) {
		c := r.s[r.i]
		if c == 'w' {
			flags = r.s[from:r.i]
			r.i++
			return flags, r.line()
		}
		if !(c == 'g' || c == 'p' || c == 'e' || c == 'i' || c == 'I' || c == 'm' || c == 'M' || c >= '0' && c <= '9') {
			break
		}
		r.i++
	}
	return r.s[from:r.i], ""
}

// appended skips the text of a, i and c.
func (r *sedReader) appended() {
	for {
		rest := r.s[r.i:]
		k := strings.IndexByte(rest, '\n')
		if k < 0 {
			r.i = len(r.s)
			return
		}
		r.i += k + 1
		if k == 0 || rest[k-1] != '\\' {
			return
		}
	}
}
