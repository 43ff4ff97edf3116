package rules

import (
	"bytes"
	"encoding/json"
	"strings"
)

// skeleton is a permission file without rules.
const skeleton = `{
  "permissions": {
    "allow": [],
    "ask": [],
    "deny": []
  }
}
`

// replace returns the text with the span replaced.
func (d *document) replace(s span, with string) string {
	return d.text[:s.start] + with + d.text[s.end:]
}

// withRule returns the text with a rule added at the end of its list.
func (d *document) withRule(key, rule string) string {
	value := quoteJSON(rule)
	permissions, ok := d.lookup(d.root, "permissions")
	if !ok {
		return d.withMember(d.root, "permissions", "{"+quoteJSON(key)+": ["+value+"]}")
	}
	list, ok := d.lookup(permissions, key)
	if !ok {
		return d.withMember(permissions, key, "["+value+"]")
	}
	elements, _, _ := d.array(list.start)
	if n := len(elements); n > 0 {
		last := elements[n-1]
		return d.replace(span{last.end, last.end}, ","+d.gap(list.start, last.start, " ")+value)
	}
	if !strings.Contains(d.text[d.root.start:d.root.end], "\n") {
		return d.replace(list, "["+value+"]")
	}
	indent := d.newline() + d.indent(list.start)
	return d.replace(list, "["+indent+d.unit()+value+indent+"]")
}

// withMember returns the text with a member added at the end of an object.
func (d *document) withMember(object span, key, value string) string {
	text := quoteJSON(key) + ": " + value
	members := d.members(object)
	if n := len(members); n > 0 {
		last := members[n-1]
		return d.replace(span{last.text.end, last.text.end}, ","+d.gap(object.start, last.name.start, " ")+text)
	}
	return d.replace(object, "{"+text+"}")
}

// withoutRule returns the text without the elements of a list that are the rule,
// and how many there were.
func (d *document) withoutRule(key, rule string) (string, int) {
	permissions, ok := d.lookup(d.root, "permissions")
	if !ok {
		return d.text, 0
	}
	list, ok := d.lookup(permissions, key)
	if !ok {
		return d.text, 0
	}
	elements, _, _ := d.array(list.start)
	var keep, drop []int
	for i, e := range elements {
		if strings.TrimSpace(d.string(e)) == rule {
			drop = append(drop, i)
		} else {
			keep = append(keep, i)
		}
	}
	if len(drop) == 0 {
		return d.text, 0
	}
	if len(keep) == 0 {
		return d.replace(list, "[]"), len(drop)
	}
	// Each element goes with the comma and blanks before it; the first ones with
	// those behind them.
	text := d.text
	for n := len(drop) - 1; n >= 0; n-- {
		i := drop[n]
		from, to := elements[i].start, elements[i].end
		switch {
		case i > keep[0]:
			from = elements[i-1].end
		default:
			to = elements[i+1].start
		}
		text = text[:from] + text[to:]
	}
	return text, len(drop)
}

// gap returns the white space between the comma or bracket before at and at, or
// fallback if there is none.
func (d *document) gap(from, at int, fallback string) string {
	start := at
	for start > from+1 && strings.IndexByte(" \t\r\n", d.text[start-1]) >= 0 {
		start--
	}
	gap := d.text[start:at]
	if strings.Contains(gap, "\n") {
		return gap
	}
	return fallback
}

// indent returns the white space at the start of the line that at lies in.
func (d *document) indent(at int) string {
	start := strings.LastIndexByte(d.text[:at], '\n') + 1
	return d.text[start : start+len(d.text[start:at])-len(strings.TrimLeft(d.text[start:at], " \t"))]
}

// unit returns what one level of indentation looks like in the text.
func (d *document) unit() string {
	for line := range strings.SplitSeq(d.text, "\n") {
		if blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; blank != "" && strings.TrimSpace(line) != "" {
			return blank
		}
	}
	return "  "
}

func (d *document) newline() string {
	if strings.Contains(d.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// quoteJSON writes a JSON string; <, > and & stay readable.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
