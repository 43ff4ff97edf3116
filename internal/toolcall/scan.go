package toolcall

import (
	"bytes"
	"strconv"
	"strings"
)

// span is a string of the document: the bytes between its quotes.
type span struct {
	start, end int
	// escaped says that there are escapes; then text is the decoded string where
	// the span is a key.
	escaped bool
	text    string
}

// member is one member of the document's top object.
type member struct {
	key        span
	start, end int // the value's bytes
}

// memberList holds members; the first need no allocation.
type memberList struct {
	room [fewKeys]member
	n    int
	more []member
}

func (l *memberList) add(m member) {
	if l.n < len(l.room) {
		l.room[l.n] = m
	} else {
		l.more = append(l.more, m)
	}
	l.n++
}

// at returns a member by its place, from 0 to n-1.
func (l *memberList) at(i int) *member {
	if i < len(l.room) {
		return &l.room[i]
	}
	return &l.more[i-len(l.room)]
}

// frame is one open object or array.
type frame struct {
	object bool
	// index counts the elements of an array.
	index int
	// base is the number of the object's first key.
	base int
	// seen holds the keys of an object with many.
	seen map[string]struct{}
}

// fewKeys is how many keys an object may have until a map finds duplicates:
// below it, comparing is faster and allocates nothing.
const fewKeys = 16

// scanner reads a document in one pass, without recursion. The open objects and
// arrays are a fixed array, so depth cannot exhaust anything.
type scanner struct {
	data   []byte
	pos    int
	depth  int
	frames [MaxDepth]frame
	// The keys of all open objects: the first in room, which needs no allocation,
	// the others in more.
	count int
	room  [fewKeys]span
	more  []span
}

// key returns a key of an open object by its number.
func (s *scanner) key(i int) *span {
	if i < len(s.room) {
		return &s.room[i]
	}
	return &s.more[i-len(s.room)]
}

func (s *scanner) push(key span) {
	if s.count < len(s.room) {
		s.room[s.count] = key
	} else {
		s.more = append(s.more[:s.count-len(s.room)], key)
	}
	s.count++
}

// document scans data and, if its top is an object, appends the object's members
// to top (which may be nil).
func (s *scanner) document(data []byte, top *memberList) *JSONError {
	s.data = data
	if len(data) > MaxSize {
		return &JSONError{Offset: MaxSize, Cause: ErrTooLarge}
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return s.fail(ErrEncoding, "a byte order mark")
	}
	s.space()
	for {
		// Here starts a value.
		open, err := s.value()
		if err != nil {
			return err
		}
		if open {
			closed, err := s.opened(top)
			if err != nil {
				return err
			}
			if !closed {
				continue
			}
		}
		// Here a value has ended: go on to the next one, closing what ends here.
		for {
			if s.depth == 1 && top != nil && s.frames[0].object {
				top.at(top.n - 1).end = s.pos
			}
			more, err := s.next(top)
			if err != nil {
				return err
			}
			if more {
				break
			}
			if s.depth == 0 {
				if s.space(); s.pos < len(s.data) {
					return s.fail(ErrTrailing, "")
				}
				return nil
			}
		}
	}
}

// value reads a scalar, or enters an object or array (open).
func (s *scanner) value() (open bool, err *JSONError) {
	if s.pos >= len(s.data) {
		return false, s.fail(ErrSyntax, "it ends too early")
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		_, err = s.str()
		return false, err
	case c == '{' || c == '[':
		if s.depth == MaxDepth {
			return false, s.fail(ErrTooDeep, "")
		}
		f := &s.frames[s.depth]
		f.object, f.index, f.base, f.seen = c == '{', 0, s.count, nil
		s.depth++
		s.pos++
		s.space()
		return true, nil
	case c == '-' || '0' <= c && c <= '9':
		return false, s.number()
	case c == 't':
		return false, s.literal("true")
	case c == 'f':
		return false, s.literal("false")
	case c == 'n':
		return false, s.literal("null")
	}
	return false, s.fail(ErrSyntax, "a value is expected")
}

// opened reads the start of a fresh object or array up to its first value.
func (s *scanner) opened(top *memberList) (closed bool, err *JSONError) {
	f := &s.frames[s.depth-1]
	if f.object {
		if s.at('}') {
			s.shut()
			return true, nil
		}
		return false, s.member(top)
	}
	if s.at(']') {
		s.shut()
		return true, nil
	}
	return false, nil
}

// next follows an ended value: more says that another value starts here; else
// the surrounding object or array was closed, or there is none (depth 0).
func (s *scanner) next(top *memberList) (more bool, err *JSONError) {
	if s.depth == 0 {
		return false, nil
	}
	f := &s.frames[s.depth-1]
	s.space()
	switch {
	case s.at(','):
		s.pos++
		s.space()
		if f.object {
			return true, s.member(top)
		}
		f.index++
		return true, nil
	case f.object && s.at('}'), !f.object && s.at(']'):
		s.shut()
		return false, nil
	case s.pos >= len(s.data):
		return false, s.fail(ErrSyntax, "it ends too early")
	case f.object:
		return false, s.fail(ErrSyntax, "',' or '}' is expected")
	}
	return false, s.fail(ErrSyntax, "',' or ']' is expected")
}

// shut closes the innermost object or array.
func (s *scanner) shut() {
	s.pos++
	s.depth--
	f := &s.frames[s.depth]
	s.count = f.base
	f.seen = nil
}

// member reads a member's key and colon, and refuses a key that is there already.
func (s *scanner) member(top *memberList) *JSONError {
	if !s.at('"') {
		return s.fail(ErrSyntax, "a key in double quotes is expected")
	}
	start := s.pos
	key, err := s.str()
	if err != nil {
		return err
	}
	if key.escaped {
		key.text = unescape(s.data[key.start:key.end])
	}
	f := &s.frames[s.depth-1]
	if s.count-f.base == MaxMembers {
		return s.fail(ErrTooMany, "")
	}
	duplicate := s.duplicate(f, &key)
	s.push(key)
	if duplicate {
		s.pos = start
		return s.fail(ErrDuplicate, "")
	}
	if s.space(); !s.at(':') {
		return s.fail(ErrSyntax, "':' is expected")
	}
	s.pos++
	s.space()
	if top != nil && s.depth == 1 {
		top.add(member{key: key, start: s.pos})
	}
	return nil
}

// duplicate reports whether the object f has the key already.
func (s *scanner) duplicate(f *frame, key *span) bool {
	if s.count-f.base < fewKeys {
		for i := f.base; i < s.count; i++ {
			if s.same(s.key(i), key) {
				return true
			}
		}
		return false
	}
	if f.seen == nil {
		f.seen = make(map[string]struct{}, 2*fewKeys)
		for i := f.base; i < s.count; i++ {
			f.seen[s.name(s.key(i))] = struct{}{}
		}
	}
	name := s.name(key)
	_, there := f.seen[name]
	f.seen[name] = struct{}{}
	return there
}

func (s *scanner) same(a, b *span) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(s.data[a.start:a.end], s.data[b.start:b.end])
	}
	return s.name(a) == s.name(b)
}

// name is the decoded text of a key.
func (s *scanner) name(k *span) string {
	if k.escaped {
		return k.text
	}
	return string(s.data[k.start:k.end])
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) literal(word string) *JSONError {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail(ErrSyntax, "a value is expected")
	}
	s.pos += len(word)
	return nil
}

// number reads -? int frac? exp? as RFC 8259 defines them.
func (s *scanner) number() *JSONError {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return s.fail(ErrSyntax, "a digit is expected")
	}
	if s.at('.') {
		if s.pos++; !s.digits() {
			return s.fail(ErrSyntax, "a digit is expected")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail(ErrSyntax, "a digit is expected")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// fail makes an error for the place where the scanner is.
func (s *scanner) fail(cause error, detail string) *JSONError {
	return &JSONError{Path: s.path(), Offset: s.pos, Cause: cause, Detail: detail}
}

// maxKeyShown and maxPathShown bound how much of keys an error repeats.
const (
	maxKeyShown  = 80
	maxPathShown = 400
)

// path is the key path of the current place: the last key of every open object
// and the index of every open array. Only errors need it.
func (s *scanner) path() string {
	var b strings.Builder
	for i := range s.frames[:s.depth] {
		f := &s.frames[i]
		if !f.object {
			b.WriteString("[" + strconv.Itoa(f.index) + "]")
			continue
		}
		end := s.count
		if i+1 < s.depth {
			end = s.frames[i+1].base
		}
		if end == f.base {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(shown(s.name(s.key(end - 1))))
		if b.Len() > maxPathShown {
			return b.String() + "…"
		}
	}
	return b.String()
}

// shown makes a key or value safe to repeat in a one-line error.
func shown(key string) string {
	if len(key) > maxKeyShown {
		key = strings.ToValidUTF8(key[:maxKeyShown], "") + "…"
	}
	if quoted := strconv.Quote(key); len(quoted) != len(key)+2 {
		return quoted
	}
	return key
}
