package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// span is a part of a JSON text.
type span struct{ start, end int }

// member is one key of an object.
type member struct {
	key        string
	name, text span
}

// document is a JSON text that was read strictly, with the places of its values:
// rules are added and removed by editing the text, so that everything else
// keeps its order and formatting.
type document struct {
	text string
	root span
}

// parseDocument checks a JSON text: one object, valid UTF-8, no key twice in any
// object, nothing after it.
func parseDocument(text string) (*document, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not valid UTF-8")
	}
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	d := &document{text: text}
	d.root.start = d.blank(0)
	if text[d.root.start] != '{' {
		return nil, errors.New("not a JSON object")
	}
	end, err := d.skip(d.root.start)
	d.root.end = end
	return d, err
}

// checkSyntax is json.Unmarshal's check with line and column.
func checkSyntax(text string) error {
	if json.Valid([]byte(text)) {
		return nil
	}
	var any json.RawMessage
	err := json.Unmarshal([]byte(text), &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := min(max(int(syntax.Offset)-1, 0), len(text))
		line := 1 + strings.Count(text[:at], "\n")
		column := at - strings.LastIndexByte(text[:at], '\n')
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}

// blank returns the offset of the next byte that is no white space.
func (d *document) blank(at int) int {
	for at < len(d.text) && strings.IndexByte(" \t\r\n", d.text[at]) >= 0 {
		at++
	}
	return at
}

// skip returns the end of the value that starts at at, and finds repeated keys.
func (d *document) skip(at int) (int, error) {
	switch d.text[at] {
	case '{':
		members, end, err := d.object(at)
		seen := make(map[string]bool, len(members))
		for _, m := range members {
			if seen[m.key] {
				return 0, fmt.Errorf("the key %q appears twice in one object", m.key)
			}
			seen[m.key] = true
		}
		return end, err
	case '[':
		_, end, err := d.array(at)
		return end, err
	case '"':
		return d.stringEnd(at), nil
	}
	for at < len(d.text) && strings.IndexByte(" \t\r\n,]}", d.text[at]) < 0 {
		at++
	}
	return at, nil
}

// stringEnd returns the end of the string that starts at at.
func (d *document) stringEnd(at int) int {
	for at++; d.text[at] != '"'; at++ {
		if d.text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// object returns the members of the object that starts at at, and its end.
func (d *document) object(at int) ([]member, int, error) {
	var out []member
	at = d.blank(at + 1)
	for d.text[at] != '}' {
		var m member
		m.name = span{at, d.stringEnd(at)}
		m.key = d.string(m.name)
		at = d.blank(d.blank(m.name.end) + 1)
		end, err := d.skip(at)
		if err != nil {
			return nil, 0, err
		}
		m.text = span{at, end}
		out = append(out, m)
		if at = d.blank(end); d.text[at] == ',' {
			at = d.blank(at + 1)
		}
	}
	return out, at + 1, nil
}

// array returns the elements of the array that starts at at, and its end.
func (d *document) array(at int) ([]span, int, error) {
	var out []span
	at = d.blank(at + 1)
	for d.text[at] != ']' {
		end, err := d.skip(at)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, span{at, end})
		if at = d.blank(end); d.text[at] == ',' {
			at = d.blank(at + 1)
		}
	}
	return out, at + 1, nil
}

// string returns the value of the JSON string at s.
func (d *document) string(s span) string {
	if inner := d.text[s.start+1 : s.end-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var out string
	// The text was checked, so this cannot fail.
	_ = json.Unmarshal([]byte(d.text[s.start:s.end]), &out)
	return out
}

// members returns the members of the object at s.
func (d *document) members(s span) []member {
	out, _, _ := d.object(s.start)
	return out
}

// lookup returns the value of a key of the object at s.
func (d *document) lookup(s span, key string) (span, bool) {
	for _, m := range d.members(s) {
		if m.key == key {
			return m.text, true
		}
	}
	return span{}, false
}
