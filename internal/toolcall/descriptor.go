package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// piece is one part of a descriptor: fixed text, or the value of an argument.
type piece struct {
	text string
	// args are the argument's spellings; none for fixed text.
	args     []string
	optional bool
}

// parseDescriptor reads a descriptor of the table: text with {argument} places,
// where {a|b} takes whichever is there and {a?} may be absent.
func parseDescriptor(s string) ([]piece, error) {
	var out []piece
	for s != "" {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return append(out, piece{text: s}), nil
		}
		if open > 0 {
			out = append(out, piece{text: s[:open]})
		}
		place, rest, ok := strings.Cut(s[open+1:], "}")
		if !ok || place == "" || place == "?" {
			return nil, fmt.Errorf("\"descriptor\" has a { without a name or without its }")
		}
		name, optional := strings.CutSuffix(place, "?")
		out = append(out, piece{args: strings.Split(name, "|"), optional: optional})
		s = rest
	}
	return out, nil
}

// describe makes the descriptor of the call.
func (r *reader) describe() error {
	if r.tool.verb != "" {
		r.helper(r.tool.verb)
		return nil
	}
	for i := range r.tool.descriptor {
		p := &r.tool.descriptor[i]
		text := p.text
		if p.args != nil {
			var err error
			if text, err = r.argText(p); err != nil {
				return err
			}
		}
		if r.descriptor == "" {
			r.descriptor = text
		} else {
			r.descriptor += text
		}
	}
	r.descriptor = strings.TrimRight(r.descriptor, " ")
	return nil
}

// argText is the value of an argument as a descriptor shows it. Two spellings
// with different values are refused: nobody knows which one counts.
func (r *reader) argText(p *piece) (string, error) {
	text, found := "", ""
	for _, name := range p.args {
		v := r.get(name)
		if v == nil {
			continue
		}
		got, ok := v.texts()
		if !ok {
			if v[0] == '[' || v[0] == '{' || v[0] == 't' || v[0] == 'f' {
				return "", r.wrong(name, "must be a string")
			}
			got = []string{string(v)}
		}
		one := strings.Join(got, " ")
		if found != "" && one != text {
			return "", r.wrong(name, `says something else than "`+found+`"`)
		}
		text, found = one, name
	}
	if found == "" && !p.optional {
		return "", r.wrong(p.args[0], "is missing")
	}
	return text, nil
}

// helper makes the descriptor of a git helper tool: `verb k=v …`, keys sorted
// (SPEC section 1). Texts stand as they are, everything else as compact JSON. A
// text that git could take for an option makes a reading helper count as one
// that changes something: `git diff --output=file` writes.
func (r *reader) helper(verb string) {
	pairs := make([][2]string, 0, r.members.n)
	for i := range r.members.n {
		v := value(r.data[r.members.at(i).start:r.members.at(i).end])
		text, ok := v.text()
		if !ok {
			text = compact(v)
		}
		if mayHoldOption(v) {
			r.out.ReadOnly = false
		}
		pairs = append(pairs, [2]string{r.name(i), text})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	var b strings.Builder
	b.WriteString(verb)
	for _, p := range pairs {
		b.WriteString(" " + p[0] + "=" + p[1])
	}
	r.descriptor = b.String()
}

// mayHoldOption reports whether a value holds a word that starts like an option.
// Objects and nested lists always may.
func mayHoldOption(v value) bool {
	switch v[0] {
	case '"', '[':
	case '{':
		return true
	default:
		return false
	}
	texts, ok := v.texts()
	return !ok || slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return strings.HasPrefix(word, "-") })
	})
}

// compact is a value without blanks, members of objects in order of their keys,
// so that the order of keys never decides about a rule.
func compact(v value) string {
	if v[0] != '{' && v[0] != '[' {
		return string(v)
	}
	var any any
	dec := json.NewDecoder(strings.NewReader(string(v)))
	dec.UseNumber()
	if dec.Decode(&any) != nil {
		return string(v)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(any) != nil {
		return string(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
