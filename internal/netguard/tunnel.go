package netguard

import (
	"net"
	"strings"
)

// alertUnrecognizedName is a fatal TLS alert: it makes the client say what is
// wrong instead of "connection closed".
const alertUnrecognizedName = "\x15\x03\x03\x00\x02\x02\x70"

// tunnel serves a client that has been told that its tunnel stands. The first
// byte tells TLS from HTTP; nothing else gets through.
func (s *session) tunnel(r Request, upstream net.Conn) {
	s.handshake()
	first, err := s.in.Peek(1)
	if err != nil {
		return
	}
	if first[0] != recordHandshake {
		s.http(&r, upstream)
		return
	}
	raw, hello, err := readHello(s.in, s.proxy.limits.HeaderBytes)
	reason := ""
	switch {
	case err != nil:
		if !isBadHello(err) {
			return // the client went away or was too slow
		}
		reason = err.Error()
	default:
		reason = hello.wrongFor(r.Host.Host)
	}
	if reason != "" {
		s.refuse(r, reason)
		s.write(alertUnrecognizedName)
		s.linger()
		return
	}
	s.deadline(s.proxy.limits.Idle)
	_ = upstream.SetDeadline(deadlineIn(s.proxy.limits.Idle))
	if rest, err := s.in.Peek(s.in.Buffered()); err == nil {
		raw = append(raw, rest...)
		_, _ = s.in.Discard(len(rest))
	}
	if _, err := upstream.Write(raw); err != nil {
		return
	}
	relay(s.conn, upstream, s.proxy.limits.Idle)
}

// wrongFor says why a ClientHello may not go to a host, or "".
func (h clientHello) wrongFor(host string) string {
	switch {
	case h.encrypted:
		return "the TLS ClientHello is encrypted (ECH): its server name cannot be checked"
	case !h.hasName:
		return "the TLS ClientHello has no server name (SNI)"
	case !strings.EqualFold(h.serverName, host) || !isASCII(h.serverName):
		return "the TLS server name " + quote(h.serverName) + " is not the host of the tunnel"
	}
	return ""
}
