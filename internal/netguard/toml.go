package netguard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// tomlString is a string of a TOML document with its full key; a string in an
// array has the key of the array, and arrays of tables have no index.
type tomlString struct {
	path []string
	text string
}

// parseTOML returns the strings of a TOML document in order. It reads the whole
// grammar of keys, tables, arrays and strings; other values are passed over.
// Keys that are defined twice are not detected.
func parseTOML(text string) ([]tomlString, error) {
	p := &toml{text: strings.ReplaceAll(text, "\r\n", "\n")}
	var table []string
	for {
		p.space(true)
		if p.done() {
			return p.out, nil
		}
		if p.peek() != '[' {
			if err := p.pair(table, 0); err != nil {
				return nil, p.at(err)
			}
		} else {
			close := "]"
			if p.eat("["); p.eat("[") {
				close = "]]"
			}
			var err error
			if table, err = p.key(); err != nil {
				return nil, p.at(err)
			}
			if !p.eat(close) {
				return nil, p.at(errors.New("a table's name is not closed"))
			}
		}
		p.space(false)
		if !p.done() && p.peek() != '\n' {
			return nil, p.at(errors.New("a line goes on where it should end"))
		}
	}
}

type toml struct {
	text string
	pos  int
	out  []tomlString
}

// maxNesting bounds arrays and inline tables inside one another.
const maxNesting = 32

func (p *toml) at(err error) error {
	return fmt.Errorf("line %d: %w", 1+strings.Count(p.text[:min(p.pos, len(p.text))], "\n"), err)
}
func (p *toml) done() bool { return p.pos >= len(p.text) }
func (p *toml) peek() byte { return p.text[p.pos] }

func (p *toml) eat(s string) bool {
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// space skips blanks and a comment, with lines also line ends.
func (p *toml) space(lines bool) {
	for !p.done() {
		switch c := p.peek(); {
		case c == ' ' || c == '\t' || lines && c == '\n':
			p.pos++
		case c == '#':
			for !p.done() && p.peek() != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// key reads a dotted key.
func (p *toml) key() ([]string, error) {
	var out []string
	for {
		p.space(false)
		if p.done() {
			return nil, errors.New("a key is missing")
		}
		var part string
		if c := p.peek(); c == '"' || c == '\'' {
			var err error
			if part, err = p.str(); err != nil {
				return nil, err
			}
		} else {
			start := p.pos
			for !p.done() && (isToken(p.text[p.pos:p.pos+1]) && !strings.ContainsRune("!#$%&'*+.^`|~", rune(p.peek()))) {
				p.pos++
			}
			if part = p.text[start:p.pos]; part == "" {
				return nil, errors.New("a key is missing")
			}
		}
		out = append(out, part)
		p.space(false)
		if !p.eat(".") {
			return out, nil
		}
	}
}

// pair reads "key = value".
func (p *toml) pair(table []string, depth int) error {
	key, err := p.key()
	if err != nil {
		return err
	}
	if !p.eat("=") {
		return errors.New(`"=" is missing after a key`)
	}
	path := append(append(make([]string, 0, len(table)+len(key)), table...), key...)
	return p.value(path, depth)
}

// value reads a value and keeps its strings.
func (p *toml) value(path []string, depth int) error {
	p.space(false)
	if depth > maxNesting {
		return errors.New("nested too deep")
	}
	if p.done() {
		return errors.New("a value is missing")
	}
	switch p.peek() {
	case '"', '\'':
		s, err := p.str()
		p.out = append(p.out, tomlString{path, s})
		return err
	case '[':
		p.pos++
		return p.list("]", func() error { return p.value(path, depth+1) })
	case '{':
		p.pos++
		return p.list("}", func() error { return p.pair(path, depth+1) })
	}
	start := p.pos
	for !p.done() && !strings.ContainsRune(",]}#\n", rune(p.peek())) {
		p.pos++
	}
	if strings.TrimSpace(p.text[start:p.pos]) == "" {
		return errors.New("a value is missing")
	}
	return nil
}

// list reads items with commas up to the closing bracket.
func (p *toml) list(close string, item func() error) error {
	for {
		p.space(true)
		if p.eat(close) {
			return nil
		}
		if p.done() {
			return errors.New("a bracket is not closed")
		}
		if err := item(); err != nil {
			return err
		}
		p.space(true)
		if !p.eat(",") && (p.done() || !strings.HasPrefix(p.text[p.pos:], close)) {
			return errors.New("a comma is missing")
		}
	}
}

// str reads a string of any of the four kinds.
func (p *toml) str() (string, error) {
	quote := p.text[p.pos : p.pos+1]
	if triple := strings.Repeat(quote, 3); p.eat(triple) {
		body, _, ok := strings.Cut(p.text[p.pos:], triple)
		if !ok {
			return "", errors.New("a string is not closed")
		}
		p.pos += len(body) + 3
		return strings.TrimPrefix(body, "\n"), nil
	}
	start := p.pos
	p.pos++
	for !p.done() && p.peek() != '\n' {
		switch c := p.peek(); {
		case c == '\\' && quote == `"`:
			p.pos += 2
			continue
		case string(c) == quote:
			p.pos++
			raw := p.text[start:p.pos]
			if quote == `'` {
				return raw[1 : len(raw)-1], nil
			}
			s, err := strconv.Unquote(raw)
			if err != nil {
				return "", errors.New("a string is malformed")
			}
			return s, nil
		}
		p.pos++
	}
	return "", errors.New("a string is not closed")
}
