package toolcall

import (
	"bytes"
	"strings"
)

// value is the JSON text of one argument, checked by the scanner.
type value []byte

// name is the decoded name of a member.
func (r *reader) name(i int) string { return r.scan.name(&r.members.at(i).key) }

// is reports whether a member has the name.
func (r *reader) is(i int, name string) bool {
	k := &r.members.at(i).key
	if k.escaped {
		return k.text == name
	}
	return string(r.data[k.start:k.end]) == name
}

// get returns the value of an argument, or nil if it is absent or null.
func (r *reader) get(name string) value {
	for i := range r.members.n {
		if r.is(i, name) {
			v := value(r.data[r.members.at(i).start:r.members.at(i).end])
			if v[0] == 'n' {
				return nil
			}
			return v
		}
	}
	return nil
}

// find returns the value at a spelling, which may lead into objects ("a.b"), or
// nil. An object that is none is a wrong type.
func (r *reader) find(from string) (value, error) {
	top, below, nested := strings.Cut(from, ".")
	v := r.get(top)
	for nested && v != nil {
		if v[0] != '{' {
			return nil, r.wrong(top, "must be an object")
		}
		var name string
		name, below, nested = strings.Cut(below, ".")
		v = v.member(name)
		top += "." + name
	}
	return v, nil
}

// member returns the value of a member of an object, or nil if it is absent or
// null.
func (v value) member(name string) value {
	var s scanner
	var members memberList
	if s.document(v, &members) != nil {
		return nil
	}
	for i := range members.n {
		if s.name(&members.at(i).key) == name {
			if inner := v[members.at(i).start:members.at(i).end]; inner[0] != 'n' {
				return inner
			}
		}
	}
	return nil
}

// text returns the value of a string.
func (v value) text() (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	inside := v[1 : len(v)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		return unescape(inside), true
	}
	return string(inside), true
}

// items returns the elements of a list; any list of the document passes.
func (v value) items() ([]value, bool) {
	if len(v) < 2 || v[0] != '[' {
		return nil, false
	}
	var out []value
	var s scanner
	s.data, s.pos = v, 1
	for {
		s.space()
		if s.at(']') {
			return out, true
		}
		start := s.pos
		if !s.skip() {
			return nil, false
		}
		out = append(out, v[start:s.pos])
		if s.space(); s.at(',') {
			s.pos++
		}
	}
}

// skip moves behind the value at pos of a document that was scanned before.
func (s *scanner) skip() bool {
	depth := 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"':
			if _, err := s.str(); err != nil {
				return false
			}
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.pos++
			continue
		default:
			for s.pos < len(s.data) && strings.IndexByte(",:]} \t\r\n", s.data[s.pos]) < 0 {
				s.pos++
			}
		}
		if depth == 0 {
			return true
		}
	}
	return false
}

// texts returns the strings of a list, or the one string.
func (v value) texts() ([]string, bool) {
	if one, ok := v.text(); ok {
		return []string{one}, true
	}
	items, ok := v.items()
	if !ok {
		return nil, false
	}
	out := make([]string, len(items))
	for i, item := range items {
		if out[i], ok = item.text(); !ok {
			return nil, false
		}
	}
	return out, true
}
