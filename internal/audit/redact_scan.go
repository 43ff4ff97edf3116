package audit

import "bytes"

// scanner finds the secrets of one text. It keeps its memory between texts.
type scanner struct {
	spans []span
	s     []byte
	// Programs seen in this text whose short options take a password.
	curl, mysql, sshpass, login, redis bool
	// urlEnd is where the URL that was seen last ends.
	urlEnd int
}

// wordByte marks the bytes of names and programs.
var wordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = charClass[c]&csWord != 0
	}
	return t
}()

// scan returns the secrets of s in order. The result is valid until the next
// call. Time is linear in the length of s.
func (sc *scanner) scan(r *Redactor, s []byte) []span {
	sc.spans = r.literals.Load().find(sc.spans[:0], s)
	sc.s = s
	sc.curl, sc.mysql, sc.sshpass, sc.login, sc.redis = false, false, false, false, false
	sc.urlEnd = 0
	sc.privateKeys()
	for i := 0; i < len(s); {
		c := s[i]
		if c == ':' && i+2 < len(s) && s[i+1] == '/' && s[i+2] == '/' {
			sc.authority(i + 3)
			i += 3
			continue
		}
		if !wordByte[c] || c == '-' {
			i++
			continue
		}
		start := i
		for i++; i < len(s) && wordByte[s[i]]; i++ {
		}
		if end := sc.word(start, i); end > i {
			i = end
		}
	}
	return mergeSpans(sc.spans)
}

// add notes a secret and returns its end.
func (sc *scanner) add(from, to int, kind string) int {
	sc.spans = append(sc.spans, span{from, to, kind})
	return to
}

// word looks at the word s[a:b] and what surrounds it. It returns where to go
// on, or 0.
func (sc *scanner) word(a, b int) int {
	s := sc.s
	if end := tokenAt(s, a); end > 0 {
		return sc.add(a, end, kindToken)
	}
	// In escaped text (\nghp_…, %20ghp_…) the token starts inside the word.
	if a > 0 && b-a > 3 && (s[a-1] == '\\' || s[a-1] == '%') {
		skip := 1
		if s[a-1] == '%' {
			skip = 2
		}
		if end := tokenAt(s, a+skip); end > 0 {
			return sc.add(a+skip, end, kindToken)
		}
	}
	dashes := 0
	for a-dashes > 0 && dashes < 2 && s[a-dashes-1] == '-' {
		dashes++
	}
	if dashes == 0 {
		sc.program(s[a:b])
	} else if end := sc.option(a, b, dashes); end > 0 {
		return end
	}
	if b >= len(s) {
		return 0
	}
	return sc.named(a, b, dashes)
}

// named handles a name with a value behind it: name=value, name: value,
// "name": "value", --name value, set name value.
func (sc *scanner) named(a, b, dashes int) int {
	s := sc.s
	ctx := nameText
	var j int
	colon := false
	switch c := s[b]; {
	case c == '=' || c == ':':
		j, colon = b+1, c == ':'
		if c == '=' && j < len(s) && (s[j] == '=' || s[j] == '~') {
			return 0 // a comparison
		}
		if j < len(s) && (s[j] == '>' || (colon && s[j] == '=')) {
			j++ // => and :=
		}
		if c == '=' && a > 0 && (s[a-1] == '?' || s[a-1] == '&' || s[a-1] == '#' || a < sc.urlEnd) {
			ctx = nameQuery
		}
		if colon && j < len(s) && s[j] == '/' && j+1 < len(s) && s[j+1] == '/' {
			return 0 // a URL's scheme
		}
	case c == '"' || c == '\'' || c == '\\':
		j = b + 1
		if c == '\\' && j < len(s) && s[j] == '"' {
			j++
		}
		j = skipBlanks(s, j)
		if j >= len(s) || (s[j] != ':' && (s[j] != '=' || j+1 >= len(s) || s[j+1] != '>')) {
			return 0
		}
		if s[j] == '=' {
			j++
		}
		j++
	case c == ' ' || c == '\t':
		j = skipBlanks(s, b)
		switch {
		case dashes > 0:
		case j+1 < len(s) && s[j] == '=' && (s[j+1] == ' ' || s[j+1] == '"' || s[j+1] == '\''):
			j++
		case a >= 5 && string(s[a-5:a]) == " set ":
		default:
			return 0
		}
	default:
		return 0
	}
	if ctx == nameText && colon && b-a > 2 && (s[a]|0x20) == 'x' && s[a+1] == '-' {
		ctx = nameHeader
	}
	st := nameStrength(s[a:b], ctx)
	if st == noName && colon && ctx == nameText && isCookie(s[a:b]) {
		st = headerName
	}
	if st == noName {
		if ctx == nameQuery {
			if from := skipBlanks(s, j); randomLooking(queryPiece(s[min(from, len(s)):])) {
				from, to := sc.value(j)
				return sc.add(from, to, kindURL)
			}
		}
		return 0
	}
	if st == strongName && s[b] == ':' && bytes.EqualFold(s[a:b], []byte("secret")) {
		st = weakName // "a secret: …" may be prose
	}
	if st == headerName && colon {
		return sc.header(j)
	}
	if ctx == nameHeader {
		return sc.header(j)
	}
	from, to := sc.value(j)
	if plainValue(s[from:to], max(min(st, strongName), weakName)) || (to < len(s) && s[to] == '(') || from >= to {
		return 0
	}
	kind := kindAssign
	if ctx == nameQuery {
		kind = kindURL
	}
	return sc.add(from, to, kind)
}

func isCookie(name []byte) bool { return len(name) == 6 && bytes.EqualFold(name, []byte("cookie")) }

// value returns the value that starts at s[j]: quoted, or up to what ends a word
// in a shell, a query or JSON.
func (sc *scanner) value(j int) (from, to int) {
	s := sc.s
	j = skipBlanks(s, j)
	if j >= len(s) {
		return len(s), len(s)
	}
	escaped := false
	if s[j] == '\\' && j+1 < len(s) && (s[j+1] == '"' || s[j+1] == '\'') {
		escaped = true
		j++
	}
	if q := s[j]; q == '"' || q == '\'' || q == '`' {
		from = j + 1
		for to = from; to < len(s); to++ {
			if s[to] == '\\' && to+1 < len(s) {
				if escaped && s[to+1] == q {
					return from, to
				}
				if !escaped && q != '\'' {
					to++
				}
				continue
			}
			if s[to] == q {
				break
			}
		}
		return from, min(to, len(s))
	}
	for to = j; to < len(s) && !endsValue[s[to]]; to++ {
		if s[to] == '\\' && to+1 < len(s) { // \n or \" of an enclosing text, or a shell's escape
			if n := s[to+1]; n == 'n' || n == 'r' || n == '"' {
				break
			}
			to++
		}
	}
	return j, min(to, len(s))
}

var endsValue = func() (t [256]bool) {
	for _, c := range " \t\r\n;&|\"'`)<>,}]#" {
		t[c] = true
	}
	return t
}()

// header redacts the value of a header up to the end of its line or quotes; a
// scheme word ("Bearer") stays.
func (sc *scanner) header(j int) int {
	s := sc.s
	j = skipBlanks(s, j)
	if j < len(s) && (s[j] == '"' || s[j] == '\'') {
		j++
	}
	end := j
	for end < len(s) && s[end] != '\n' && s[end] != '\r' && s[end] != '"' && s[end] != '\'' && s[end] != '\\' {
		end++
	}
	from := j
	for k := j; k < end; k++ {
		if s[k] == ' ' {
			if k-j <= 12 && lettersOnly(s[j:k]) && k+1 < end {
				from = k + 1
			}
			break
		}
	}
	if plainValue(s[from:end], strongName) {
		return 0
	}
	return sc.add(from, end, kindHeader)
}

// privateKeys finds private keys in PEM, also cut ones.
func (sc *scanner) privateKeys() {
	for at := 0; len(sc.s)-at > 32; {
		i := bytes.Index(sc.s[at:], []byte("-----BEGIN "))
		if i < 0 {
			return
		}
		i += at
		line := sc.s[i:min(i+80, len(sc.s))]
		if !bytes.Contains(line, []byte("PRIVATE KEY")) {
			at = i + 11
			continue
		}
		end := len(sc.s)
		if j := bytes.Index(sc.s[i:], []byte("-----END ")); j >= 0 {
			end = i + j + 9
			if k := bytes.Index(sc.s[end:], []byte("-----")); k >= 0 {
				end += k + 5
			}
		}
		at = sc.add(i, end, kindKey)
	}
}

func skipBlanks(s []byte, j int) int {
	for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		j++
	}
	return j
}

func lettersOnly(p []byte) bool {
	for _, c := range p {
		if (c|0x20) < 'a' || (c|0x20) > 'z' {
			return false
		}
	}
	return len(p) > 0
}
