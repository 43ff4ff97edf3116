package install

import (
	"fmt"
	"strings"
	"unicode"
)

// call is one statement of a rules file: a function with named arguments.
type call struct {
	name, text string
	args       map[string]literal
}

// literal is a text, or a list if list is not nil.
type literal struct {
	text string
	list []literal
}

// reader reads the part of Starlark that rules files are written in: calls of
// functions with texts and lists of texts.
type reader struct {
	src string
	pos int
}

// parseRules returns the calls of a rules file. Whatever else Starlark has
// (variables, functions, loads) is an error that names the line: skipping it could
// lose a prohibition.
func parseRules(src string) ([]call, error) {
	r := &reader{src: src}
	var out []call
	for {
		r.blank()
		if r.pos >= len(r.src) {
			return out, nil
		}
		c, err := r.statement()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
}

func (r *reader) wrong(what string) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(r.src[:min(r.pos, len(r.src))], "\n"), what)
}

// blank passes blanks, comments and semicolons.
func (r *reader) blank() {
	for r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case c == '#':
			for r.pos < len(r.src) && r.src[r.pos] != '\n' {
				r.pos++
			}
		case c == ' ', c == '\t', c == '\r', c == '\n', c == ';':
			r.pos++
		default:
			return
		}
	}
}

func (r *reader) word() string {
	start := r.pos
	for r.pos < len(r.src) && (r.src[r.pos] == '_' || r.src[r.pos] < 0x80 && (unicode.IsLetter(rune(r.src[r.pos])) || unicode.IsDigit(rune(r.src[r.pos])))) {
		r.pos++
	}
	return r.src[start:r.pos]
}

func (r *reader) take(c byte) bool {
	r.blank()
	if r.pos < len(r.src) && r.src[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) statement() (call, error) {
	start := r.pos
	c := call{name: r.word(), args: map[string]literal{}}
	if c.name == "" || !r.take('(') {
		return c, r.wrong("lictor reads only calls such as prefix_rule(…) in rules files")
	}
	for !r.take(')') {
		r.blank()
		name := r.word()
		if name == "" || !r.take('=') {
			return c, r.wrong("an argument by name is expected")
		}
		if _, twice := c.args[name]; twice {
			return c, r.wrong("the argument " + name + " stands twice")
		}
		v, err := r.value(0)
		if err != nil {
			return c, err
		}
		c.args[name] = v
		if !r.take(',') {
			if !r.take(')') {
				return c, r.wrong("a comma or `)` is expected")
			}
			break
		}
	}
	c.text = strings.Join(strings.Fields(r.src[start:r.pos]), " ")
	return c, nil
}

func (r *reader) value(depth int) (literal, error) {
	r.blank()
	switch {
	case depth > 8:
		return literal{}, r.wrong("lists are nested too deeply")
	case r.pos >= len(r.src):
		return literal{}, r.wrong("a value is expected")
	case r.src[r.pos] == '[':
		r.pos++
		v := literal{list: []literal{}}
		for !r.take(']') {
			item, err := r.value(depth + 1)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, item)
			if !r.take(',') {
				if !r.take(']') {
					return v, r.wrong("a comma or `]` is expected")
				}
				break
			}
		}
		return v, nil
	case r.src[r.pos] == '"' || r.src[r.pos] == '\'':
		text, err := r.text()
		return literal{text: text}, err
	}
	return literal{}, r.wrong("a text or a list of texts is expected")
}

// text reads a string. Escapes that Starlark knows besides these are refused.
func (r *reader) text() (string, error) {
	quote := r.src[r.pos : r.pos+1]
	if strings.HasPrefix(r.src[r.pos:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	r.pos += len(quote)
	var b strings.Builder
	for r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case strings.HasPrefix(r.src[r.pos:], quote):
			r.pos += len(quote)
			return b.String(), nil
		case c == '\\':
			if r.pos+1 >= len(r.src) {
				return "", r.wrong("a text does not end")
			}
			i := strings.IndexByte(`\"'ntr`, r.src[r.pos+1])
			if i < 0 {
				return "", r.wrong("an escape in a text is not known")
			}
			b.WriteByte("\\\"'\n\t\r"[i])
			r.pos += 2
		case c == '\n' && len(quote) == 1:
			return "", r.wrong("a text does not end on its line")
		default:
			b.WriteByte(c)
			r.pos++
		}
	}
	return "", r.wrong("a text does not end")
}
