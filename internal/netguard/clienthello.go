package netguard

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// Numbers of TLS (RFC 8446, RFC 6066, RFC 9849).
const (
	recordHandshake    = 0x16
	typeClientHello    = 1
	extServerName      = 0
	extEncryptedHello  = 0xfe0d
	extEncryptedSNI    = 0xffce // a draft before ECH
	nameTypeHost       = 0
	maxRecord          = 1 << 14
	recordHeader       = 5
	handshakeHeaderLen = 4
)

// clientHello is what the proxy looks at in a TLS ClientHello.
type clientHello struct {
	serverName string
	hasName    bool
	// encrypted says that the hello has an encrypted part with another name. Some
	// clients send a meaningless one to look alike; nobody can tell the two apart.
	encrypted bool
}

// helloError says what is wrong with a ClientHello.
type helloError struct{ reason string }

func (e *helloError) Error() string { return "the TLS ClientHello is malformed: " + e.reason }

func isBadHello(err error) bool {
	var h *helloError
	return errors.As(err, &h)
}

func deadlineIn(d time.Duration) time.Time { return time.Now().Add(d) }

// readHello reads the records of a ClientHello, however it is cut into them, and
// returns their bytes as they came. limit bounds them.
//
// Errors are *helloError, or those of the reader.
func readHello(in *bufio.Reader, limit int) ([]byte, clientHello, error) {
	bad := func(reason string) ([]byte, clientHello, error) { return nil, clientHello{}, &helloError{reason} }
	var raw, message []byte
	for {
		start := len(raw)
		raw = append(raw, make([]byte, recordHeader)...)
		if _, err := io.ReadFull(in, raw[start:]); err != nil {
			return nil, clientHello{}, err
		}
		record := raw[start:]
		size := int(record[3])<<8 | int(record[4])
		switch {
		case record[0] != recordHandshake:
			return bad("another record comes before its end")
		case record[1] != 3 || record[2] > 4:
			return bad("no known version of TLS")
		case size == 0 || size > maxRecord:
			return bad("a record of a forbidden length")
		case len(raw)+size > limit:
			return bad("too large")
		}
		start = len(raw)
		raw = append(raw, make([]byte, size)...)
		if _, err := io.ReadFull(in, raw[start:]); err != nil {
			return nil, clientHello{}, err
		}
		message = append(message, raw[start:]...)
		if message[0] != typeClientHello {
			return bad("another message comes first")
		}
		if len(message) < handshakeHeaderLen {
			continue
		}
		want := handshakeHeaderLen + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		switch {
		case want > limit:
			return bad("too large")
		case len(message) > want:
			return bad("something follows it in the same record")
		case len(message) == want:
			hello, err := parseHello(message[handshakeHeaderLen:])
			if err != nil {
				return nil, clientHello{}, err // also where a name came before the mistake
			}
			return raw, hello, nil
		}
	}
}

// parseHello reads the body of a ClientHello message.
func parseHello(body []byte) (clientHello, error) {
	var h clientHello
	b := reader{body}
	_, ok1 := b.take(2 + 32) // version, random
	_, ok2 := b.vector(1)    // session
	suites, ok3 := b.vector(2)
	methods, ok4 := b.vector(1)
	if !ok1 || !ok2 || !ok3 || !ok4 || len(suites) == 0 || len(suites)%2 != 0 || len(methods) == 0 {
		return h, &helloError{"cut off"}
	}
	if len(b.rest) == 0 {
		return h, nil // no extensions at all
	}
	extensions, ok := b.vector(2)
	if !ok || len(b.rest) != 0 {
		return h, &helloError{"the extensions have a wrong length"}
	}
	seen := map[int]bool{}
	for x := (reader{extensions}); len(x.rest) > 0; {
		kind, ok := x.take(2)
		data, ok2 := x.vector(2)
		if !ok || !ok2 {
			return h, &helloError{"an extension is cut off"}
		}
		id := int(kind[0])<<8 | int(kind[1])
		if seen[id] {
			return h, &helloError{"the same extension twice"}
		}
		seen[id] = true
		switch id {
		case extEncryptedHello, extEncryptedSNI:
			h.encrypted = true
		case extServerName:
			name, err := parseServerName(data)
			if err != nil {
				return h, err
			}
			h.serverName, h.hasName = name, true
		}
	}
	return h, nil
}

// parseServerName reads the extension: exactly one name, of a host.
func parseServerName(data []byte) (string, error) {
	b := reader{data}
	list, ok := b.vector(2)
	if !ok || len(b.rest) != 0 {
		return "", &helloError{"the server name has a wrong length"}
	}
	l := reader{list}
	kind, ok := l.take(1)
	name, ok2 := l.vector(2)
	if !ok || !ok2 || kind[0] != nameTypeHost || len(name) == 0 || len(l.rest) != 0 {
		return "", &helloError{"it must have one server name"}
	}
	return string(name), nil
}

// reader takes bytes off the front.
type reader struct{ rest []byte }

// take returns the next n bytes.
func (r *reader) take(n int) ([]byte, bool) {
	if n > len(r.rest) {
		return nil, false
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out, true
}

// vector returns the bytes behind a length of width bytes.
func (r *reader) vector(width int) ([]byte, bool) {
	size, ok := r.take(width)
	if !ok {
		return nil, false
	}
	n := 0
	for _, c := range size {
		n = n<<8 | int(c)
	}
	return r.take(n)
}
