package install

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ordered is a JSON object whose members keep their order.
type ordered []member

type member struct {
	key   string
	value any
}

// layout is how a file is written: its line ends and one step of indentation.
type layout struct{ newline, step string }

// layoutOf reads the layout off a text.
func layoutOf(data []byte) layout {
	l := layout{"\n", "  "}
	if bytes.Contains(data, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	for _, text := range strings.Split(string(data), "\n") {
		blank := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if blank != "" && strings.TrimSpace(text) != "" {
			l.step = blank
			break
		}
	}
	return l
}

// render writes a value: over several lines below the indentation, or on one.
func render(v any, l layout, indent string, wide bool) string {
	var parts []string
	opening, closing := "{", "}"
	inner := indent + l.step
	switch v := v.(type) {
	case ordered:
		for _, m := range v {
			parts = append(parts, quoteJSON(m.key)+": "+render(m.value, l, inner, wide))
		}
	case []any:
		opening, closing = "[", "]"
		for _, item := range v {
			parts = append(parts, render(item, l, inner, wide))
		}
	default:
		return quoteJSON(v)
	}
	if len(parts) == 0 {
		return opening + closing
	}
	if !wide {
		return opening + strings.Join(parts, ", ") + closing
	}
	return opening + l.newline + inner + strings.Join(parts, ","+l.newline+inner) + l.newline + indent + closing
}

func quoteJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// splice replaces data[from:to].
func splice(data []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(data)+len(text))
	out = append(out, data[:from]...)
	out = append(out, text...)
	return append(out, data[to:]...)
}

// indentOf is the indentation of the line that pos stands on.
func indentOf(data []byte, pos int) string {
	start := bytes.LastIndexByte(data[:pos], '\n') + 1
	end := start
	for end < pos && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[start:end])
}

// add puts a member (key not empty) or an item at the end of a container.
func add(data []byte, to *node, key string, value any) []byte {
	l := layoutOf(data)
	indent := indentOf(data, to.start)
	inside := string(data[to.start+1 : to.end-1])
	// A container on one line with something in it stays on one line.
	wide := len(to.children) == 0 || strings.Contains(inside, "\n")
	inner := indent + l.step
	text := render(value, l, inner, wide)
	if key != "" {
		text = quoteJSON(key) + ": " + text
	}
	if len(to.children) == 0 {
		if strings.TrimSpace(inside) != "" {
			// A comment stands in it: the new text comes behind.
			return splice(data, to.end-1, to.end-1, l.newline+inner+text+l.newline+indent)
		}
		return splice(data, to.start+1, to.end-1, l.newline+inner+text+l.newline+indent)
	}
	last := to.children[len(to.children)-1]
	if !wide {
		return splice(data, last.end, last.end, ", "+text)
	}
	return splice(data, last.end, last.end, ","+l.newline+inner+text)
}

// put adds a value at a path of members, creating objects on the way; the last
// step creates an array if it is missing and appends to it. The error is nil
// unless something on the way is of another kind; then found names it.
func put(data []byte, root *node, path []string, value any) (out []byte, found string) {
	at := root
	for i, key := range path {
		if at.kind != '{' {
			return nil, strings.Join(path[:i], ".")
		}
		next := at.member(key)
		if next == nil {
			v := any([]any{value})
			for j := len(path) - 1; j > i; j-- {
				v = ordered{{path[j], v}}
			}
			return add(data, at, key, v), ""
		}
		at = next
	}
	if at.kind != '[' {
		return nil, strings.Join(path, ".")
	}
	return add(data, at, "", value), ""
}

// drop removes a value with its comma, and each container that it leaves empty
// and without a comment; the root stays.
func drop(data []byte, n *node) []byte {
	for n.parent != nil && n.parent.parent != nil && len(n.parent.children) == 1 && !commented(data, n) {
		n = n.parent
	}
	p := n.parent
	var i int
	for p.children[i] != n {
		i++
	}
	switch {
	case i > 0 && !comment(data[p.children[i-1].end:n.from()]):
		return splice(data, p.children[i-1].end, n.end, "")
	case i > 0:
		// A comment on the value before stays: only the value and a comma go.
		before := commaAt(data, p.children[i-1].end)
		data = splice(data, n.from(), n.end, "")
		if i == len(p.children)-1 {
			return splice(data, before, before+1, "")
		}
		after := commaAt(data, n.from())
		return splice(data, after, after+1, "")
	case len(p.children) > 1 && !comment(data[n.end:p.children[1].from()]):
		return splice(data, n.from(), p.children[1].from(), "")
	case len(p.children) > 1:
		after := commaAt(data, n.end)
		return splice(splice(data, after, after+1, ""), n.from(), n.end, "")
	case commented(data, n):
		end := n.end
		if data[end] == ',' {
			end++
		}
		return splice(data, n.from(), end, "")
	}
	return splice(data, p.start+1, p.end-1, "")
}

// commaAt is the place of the comma that follows pos behind blanks and comments.
func commaAt(data []byte, pos int) int {
	p := &parser{data: data, pos: pos}
	if p.space() != nil || p.peek() != ',' {
		return pos
	}
	return p.pos
}

func comment(text []byte) bool {
	return bytes.Contains(text, []byte("//")) || bytes.Contains(text, []byte("/*"))
}

// commented reports whether a comment stands beside the only child of a container.
func commented(data []byte, n *node) bool {
	p := n.parent
	return comment(data[p.start+1:n.from()]) || comment(data[n.end:p.end-1])
}
