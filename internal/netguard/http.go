package netguard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// http serves HTTP/1 requests until the client or an error ends it. In a tunnel
// (inside, with the connection that was opened for it) requests are origin-form
// and must be for the tunnel's host.
func (s *session) http(inside *Request, upstream net.Conn) {
	s.inside = inside
	for first := true; ; first = false {
		if !first {
			// Waiting for the next request may take longer than the request itself.
			s.deadline(s.proxy.limits.KeepAlive)
			if _, err := s.in.Peek(1); err != nil {
				return
			}
			s.handshake()
		}
		h, err := readHead(s.in, s.proxy.limits.HeaderBytes)
		if err != nil {
			s.badHead(err)
			return
		}
		if !s.request(h, upstream) {
			return
		}
		upstream = nil
	}
}

// badHead answers what is no request.
func (s *session) badHead(err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed), isReset(err):
		return
	case errors.Is(err, errHeadTooLarge):
		s.answer(431, "Request Header Fields Too Large", err.Error())
	default:
		if s.inside != nil {
			s.refuse(*s.inside, "the tunnel carries neither TLS nor HTTP/1: "+err.Error())
		} else {
			s.refuse(Request{Host: model.Host{Host: "a malformed request"}, Via: ViaHTTP}, err.Error())
		}
		s.answer(400, "Bad Request", err.Error())
	}
}

// isReset reports a connection that the other side broke off.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

// request serves one request and reports whether another may follow.
func (s *session) request(h head, upstream net.Conn) bool {
	if s.inside != nil {
		return s.tunnelled(h, upstream)
	}
	if !s.authorized(h.header.Get("Proxy-Authorization")) {
		s.write("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"lictor\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		s.linger()
		return false
	}
	if h.method == http.MethodConnect {
		s.connect(h)
		return false
	}
	return s.absolute(h)
}

// authorized checks a Proxy-Authorization header in constant time.
func (s *session) authorized(header string) bool {
	if s.proxy.Credentials == "" {
		return true
	}
	scheme, text, _ := strings.Cut(header, " ")
	given, err := base64.StdEncoding.DecodeString(strings.Trim(text, " "))
	return strings.EqualFold(scheme, "Basic") && err == nil && sameSecret(string(given), s.proxy.Credentials)
}

// sameSecret compares without telling by its time how much fits.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// connect serves CONNECT.
func (s *session) connect(h head) {
	host, err := SplitAuthority(h.target)
	if err != nil {
		s.refuse(named(h.target, ViaConnect), inputReason(err))
		s.answer(400, "Bad Request", err.Error())
		return
	}
	r := Request{Host: host, Via: ViaConnect}
	if h.length != 0 {
		s.refuse(r, "a CONNECT request has no body")
		s.answer(400, "Bad Request", "a CONNECT request has no body")
		return
	}
	if h.hasHost && !sameAuthority(h.host, host, host.Port) {
		s.mismatch(r, h.host)
		return
	}
	d := s.decide(r)
	if !d.Allowed {
		s.blocked(r, d)
		return
	}
	upstream, err := s.proxy.dial(host, d.NonPublic)
	if err != nil {
		s.dialFailed(r, err)
		return
	}
	defer s.proxy.untrack(upstream)
	s.handshake()
	if !s.write("HTTP/1.1 200 Connection established\r\n\r\n") {
		return
	}
	s.tunnel(r, upstream)
}

// absolute serves a request with a whole URL, as clients send plain HTTP to a
// proxy.
func (s *session) absolute(h head) bool {
	u, err := ParseURL(h.target)
	if err == nil && u.Scheme != "http" {
		err = &InputError{Field: "scheme", Text: h.target, Reason: "only http: use CONNECT for https"}
	}
	if err != nil {
		s.refuse(named(h.target, ViaHTTP), inputReason(err))
		s.answer(400, "Bad Request", "a proxy takes CONNECT or a whole URL: "+err.Error())
		return false
	}
	r := Request{Host: u.Host, Via: ViaHTTP, Method: h.method, URL: u.Text}
	if h.hasHost && !sameAuthority(h.host, u.Host, 80) || !h.hasHost && h.minor == 1 {
		s.mismatch(r, h.host)
		return false
	}
	return s.exchange(r, h, u, nil)
}

// tunnelled serves a request inside a tunnel. Only requests for the tunnel's own
// host are let through: its address may serve other sites too.
func (s *session) tunnelled(h head, upstream net.Conn) bool {
	r := *s.inside
	if h.method == http.MethodConnect {
		s.refuse(r, "a tunnel inside a tunnel")
		s.answer(403, "Blocked by lictor", "a tunnel inside a tunnel")
		return false
	}
	if !h.hasHost || !sameAuthority(h.host, r.Host, 80) {
		s.mismatch(r, h.host)
		return false
	}
	if !strings.HasPrefix(h.target, "/") {
		s.refuse(r, "a request in a tunnel names a path alone")
		s.answer(400, "Bad Request", "a request in a tunnel names a path alone")
		return false
	}
	u, err := ParseURL("http://" + authorityText(r.Host, "http") + h.target)
	if err != nil {
		s.refuse(r, inputReason(err))
		s.answer(400, "Bad Request", err.Error())
		return false
	}
	r.Method, r.URL = h.method, u.Text
	return s.exchange(r, h, u, upstream)
}

// exchange decides about a request and passes it on. upstream is the connection
// that was opened for its tunnel, nil if there is none. Inside a tunnel the
// request gets a decision of its own: now its URL is known.
func (s *session) exchange(r Request, h head, u URL, upstream net.Conn) bool {
	d := s.decide(r)
	if !d.Allowed {
		s.blocked(r, d)
		return false
	}
	if upstream == nil {
		var err error
		if upstream, err = s.proxy.dial(r.Host, d.NonPublic); err != nil {
			s.dialFailed(r, err)
			return false
		}
		defer s.proxy.untrack(upstream)
	}
	return s.forward(h, u, upstream)
}

// sameAuthority reports whether a Host header names the same host and port.
func sameAuthority(header string, h model.Host, defaultPort int) bool {
	if !isASCII(header) {
		return false
	}
	got, err := parseAuthority(header, header, defaultPort)
	return err == nil && got.Host == h.Host && got.Port == h.Port
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// mismatch refuses a request whose Host header names another host.
func (s *session) mismatch(r Request, header string) {
	reason := "the Host header " + quote(header) + " is for another host"
	s.refuse(r, reason)
	s.blocked(r, Decision{Reason: reason})
}

// blocked answers a request that was refused and recorded.
func (s *session) blocked(r Request, d Decision) {
	text := "blocked " + r.Target() + " (" + d.Reason + ")"
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	s.answer(403, "Blocked by lictor: "+r.Target()+" ("+d.Reason+")", text)
}

// dialFailed answers a request whose host cannot be reached.
func (s *session) dialFailed(r Request, err error) {
	var notPublic *notPublicError
	if errors.As(err, &notPublic) {
		d := Decision{By: byProxy, Reason: err.Error()}
		s.block(r, d)
		s.blocked(r, d)
		return
	}
	s.answer(502, "Bad Gateway", err.Error())
}

// inputReason is the reason of an input error without the text, which the report
// shows anyway.
func inputReason(err error) string {
	var input *InputError
	if errors.As(err, &input) {
		return input.Field + ": " + input.Reason
	}
	return err.Error()
}

// answer sends the proxy's own response and ends the connection. The reason is
// in the status line too, because most clients show nothing else.
func (s *session) answer(code int, status, text string) {
	s.reply(code, status, text)
	s.linger()
}

// reply is answer without waiting for the client.
func (s *session) reply(code int, status, text string) {
	s.handshake()
	if len(status) > 300 {
		status = status[:300]
	}
	text = "lictor: " + oneLine(text) + "\n"
	s.write(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", code, oneLine(status), len(text), text))
}

// write sends a text to the client.
func (s *session) write(text string) bool {
	_, err := io.WriteString(s.conn, text)
	return err == nil
}

// linger lets the client read the answer: closing with unread input would reset
// the connection and could take the answer away.
func (s *session) linger() {
	closeWrite(s.conn)
	s.deadline(time.Second)
	_, _ = io.CopyN(io.Discard, s.in, 256<<10)
}
