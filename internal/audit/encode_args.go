package audit

import "bytes"

// walk writes a JSON value that is known to be valid, with the secrets of its
// strings removed: those that look like one, those under a secret's name, and
// list elements behind an option that takes one ("--password", "x"). It reports
// false if the value is too deep or too long; then the caller drops what was
// written.
func (enc *encoder) walk(raw []byte) bool {
	w := argWalker{enc: enc, p: raw, limit: len(enc.buf) + maxArgs}
	w.value(0, noName)
	return !w.failed
}

type argWalker struct {
	enc    *encoder
	p      []byte
	i      int
	limit  int
	failed bool
}

func (w *argWalker) blanks() {
	for w.i < len(w.p) && (w.p[w.i] == ' ' || w.p[w.i] == '\t' || w.p[w.i] == '\n' || w.p[w.i] == '\r') {
		w.i++
	}
}

func (w *argWalker) put(c byte) { w.enc.buf = append(w.enc.buf, c) }

// value writes the value at w.i; st says that it stands beside a secret's name.
func (w *argWalker) value(depth int, st strength) {
	w.blanks()
	if w.failed || w.i >= len(w.p) || depth > maxArgDepth || len(w.enc.buf) > w.limit {
		w.failed = true
		return
	}
	switch w.p[w.i] {
	case '{':
		w.object(depth)
	case '[':
		w.array(depth, st)
	case '"':
		raw := w.str()
		w.text(raw, st)
	default:
		start := w.i
		for w.i < len(w.p) && !endsNumber(w.p[w.i]) {
			w.i++
		}
		v := w.p[start:w.i]
		if st >= strongName && !plainValue(v, st) { // "pin": 123456
			w.put('"')
			w.enc.remove(v, kindAssign)
			w.put('"')
			return
		}
		w.enc.buf = append(w.enc.buf, v...)
	}
}

func endsNumber(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// str returns the bytes between the quotes of the string at w.i.
func (w *argWalker) str() []byte {
	start := w.i + 1
	for w.i = start; w.i < len(w.p) && w.p[w.i] != '"'; w.i++ {
		if w.p[w.i] == '\\' {
			w.i++
		}
	}
	end := min(w.i, len(w.p))
	w.i = end + 1
	return w.p[start:end]
}

// decode returns the text of a string's bytes, of which it looks at no more
// than a line may show, and the text's full length (an estimate if it was cut).
func (w *argWalker) decode(raw []byte) (text []byte, full int) {
	full = len(raw)
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[:min(full, maxArgText+cutMargin)], full
	}
	part := raw
	if limit := maxArgText + cutMargin; len(part) > 6*limit {
		part = part[:6*limit]
		for k := 1; k <= 6; k++ { // not in the middle of an escape
			if part[len(part)-k] == '\\' {
				part = part[:len(part)-k]
				break
			}
		}
	}
	var lossy bool
	w.enc.text, lossy = unescape(w.enc.text[:0], part)
	w.enc.lossy = w.enc.lossy || lossy
	if len(part) == len(raw) {
		full = len(w.enc.text)
	}
	return w.enc.text[:min(len(w.enc.text), maxArgText+cutMargin)], full
}

func (w *argWalker) text(raw []byte, st strength) {
	p, full := w.decode(raw)
	if st != noName && !plainValue(p, min(st, strongName)) {
		w.put('"')
		w.enc.remove(p, kindAssign)
		w.put('"')
		return
	}
	w.enc.secretText(p, maxArgText, full)
}

// element goes to the next element of an object or array and writes the comma
// before it. At the end, which it writes too, and on failure there is none.
func (w *argWalker) element(end byte, first bool) bool {
	for {
		w.blanks()
		if w.failed || w.i >= len(w.p) {
			w.failed = true
			return false
		}
		switch w.p[w.i] {
		case ',':
			w.i++
			continue
		case end:
			w.i++
			w.put(end)
			return false
		}
		if !first {
			w.put(',')
		}
		return true
	}
}

func (w *argWalker) object(depth int) {
	w.put('{')
	w.i++
	for first := true; w.element('}', first); first = false {
		p, full := w.decode(w.str())
		st := nameStrength(p, nameText)
		if st == noName && len(p) > 2 && (p[0]|0x20) == 'x' && p[1] == '-' {
			st = nameStrength(p, nameHeader)
		}
		if st == noName && isCookie(p) {
			st = headerName
		}
		w.enc.secretText(p, maxField, full)
		w.put(':')
		w.blanks()
		w.i++ // the colon
		w.value(depth+1, st)
	}
}

func (w *argWalker) array(depth int, st strength) {
	w.put('[')
	w.i++
	option := noName
	for first := true; w.element(']', first); first = false {
		// What follows "--password" in a list is one.
		next := noName
		if w.p[w.i] == '"' && w.i+1 < len(w.p) && w.p[w.i+1] == '-' {
			save := w.i
			name := bytes.TrimLeft(w.str(), "-")
			next = nameStrength(name, nameText)
			w.i = save
		}
		w.value(depth+1, max(st, option))
		option = next
	}
}
