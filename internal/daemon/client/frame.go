package client

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// A frame is a header (magic, version, kind, length of the payload) and a
// payload of fields, each a length and its bytes. Lengths are 32 bits, the most
// significant byte first.
const (
	magic = "LCTR"
	// Version is the version of the protocol: a daemon and a client of different
	// versions do not talk, and the client takes the cold path.
	Version    = 1
	headerSize = len(magic) + 2 + 4
	// MaxRequest and MaxResponse are how long a payload may be, in bytes. What is
	// longer goes the cold way: the daemon's memory stays small.
	MaxRequest  = 4 << 20
	MaxResponse = 8 << 20
	// MaxVars is how many variables a request may carry.
	MaxVars = 128
)

// Kind says what a request wants.
type Kind byte

// The kinds: a hook call, the daemon's health and its metrics as texts, and the
// request to stop.
const (
	KindHook Kind = iota + 1
	KindHealth
	KindMetrics
	KindStop
)

// Status says what a response is.
type Status byte

// The statuses: an answer to be given to the agent as it is; a call that the
// daemon does not decide, so that the cold path must (Stderr says why); a text
// for a person in Stdout.
const (
	StatusAnswer Status = iota + 1
	StatusCold
	StatusText
)

// Request is what a client sends.
type Request struct {
	Kind Kind
	// Agent is the agent's name ("claude-code"), Ask says that it was installed
	// with --ask.
	Agent string
	Ask   bool
	// Home is the user's home folder and Space the name of the file system's view
	// that the client has (its mount namespace, "" if there are none): a daemon
	// with another home or view would read other files.
	Home, Space string
	// Cwd is the client's working folder.
	Cwd string
	// Vars are the variables that hooks look at, and those whose values must not
	// be recorded, as NAME=value.
	Vars []string
	// Stdin is what the agent sent.
	Stdin []byte
	// Limit is how long the client waits. It is rounded to milliseconds.
	Limit time.Duration
}

// Getenv returns a variable of the request, "" if it is not set.
func (r *Request) Getenv(name string) string {
	for _, v := range r.Vars {
		if len(v) > len(name) && v[len(name)] == '=' && v[:len(name)] == name {
			return v[len(name)+1:]
		}
	}
	return ""
}

// Response is what the daemon sends back.
type Response struct {
	Status Status
	// Stdout, Stderr and Code are what the hook gives to the agent.
	Stdout, Stderr []byte
	Code           int
}

// ErrFrame is the error for bytes that are no frame of this protocol, or one
// that is too long.
var ErrFrame = errors.New("the other side does not speak lictor's protocol, or sent too much")

func header(out []byte, kind byte, payload int) []byte {
	out = append(append(out, magic...), Version, kind)
	return binary.BigEndian.AppendUint32(out, uint32(payload))
}

// EncodeRequest returns the request as a frame. It is ErrFrame if the request is
// longer than MaxRequest or has more than MaxVars variables.
func EncodeRequest(r *Request) ([]byte, error) {
	size := 4 + 1 + 4 + 4*4 + len(r.Agent) + len(r.Home) + len(r.Space) + len(r.Cwd) + 4 + len(r.Stdin)
	for _, v := range r.Vars {
		size += 4 + len(v)
	}
	if size > MaxRequest || len(r.Vars) > MaxVars {
		return nil, ErrFrame
	}
	out := header(make([]byte, 0, headerSize+size), byte(r.Kind), size)
	out = binary.BigEndian.AppendUint32(out, uint32(max(r.Limit, 0).Milliseconds()))
	ask := byte(0)
	if r.Ask {
		ask = 1
	}
	out = append(out, ask)
	for _, s := range []string{r.Agent, r.Home, r.Space, r.Cwd} {
		out = appendField(out, s)
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(r.Vars)))
	for _, v := range r.Vars {
		out = appendField(out, v)
	}
	return appendField(out, string(r.Stdin)), nil
}

// EncodeResponse returns the response as a frame. An answer that is too long to
// send becomes one that says so with StatusCold.
func EncodeResponse(r *Response) []byte {
	if len(r.Stdout)+len(r.Stderr) > MaxResponse-16 {
		r = &Response{Status: StatusCold, Stderr: []byte("the daemon's answer is too long")}
	}
	size := 4 + 4 + len(r.Stdout) + 4 + len(r.Stderr)
	out := header(make([]byte, 0, headerSize+size), byte(r.Status), size)
	out = binary.BigEndian.AppendUint32(out, uint32(r.Code))
	out = appendField(out, string(r.Stdout))
	return appendField(out, string(r.Stderr))
}

func appendField(out []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
}

// ReadRequest reads one request. The error is ErrFrame, or that of the reader;
// io.EOF only if nothing was read at all.
func ReadRequest(in io.Reader) (*Request, error) {
	kind, payload, err := readFrame(in, MaxRequest)
	if err != nil {
		return nil, err
	}
	f := fields{payload}
	limit, ok := f.number()
	flags, ok2 := f.take(1)
	if !ok || !ok2 || flags[0] > 1 || kind < byte(KindHook) || kind > byte(KindStop) {
		return nil, ErrFrame
	}
	r := &Request{Kind: Kind(kind), Ask: flags[0] == 1, Limit: time.Duration(limit) * time.Millisecond}
	for _, to := range []*string{&r.Agent, &r.Home, &r.Space, &r.Cwd} {
		field, ok := f.field()
		if !ok {
			return nil, ErrFrame
		}
		*to = string(field)
	}
	n, ok := f.number()
	if !ok || n > MaxVars {
		return nil, ErrFrame
	}
	for range n {
		field, ok := f.field()
		if !ok {
			return nil, ErrFrame
		}
		r.Vars = append(r.Vars, string(field))
	}
	if r.Stdin, ok = f.field(); !ok || len(f.rest) > 0 {
		return nil, ErrFrame
	}
	return r, nil
}

// ReadResponse reads one response; the errors are those of ReadRequest.
func ReadResponse(in io.Reader) (*Response, error) {
	status, payload, err := readFrame(in, MaxResponse)
	if err != nil {
		return nil, err
	}
	f := fields{payload}
	r := &Response{Status: Status(status)}
	code, ok := f.number()
	if !ok || code > 255 || r.Status < StatusAnswer || r.Status > StatusText {
		return nil, ErrFrame
	}
	r.Code = int(code)
	if r.Stdout, ok = f.field(); !ok {
		return nil, ErrFrame
	}
	if r.Stderr, ok = f.field(); !ok || len(f.rest) > 0 {
		return nil, ErrFrame
	}
	return r, nil
}

// readFrame reads a header and a payload. The memory grows with what comes, not
// with what the header announces.
func readFrame(in io.Reader, limit int) (byte, []byte, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[headerSize-4:]))
	if string(head[:len(magic)]) != magic || head[len(magic)] != Version || size > int64(limit) {
		return 0, nil, ErrFrame
	}
	payload := make([]byte, min(size, 64<<10))
	for read := 0; ; {
		n, err := io.ReadFull(in, payload[read:])
		read += n
		switch {
		case errors.Is(err, io.EOF) && size > 0:
			return 0, nil, io.ErrUnexpectedEOF
		case err != nil && !errors.Is(err, io.EOF):
			return 0, nil, err
		case int64(read) == size:
			return head[len(magic)+1], payload, nil
		}
		grown := make([]byte, min(size, int64(4*len(payload))))
		copy(grown, payload)
		payload = grown
	}
}

// fields reads a payload.
type fields struct{ rest []byte }

func (f *fields) take(n int) ([]byte, bool) {
	if n < 0 || len(f.rest) < n {
		return nil, false
	}
	out := f.rest[:n:n]
	f.rest = f.rest[n:]
	return out, true
}

func (f *fields) number() (uint32, bool) {
	b, ok := f.take(4)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

func (f *fields) field() ([]byte, bool) {
	n, ok := f.number()
	if !ok || int64(n) > int64(len(f.rest)) {
		return nil, false
	}
	return f.take(int(n))
}
