package netguard

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// helloBytes is a ClientHello as Go's client sends it.
func helloBytes(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		_ = tls.Client(theirs, config).Handshake()
		theirs.Close()
	}()
	head := make([]byte, recordHeader)
	_, err := io.ReadFull(ours, head)
	require.NoError(t, err)
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	_, err = io.ReadFull(ours, body)
	require.NoError(t, err)
	return append(head, body...)
}

// cut splits one record into records of n bytes.
func cut(record []byte, n int) []byte {
	var out []byte
	for body := record[recordHeader:]; len(body) > 0; {
		part := body[:min(n, len(body))]
		body = body[len(part):]
		out = append(out, record[0], record[1], record[2], byte(len(part)>>8), byte(len(part)))
		out = append(out, part...)
	}
	return out
}

func TestReadHello(t *testing.T) {
	raw := helloBytes(t, &tls.Config{ServerName: "example.com"})
	for _, n := range []int{1, 2, 3, 5, 17, 100, 1000, 1 << 14} {
		text := cut(raw, n)
		got, hello, err := readHello(bufio.NewReader(bytes.NewReader(append(text, "rest"...))), 64<<10)
		require.NoError(t, err, "records of %d bytes", n)
		assert.Equal(t, text, got)
		assert.Equal(t, clientHello{serverName: "example.com", hasName: true}, hello)
	}
	// Any cut is an error, never a hello.
	for i := range raw {
		_, hello, err := readHello(bufio.NewReader(bytes.NewReader(raw[:i])), 64<<10)
		require.Error(t, err)
		require.Zero(t, hello)
	}
	_, hello, err := readHello(bufio.NewReader(bytes.NewReader(helloBytes(t, &tls.Config{InsecureSkipVerify: true}))), 64<<10)
	require.NoError(t, err)
	assert.Equal(t, "the TLS ClientHello has no server name (SNI)", hello.wrongFor("example.com"))

	message := raw[recordHeader:]
	record := func(kind byte, body []byte) []byte {
		return append([]byte{kind, 3, 1, byte(len(body) >> 8), byte(len(body))}, body...)
	}
	for name, text := range map[string][]byte{
		"empty record":           append(record(0x16, nil), raw...),
		"alert inside":           append(record(0x16, message[:10]), append(record(0x15, []byte{1, 0}), record(0x16, message[10:])...)...),
		"second message":         record(0x16, append(bytes.Clone(message), message...)),
		"ServerHello":            record(0x16, append([]byte{2}, message[1:]...)),
		"version 2":              append([]byte{0x16, 2, 0}, raw[3:]...),
		"record too long":        {0x16, 3, 1, 0x40, 1, 1},
		"message too long":       record(0x16, []byte{1, 0xff, 0xff, 0xff}),
		"more than the limit":    cut(record(0x16, append([]byte{1, 0, 0x40, 0}, make([]byte, 10000)...)), 1),
		"message cut by its end": record(0x16, []byte{1, 0, 0, 4, 3, 3, 0, 0}),
	} {
		_, _, err := readHello(bufio.NewReader(bytes.NewReader(text)), 32<<10)
		require.Error(t, err, name)
		assert.True(t, isBadHello(err), "%s: %v", name, err)
	}
}

// extension builds a hello with chosen extensions.
func withExtensions(extensions ...[]byte) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0, 0, 2, 0x13, 1, 1, 0)
	all := bytes.Join(extensions, nil)
	body = append(body, byte(len(all)>>8), byte(len(all)))
	body = append(body, all...)
	message := append([]byte{1, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	return append([]byte{0x16, 3, 1, byte(len(message) >> 8), byte(len(message))}, message...)
}

func extension(id int, data []byte) []byte {
	return append([]byte{byte(id >> 8), byte(id), byte(len(data) >> 8), byte(len(data))}, data...)
}

// nameList is a server_name extension of names with their kinds.
func nameList(names ...string) []byte {
	var list []byte
	for _, n := range names {
		list = append(list, n[0], byte((len(n)-1)>>8), byte(len(n)-1))
		list = append(list, n[1:]...)
	}
	return extension(0, append([]byte{byte(len(list) >> 8), byte(len(list))}, list...))
}

func TestHelloNames(t *testing.T) {
	for name, row := range map[string]struct {
		text []byte
		want string
	}{
		"right":             {withExtensions(nameList("\x00example.com")), ""},
		"case":              {withExtensions(nameList("\x00EXAMPLE.com")), ""},
		"other":             {withExtensions(nameList("\x00evil.com")), `the TLS server name "evil.com" is not the host of the tunnel`},
		"trailing dot":      {withExtensions(nameList("\x00example.com.")), "is not the host"},
		"NUL":               {withExtensions(nameList("\x00example.com\x00")), "is not the host"},
		"NUL, then more":    {withExtensions(nameList("\x00example.com\x00.evil.com")), "is not the host"},
		"folds to it":       {withExtensions(nameList("\x00example.com"[:9] + "\u212a.com")), "is not the host"},
		"address":           {withExtensions(nameList("\x00127.0.0.1")), "is not the host"},
		"two names":         {withExtensions(nameList("\x00example.com", "\x00evil.com")), "malformed: it must have one server name"},
		"two extensions":    {withExtensions(nameList("\x00example.com"), nameList("\x00evil.com")), "malformed: the same extension twice"},
		"another kind":      {withExtensions(nameList("\x01example.com")), "malformed: it must have one server name"},
		"empty name":        {withExtensions(nameList("\x00")), "malformed: it must have one server name"},
		"empty extension":   {withExtensions(extension(0, nil)), "malformed: the server name has a wrong length"},
		"no extension":      {withExtensions(), "has no server name (SNI)"},
		"ECH":               {withExtensions(nameList("\x00example.com"), extension(extEncryptedHello, []byte{0})), "is encrypted (ECH)"},
		"ESNI":              {withExtensions(nameList("\x00example.com"), extension(extEncryptedSNI, []byte{0})), "is encrypted (ECH)"},
		"cut extension":     {withExtensions([]byte{0, 0, 0, 9, 1}), "malformed: an extension is cut off"},
		"unknown extension": {withExtensions(extension(0x4a4a, []byte{1}), nameList("\x00example.com")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, hello, err := readHello(bufio.NewReader(bytes.NewReader(row.text)), 64<<10)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = hello.wrongFor("example.com")
			}
			if row.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, row.want)
			}
		})
	}
}

// echConfig is a list with one made-up key, as a server would publish it.
func echConfig(t *testing.T, publicName string) []byte {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(t, err)
	pub := key.PublicKey().Bytes()
	body := []byte{1, 0, 0x20, 0, byte(len(pub))}
	body = append(body, pub...)
	body = append(body, 0, 4, 0, 1, 0, 1, 32, byte(len(publicName)))
	body = append(body, publicName...)
	body = append(body, 0, 0)
	config := append([]byte{0xfe, 0x0d, 0, byte(len(body))}, body...)
	return append([]byte{0, byte(len(config))}, config...)
}

func TestServerName(t *testing.T) {
	upstream := newWeb(t, true, hello)
	p := &Proxy{Decide: allowAll, Resolver: names{"example.com": {"127.0.0.1"}, "front.example.com": {"127.0.0.1"}}}
	addr := testProxy(t, p)
	roots := upstream.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, row := range map[string]struct {
		host   string
		config *tls.Config
		want   string
	}{
		"the same":   {"example.com", &tls.Config{ServerName: "example.com"}, ""},
		"TLS 1.2":    {"example.com", &tls.Config{ServerName: "example.com", MaxVersion: tls.VersionTLS12}, ""},
		"fronting":   {"front.example.com", &tls.Config{ServerName: "example.com"}, "is not the host of the tunnel"},
		"none":       {"example.com", &tls.Config{InsecureSkipVerify: true}, "has no server name"},
		"inner name": {"example.com", &tls.Config{ServerName: "secret.example.com", EncryptedClientHelloConfigList: echConfig(t, "example.com")}, "is encrypted (ECH)"},
	} {
		t.Run(name, func(t *testing.T) {
			row.config.RootCAs = roots
			c, _ := tunnelTo(t, addr, row.host+":"+upstream.port)
			hits := upstream.hits.Load()
			tc := tls.Client(c, row.config)
			err := tc.Handshake()
			if row.want == "" {
				require.NoError(t, err)
				require.NoError(t, tc.Close())
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), "unrecognized name")
			assert.Equal(t, hits, upstream.hits.Load())
			assert.Contains(t, strings.Join(p.Report(), "\n"), row.want)
		})
	}
}

// Every fragment of a hello in its own packet, and more than the hello at once.
func TestSlowHello(t *testing.T) {
	echo := echoServer(t)
	p := &Proxy{Decide: allowAll}
	addr := testProxy(t, p)
	text := cut(helloBytes(t, &tls.Config{ServerName: "echo.test"}), 100)
	c, r := tunnelTo(t, addr, "echo.test:"+echo)
	for part := text; len(part) > 0; {
		n := min(37, len(part))
		_, err := c.Write(part[:n])
		require.NoError(t, err)
		part = part[n:]
		time.Sleep(time.Millisecond)
	}
	got := make([]byte, len(text))
	_, err := io.ReadFull(r, got)
	require.NoError(t, err)
	assert.Equal(t, text, got)

	c, r = tunnelTo(t, addr, "echo.test:"+echo)
	long := append(bytes.Clone(text), bytes.Repeat([]byte("x"), 100_000)...)
	go func() { _, _ = c.Write(long) }()
	got = make([]byte, len(long))
	_, err = io.ReadFull(r, got)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(long, got))
}

// echoServer sends back what it gets, end included.
func echoServer(t testing.TB) (port string) {
	return tcpServer(t, func(c net.Conn) {
		_, _ = io.Copy(c, c)
		closeWrite(c)
	})
}

// tcpServer serves connections with a function; the port is returned.
func tcpServer(t testing.TB, serve func(net.Conn)) (port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// The context that Decide gets ends with the proxy, so that a question to a
// person does not outlive the command.
func TestCloseEndsQuestion(t *testing.T) {
	asked := make(chan struct{})
	policy := &Policy{Ask: func(ctx context.Context, _ Request) Decision {
		close(asked)
		<-ctx.Done()
		return Decision{}
	}}
	p := &Proxy{Decide: policy.Decide, Resolver: names{}}
	addr := testProxy(t, p)
	c, _ := open(t, addr)
	_, err := io.WriteString(c, connectText("example.test:443"))
	require.NoError(t, err)
	<-asked
	require.NoError(t, p.Close())
}

// serverNameByGo is the name that Go's server reads from a hello.
func serverNameByGo(raw []byte) (string, bool) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	_ = theirs.SetDeadline(time.Now().Add(time.Second))
	go func() {
		_, _ = ours.Write(raw)
		_, _ = io.Copy(io.Discard, ours)
	}()
	name, ok := "", false
	stop := errors.New("stop")
	_ = tls.Server(theirs, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, ok = h.ServerName, true
		return nil, stop
	}}).Handshake()
	return name, ok
}
