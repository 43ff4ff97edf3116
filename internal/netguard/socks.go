package netguard

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Numbers of SOCKS5 (RFC 1928, RFC 1929).
const (
	socksVersion = 5

	socksNoAuth, socksPassword, socksNoMethod = 0, 2, 0xff

	socksConnect = 1

	socksIPv4, socksName, socksIPv6 = 1, 3, 4

	socksOK, socksFailure, socksNotAllowed, socksUnreachable = 0, 1, 2, 4
	socksBadCommand, socksBadAddress                         = 7, 8
)

var errSocks = errors.New("this is no SOCKS5 request")

// socks serves a SOCKS5 client: CONNECT to a host name.
func (s *session) socks() {
	methods, err := readSocksGreeting(s.in)
	if err != nil || !s.socksLogin(methods) {
		return
	}
	command, text, port, err := readSocksRequest(s.in)
	if err != nil {
		if errors.Is(err, errSocks) {
			s.socksReply(socksBadAddress)
		}
		return
	}
	if command != socksConnect {
		s.refuse(named(text, ViaSOCKS5), "SOCKS5 can only connect: no BIND, no UDP")
		s.socksReply(socksBadCommand)
		return
	}
	host, err := socksHost(text, port)
	if err != nil {
		s.refuse(named(text, ViaSOCKS5), inputReason(err))
		s.socksReply(socksNotAllowed)
		return
	}
	r := Request{Host: host, Via: ViaSOCKS5}
	d := s.decide(r)
	if !d.Allowed {
		s.socksReply(socksNotAllowed)
		return
	}
	upstream, err := s.proxy.dial(host, d.NonPublic)
	if err != nil {
		var notPublic *notPublicError
		if errors.As(err, &notPublic) {
			s.refuse(r, err.Error())
			s.socksReply(socksNotAllowed)
			return
		}
		s.socksReply(socksUnreachable)
		return
	}
	defer s.proxy.untrack(upstream)
	s.handshake()
	if !s.write(socksText(socksOK)) {
		return
	}
	s.tunnel(r, upstream)
}

// socksHost reads the host of a request. Names are ASCII on the wire: what is
// not could mean one thing here and another to the client.
func socksHost(text string, port int) (model.Host, error) {
	fail := func(field, reason string) (model.Host, error) {
		return model.Host{}, &InputError{Field: field, Text: text, Reason: reason}
	}
	if !isASCII(text) {
		return fail("host", "a host name is ASCII")
	}
	if port == 0 {
		return fail("port", "must be a number from 1 to 65535")
	}
	h, err := NormalizeHost(text)
	h.Port = port
	return h, err
}

// socksReply ends a request that got no tunnel.
func (s *session) socksReply(code byte) {
	s.handshake()
	s.write(socksText(code))
	s.linger()
}

// socksText is a reply; the address in it means nothing to anybody.
func socksText(code byte) string {
	return string([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
}

// socksLogin picks the method and checks user and password.
func (s *session) socksLogin(methods string) bool {
	want := byte(socksNoAuth)
	if s.proxy.Credentials != "" {
		want = socksPassword
	}
	if strings.IndexByte(methods, want) < 0 {
		s.write(string([]byte{socksVersion, socksNoMethod}))
		s.linger()
		return false
	}
	if !s.write(string([]byte{socksVersion, want})) {
		return false
	}
	if want == socksNoAuth {
		return true
	}
	user, password, err := readSocksPassword(s.in)
	if err != nil {
		return false
	}
	if !sameSecret(user+":"+password, s.proxy.Credentials) {
		s.write("\x01\x01")
		s.linger()
		return false
	}
	return s.write("\x01\x00")
}

// readSocksGreeting reads the methods that a client offers.
func readSocksGreeting(in *bufio.Reader) (string, error) {
	version, err := in.ReadByte()
	if err != nil {
		return "", err
	}
	if version != socksVersion {
		return "", errSocks
	}
	methods, err := readShort(in)
	if err == nil && methods == "" {
		err = errSocks
	}
	return methods, err
}

// readSocksPassword reads a user name and a password.
func readSocksPassword(in *bufio.Reader) (user, password string, err error) {
	version, err := in.ReadByte()
	if err != nil {
		return "", "", err
	}
	if version != 1 {
		return "", "", errSocks
	}
	if user, err = readShort(in); err == nil {
		password, err = readShort(in)
	}
	return user, password, err
}

// readSocksRequest reads a request; an address comes back as its text.
func readSocksRequest(in *bufio.Reader) (command byte, host string, port int, err error) {
	var fixed [4]byte
	if _, err = io.ReadFull(in, fixed[:]); err != nil {
		return 0, "", 0, err
	}
	if fixed[0] != socksVersion || fixed[2] != 0 {
		return 0, "", 0, errSocks
	}
	switch fixed[3] {
	case socksName:
		host, err = readShort(in)
	case socksIPv4:
		host, err = readAddr(in, 4)
	case socksIPv6:
		host, err = readAddr(in, 16)
	default:
		err = errSocks
	}
	if err != nil {
		return 0, "", 0, err
	}
	var digits [2]byte
	if _, err = io.ReadFull(in, digits[:]); err != nil {
		return 0, "", 0, err
	}
	return fixed[1], host, int(digits[0])<<8 | int(digits[1]), nil
}

// readShort reads a text behind its length in one byte.
func readShort(in *bufio.Reader) (string, error) {
	n, err := in.ReadByte()
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(in, text)
	return string(text), err
}

// readAddr reads an address of n bytes.
func readAddr(in *bufio.Reader, n int) (string, error) {
	raw := make([]byte, n)
	if _, err := io.ReadFull(in, raw); err != nil {
		return "", err
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.String(), nil
}
