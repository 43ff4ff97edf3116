package install

import (
	"encoding/json"
	"fmt"
	"strings"
)

// node is a value of a JSON text with its place in it.
type node struct {
	// kind is '{', '[', '"' or '0' for everything else.
	kind byte
	// start and end are the value's first byte and the one behind its last.
	start, end int
	// key and keyStart are set for members of objects.
	key      string
	keyStart int
	children []*node
	parent   *node
}

// from is where the child begins in its container: the key or the value.
func (n *node) from() int {
	if n.parent != nil && n.parent.kind == '{' {
		return n.keyStart
	}
	return n.start
}

// member returns the member of an object, or nil.
func (n *node) member(key string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for _, c := range n.children {
		if c.key == key {
			return c
		}
	}
	return nil
}

// at goes down members; nil if one is missing.
func (n *node) at(path ...string) *node {
	for _, key := range path {
		n = n.member(key)
	}
	return n
}

// text is a string value, "" for anything else.
func (n *node) text(data []byte) string {
	var s string
	if n == nil || n.kind != '"' || json.Unmarshal(data[n.start:n.end], &s) != nil {
		return ""
	}
	return s
}

// maxNesting bounds the parser's recursion.
const maxNesting = 200

// parser reads JSON with the comments and trailing commas that agents allow in
// their files, keeping where each value stands.
type parser struct {
	data  []byte
	pos   int
	depth int
}

// parseJSON returns the root value. A text that is not JSON, has duplicate
// members, or is nested too deeply is an error that names the line.
func parseJSON(data []byte) (*node, error) {
	p := &parser{data: data}
	if err := p.space(); err != nil {
		return nil, err
	}
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos < len(data) {
		return nil, p.wrong("there is text behind the value")
	}
	return n, nil
}

func (p *parser) wrong(what string) error {
	line := 1 + strings.Count(string(p.data[:min(p.pos, len(p.data))]), "\n")
	return fmt.Errorf("line %d: %s: correct the file first", line, what)
}

// space passes blanks and comments.
func (p *parser) space() error {
	for p.pos < len(p.data) {
		rest := string(p.data[p.pos:min(len(p.data), p.pos+2)])
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.pos++
		case rest == "//":
			for p.pos < len(p.data) && p.data[p.pos] != '\n' {
				p.pos++
			}
		case rest == "/*":
			end := strings.Index(string(p.data[p.pos+2:]), "*/")
			if end < 0 {
				return p.wrong("a comment does not end")
			}
			p.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value() (*node, error) {
	n := &node{start: p.pos}
	switch c := p.peek(); c {
	case '{', '[':
		n.kind = c
		if p.depth++; p.depth > maxNesting {
			return nil, p.wrong("it is nested too deeply")
		}
		if err := p.container(n); err != nil {
			return nil, err
		}
		p.depth--
	case '"':
		n.kind = '"'
		if _, err := p.str(); err != nil {
			return nil, err
		}
	default:
		n.kind = '0'
		for p.pos < len(p.data) && !strings.ContainsRune(" \t\r\n,]}/:", rune(p.data[p.pos])) {
			p.pos++
		}
		if !json.Valid(p.data[n.start:p.pos]) {
			return nil, p.wrong("a value is expected")
		}
	}
	n.end = p.pos
	return n, nil
}

func (p *parser) str() (string, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch p.data[p.pos] {
		case '\\':
			p.pos++
		case '"':
			p.pos++
			var s string
			if err := json.Unmarshal(p.data[start:p.pos], &s); err != nil {
				return "", p.wrong("a text is not valid")
			}
			return s, nil
		}
	}
	return "", p.wrong("a text does not end")
}

func (p *parser) container(n *node) error {
	closing := byte('}')
	if n.kind == '[' {
		closing = ']'
	}
	p.pos++
	seen := map[string]bool{}
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.pos++
			return nil
		}
		child, err := p.child(n, seen)
		if err != nil {
			return err
		}
		child.parent = n
		n.children = append(n.children, child)
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case closing:
		default:
			return p.wrong("a comma or a closing bracket is expected")
		}
	}
}

func (p *parser) child(n *node, seen map[string]bool) (*node, error) {
	if n.kind == '[' {
		return p.value()
	}
	start := p.pos
	if p.peek() != '"' {
		return nil, p.wrong("a member's name is expected")
	}
	key, err := p.str()
	if err != nil {
		return nil, err
	}
	if seen[key] {
		return nil, p.wrong(fmt.Sprintf("the member %q stands twice", key))
	}
	seen[key] = true
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.peek() != ':' {
		return nil, p.wrong("a colon is expected")
	}
	p.pos++
	if err := p.space(); err != nil {
		return nil, err
	}
	child, err := p.value()
	if err != nil {
		return nil, err
	}
	child.key, child.keyStart = key, start
	return child, nil
}

// plain is the value without comments and trailing commas, as JSON.
func (n *node) plain(data []byte) string {
	var b strings.Builder
	n.write(&b, data)
	return b.String()
}

func (n *node) write(b *strings.Builder, data []byte) {
	if n.kind != '{' && n.kind != '[' {
		b.Write(data[n.start:n.end])
		return
	}
	b.WriteByte(n.kind)
	for i, c := range n.children {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			key, _ := json.Marshal(c.key)
			b.Write(key)
			b.WriteByte(':')
		}
		c.write(b, data)
	}
	b.WriteByte(n.kind + 2)
}
