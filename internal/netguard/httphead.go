package netguard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// head is the head of an HTTP/1 request, read strictly: whatever two programs
// could read in two ways is an error.
type head struct {
	method, target string
	// minor is 0 or 1, for HTTP/1.0 and 1.1.
	minor int
	// header has canonical names and no Host; host is that header, hasHost says that
	// it was there.
	header  http.Header
	host    string
	hasHost bool
	// length is Content-Length, -1 for a chunked body, 0 for none.
	length int64
}

var (
	errHeadTooLarge = errors.New("the request's head is too large")
	errNotHTTP      = errors.New("this is no HTTP/1 request")
)

// readHead reads the lines of a request up to the empty one, at most limit bytes.
func readHead(in *bufio.Reader, limit int) (head, error) {
	var text []byte
	begin := 0 // of the current line in text
	for first := true; ; {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > limit {
			return head{}, errHeadTooLarge
		}
		text = append(text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return head{}, err
		}
		line := text[begin:]
		if string(line) == "\r\n" {
			return parseHead(text)
		}
		// What is no HTTP is refused at its first line, not at the limit.
		if first {
			if _, _, _, err := requestLine(string(bytes.TrimSuffix(line, []byte("\r\n")))); err != nil {
				return head{}, err
			}
			first = false
		}
		begin = len(text)
	}
}

// parseHead reads the text of a head, the empty line included.
func parseHead(text []byte) (head, error) {
	lines := strings.Split(string(text), "\r\n")
	if len(lines) < 3 || lines[len(lines)-1] != "" || lines[len(lines)-2] != "" {
		return head{}, errNotHTTP
	}
	h := head{header: http.Header{}}
	var err error
	if h.method, h.target, h.minor, err = requestLine(lines[0]); err != nil {
		return head{}, err
	}
	for _, line := range lines[1 : len(lines)-2] {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) || !isFieldValue(value) {
			return head{}, fmt.Errorf("the header line %s is malformed", quote(line))
		}
		value = strings.Trim(value, " \t")
		if !strings.EqualFold(name, "Host") {
			h.header.Add(name, value)
			continue
		}
		if h.hasHost {
			return head{}, errors.New("two Host headers")
		}
		h.host, h.hasHost = value, true
	}
	if h.length, err = bodyLength(h.header, h.minor); err != nil {
		return head{}, err
	}
	if h.length > 0 {
		h.header.Set("Content-Length", strconv.FormatInt(h.length, 10))
	}
	return h, nil
}

// requestLine reads "GET http://example.com/ HTTP/1.1": one blank between the
// parts, and a target of visible ASCII.
func requestLine(line string) (method, target string, minor int, err error) {
	method, rest, ok := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !isToken(method) || len(method) > 32 || target == "" {
		return "", "", 0, errNotHTTP
	}
	switch version {
	case "HTTP/1.1":
		minor = 1
	case "HTTP/1.0":
	default:
		return "", "", 0, errNotHTTP
	}
	for i := 0; i < len(target); i++ {
		if target[i] <= ' ' || target[i] >= 0x7f {
			return "", "", 0, errors.New("the request's target holds characters that no URL has")
		}
	}
	return method, target, minor, nil
}

// bodyLength reads how long a request's body is: -1 for chunked. Two answers are
// an error: they are how requests are smuggled.
func bodyLength(header http.Header, minor int) (int64, error) {
	codings, lengths := header["Transfer-Encoding"], header["Content-Length"]
	switch {
	case len(codings) > 0 && len(lengths) > 0:
		return 0, errors.New("both Content-Length and Transfer-Encoding")
	case len(codings) > 0:
		if len(codings) > 1 || !strings.EqualFold(codings[0], "chunked") || minor == 0 {
			return 0, errors.New(`the only Transfer-Encoding that is accepted is "chunked"`)
		}
		return -1, nil
	case len(lengths) == 0:
		return 0, nil
	}
	if len(lengths) > 1 || lengths[0] == "" || strings.Trim(lengths[0], "0123456789") != "" {
		return 0, errors.New("Content-Length must be one number")
	}
	n, err := strconv.ParseInt(lengths[0], 10, 64)
	if err != nil {
		return 0, errors.New("Content-Length is too large")
	}
	return n, nil
}

// isToken reports a name as HTTP defines it.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isFieldValue reports a value without controls other than tabs.
func isFieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// hopHeaders are about one connection only and never go further (RFC 9110,
// 7.6.1), together with those that Connection names and every Proxy-… header.
var hopHeaders = []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings", "Expect"}

// stripHop removes the headers that end at the proxy, and what a client says
// about proxies before this one.
func stripHop(header http.Header) {
	for _, line := range header["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			header.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range hopHeaders {
		delete(header, name)
	}
	for name := range header {
		if strings.HasPrefix(name, "Proxy-") {
			delete(header, name)
		}
	}
}

// relayed are the headers by which a request claims to come from elsewhere. A
// client in the sandbox is the first of the chain.
var relayed = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Real-Ip"}

// wantsClose reports that the connection ends after this message.
func wantsClose(header http.Header, minor int) bool {
	for _, key := range [...]string{"Connection", "Proxy-Connection"} {
		for _, line := range header[key] {
			for word := range strings.SplitSeq(line, ",") {
				if strings.EqualFold(strings.Trim(word, " \t"), "close") {
					return true
				}
			}
		}
	}
	return minor == 0
}

// oneLine makes a text fit for a status line: printable ASCII only.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
