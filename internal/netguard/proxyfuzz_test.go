package netguard

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A hello that is accepted is passed on byte for byte, and means the same however
// it is cut into records. Go's own server reads the same name from it.
func FuzzClientHello(f *testing.F) {
	f.Add(helloBytes(f, &tls.Config{ServerName: "example.com"}), uint16(5))
	f.Add(cut(helloBytes(f, &tls.Config{ServerName: "example.com", MaxVersion: tls.VersionTLS12}), 9), uint16(1))
	f.Add(withExtensions(nameList("\x00example.com", "\x00evil.com")), uint16(3))
	f.Add(withExtensions(nameList("\x00example.com"), extension(extEncryptedHello, []byte{0})), uint16(30))
	f.Add(withExtensions(nameList("\x00example.com"), extension(1, nil), extension(1, nil)), uint16(5))
	f.Add([]byte("\x16\x03\x01\x00\x00\x16"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		in := bufio.NewReader(bytes.NewReader(text))
		raw, hello, err := readHello(in, 16<<10)
		if err != nil {
			require.Zero(t, hello)
			return
		}
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		require.Equal(t, text, append(bytes.Clone(raw), rest...))
		var message []byte
		for r := raw; len(r) > 0; {
			n := int(r[3])<<8 | int(r[4])
			message = append(message, r[recordHeader:recordHeader+n]...)
			r = r[recordHeader+n:]
		}
		again := cut(append([]byte{0x16, 3, 1, 0, 0}, message...), max(1, int(size)))
		_, hello2, err := readHello(bufio.NewReader(bytes.NewReader(again)), 1<<20)
		require.NoError(t, err)
		require.Equal(t, hello, hello2)
		if hello.hasName && hello.wrongFor(hello.serverName) == "" {
			if name, ok := serverNameByGo(raw); ok {
				require.True(t, strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(hello.serverName, ".")), "%q, Go reads %q", hello.serverName, name)
			}
		}
	})
}

// A head that is accepted is read the same way by Go's server, and what is sent
// on is one request for the same host.
func FuzzRequestHead(f *testing.F) {
	for _, s := range []string{
		"GET http://example.com/a?b HTTP/1.1\r\nHost: example.com\r\n\r\n", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
		"POST http://e.com/ HTTP/1.1\r\nHost: e.com\r\nTransfer-Encoding: chunked\r\nConnection: x, close\r\nX: 1\r\n\r\n",
		"PUT http://e.com:80/%2e%2e/ HTTP/1.0\r\nHost:e.com\r\nContent-Length: 3\r\nProxy-X:\t1\r\n\r\nabc", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "GET http://[::1]/ HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := readHead(bufio.NewReaderSize(bytes.NewReader(text), 64), 4<<10)
		if err != nil {
			require.Zero(t, h)
			return
		}
		require.True(t, isASCII(h.target))
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			return // Go is stricter about some targets
		}
		require.Equal(t, h.method, req.Method)
		if h.length >= 0 {
			require.Equal(t, h.length, req.ContentLength)
		}
		u, err := ParseURL(h.target)
		if err != nil || u.Scheme != "http" {
			return
		}
		if h.hasHost && !sameAuthority(h.host, u.Host, 80) {
			return
		}
		out := outHead(h, u)
		in := bufio.NewReader(strings.NewReader(out))
		sent, err := readHead(in, 64<<10)
		require.NoError(t, err, "%q", out)
		require.Zero(t, in.Buffered(), "more than one head: %q", out)
		require.Equal(t, h.method, sent.method)
		require.Equal(t, h.length, sent.length)
		require.True(t, sameAuthority(sent.host, u.Host, 80), "%q", out)
		require.True(t, strings.HasPrefix(sent.target, "/"), "%q", out)
		for name := range sent.header {
			require.False(t, strings.HasPrefix(name, "Proxy-"), "%q", out)
		}
	})
}

// Whatever a SOCKS5 client writes, a host that comes out is a name or address in
// its one normal form.
func FuzzSocks(f *testing.F) {
	for _, s := range []string{"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb", "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x01\xbb", "\x05\x02\x00\x02", "\x05\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in := bufio.NewReader(bytes.NewReader(text))
		if _, err := readSocksGreeting(in); err != nil {
			return
		}
		_, name, port, err := readSocksRequest(in)
		if err != nil {
			return
		}
		h, err := socksHost(name, port)
		if err != nil {
			return
		}
		again, err := NormalizeHost(h.Host)
		require.NoError(t, err)
		require.Equal(t, h.Host, again.Host)
		require.Equal(t, h.IP, again.IP)
		require.NotZero(t, h.Port)
	})
}

// No document makes the reader panic, hang, or keep more than it was given.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"[a.\"b\"]\nc = \"d\"\n", "a.b = ['x', {y = \"z\"}] # c\n", "a = \"\"\"x\ny\"\"\"\n[[b]]\nc=1\n", "a = \"\\u00e9\\\"\"", "[", "a={b={c=[[[", "a=\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := parseTOML(text)
		if err != nil {
			require.Empty(t, out)
			return
		}
		n := 0
		for _, v := range out {
			require.NotEmpty(t, v.path)
			n += len(v.text)
		}
		require.LessOrEqual(t, n, 2*len(text))
	})
}
