package shell

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

var noInner = []model.Simple{}

// spell fills the spellings of a part.
func (w *walker) spell(p *model.Part, words []word, assigns []assignment, pos int) {
	if len(assigns) > 0 {
		p.Assignments = make([]string, 0, len(assigns))
		for i := range assigns {
			if assigns[i].name != "" {
				p.Assignments = append(p.Assignments, assigns[i].name)
			}
		}
		p.Neutral = len(words) == 0
		for i := range assigns {
			if p.Neutral && (!assigns[i].plain || variableOf(assigns[i].name) != varHarmless || assigns[i].suspicious()) {
				p.Neutral = false
			}
		}
	}
	p.Text, p.Canonical, p.Flat = w.spellings(words, assigns)
	p.Program, p.Args = programOf(words)
}

var noArgs = []string{}

// programOf is the first word's value, "" if it is not static, and the rest: the
// values where static, else source text.
func programOf(words []word) (program string, args []string) {
	if len(words) == 0 {
		return "", noArgs
	}
	if words[0].is(wStatic) {
		program = words[0].val
	}
	if len(words) == 1 {
		return program, noArgs
	}
	args = make([]string, len(words)-1)
	for i := range args {
		args[i] = words[i+1].flat()
	}
	return program, args
}

// spellings joins words in the three ways. Where they are the same, and the
// source is, no text is copied.
func (w *walker) spellings(words []word, assigns []assignment) (src, canon, flat string) {
	if len(assigns) == 0 {
		same := true
		for i := range words {
			if !words[i].is(wBare) {
				same = false
				break
			}
		}
		if same {
			if s, ok := w.contiguous(words); ok {
				return s, s, s
			}
			s := w.join(words, assigns, asCanonical)
			return s, s, s
		}
	}
	src = w.join(words, assigns, asSource)
	if canon = w.join(words, assigns, asCanonical); canon == src {
		canon = src
	}
	if flat = w.join(words, assigns, asFlat); flat == canon {
		flat = canon
	}
	return src, canon, flat
}

// contiguous slices bare words out of the source if single blanks part them.
func (w *walker) contiguous(words []word) (string, bool) {
	if words[0].node == nil {
		return "", false
	}
	from := int(words[0].node.Pos().Offset())
	at := from
	for i := range words {
		n := words[i].node
		if n == nil || int(n.Pos().Offset()) != at {
			return "", false
		}
		at += len(words[i].val)
		if at > len(w.text) || w.text[at-len(words[i].val):at] != words[i].val {
			return "", false
		}
		if i < len(words)-1 {
			if at >= len(w.text) || w.text[at] != ' ' {
				return "", false
			}
			at++
		}
	}
	return w.text[from:at], true
}

// spelling is one of the three ways to write a command.
type spelling uint8

const (
	asSource spelling = iota
	asCanonical
	asFlat
)

// reserved are the words that mean something else in front of a command.
const reserved = "if then else elif fi do done case esac while until for in function select time coproc !"

// special reports a quoted program name that would be a keyword or an
// assignment without its quotes.
func special(v *word) bool {
	if v.is(wBare) || !v.plain() || !v.is(wQuoted) {
		return false
	}
	if inList(reserved, v.val) {
		return true
	}
	name, _, ok := strings.Cut(v.val, "=")
	return ok && bare(v.val) && name != "" && nameStart(name[0])
}

func (w *walker) join(words []word, assigns []assignment, how spelling) string {
	a := w.a
	mark := len(a.buf)
	blank := func() {
		if len(a.buf) > mark {
			a.buf = append(a.buf, ' ')
		}
	}
	for i := range assigns {
		blank()
		switch as := &assigns[i]; {
		case how == asSource || !as.plain:
			a.buf = append(a.buf, as.src...)
		case how == asFlat && !as.array:
			a.buf = append(append(append(a.buf, as.name...), '='), as.value.val...)
		default:
			a.buf = append(a.buf, as.canon...)
		}
	}
	for i := range words {
		blank()
		switch how {
		case asSource:
			a.buf = append(a.buf, words[i].src...)
		case asCanonical:
			if i == 0 && special(&words[0]) {
				a.buf = append(append(append(a.buf, '\''), words[0].val...), '\'')
				continue
			}
			a.buf = append(a.buf, words[i].canon()...)
		default:
			a.buf = append(a.buf, words[i].flat()...)
		}
	}
	s := string(a.buf[mark:])
	a.buf = a.buf[:mark]
	return s
}
