package netguard

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDialing(t *testing.T) {
	six, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	upstream := &http.Server{Handler: http.HandlerFunc(hello)}
	go func() { _ = upstream.Serve(six) }()
	t.Cleanup(func() { upstream.Close() })
	_, port, _ := net.SplitHostPort(six.Addr().String())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, deadPort, _ := net.SplitHostPort(closed.Addr().String())
	closed.Close()

	addr := testProxy(t, &Proxy{Decide: allowAll, Resolver: names{
		"six.test": {"::1"}, "second.test": {"127.0.0.1", "::1"}, "dead.test": {"127.0.0.1"},
	}})
	for host, want := range map[string]int{
		"six.test:" + port: 200, "second.test:" + port: 200, "dead.test:" + deadPort: 502, "unknown.invalid:" + port: 502,
	} {
		status, line, body := say(t, addr, "GET http://"+host+"/x HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		assert.Equal(t, want, status, "%s %s", host, line)
		if want == 200 {
			assert.Equal(t, "hello /x", body)
		}
		status, _, _ = say(t, addr, connectText(host))
		assert.Equal(t, want, status)
	}
}

// stuck never answers.
type stuck struct{}

func (stuck) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDialTimeout(t *testing.T) {
	for name, p := range map[string]*Proxy{
		"lookup": {Resolver: stuck{}}, "connect": {Dialer: stuck{}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Decide, p.Limits = allowAll, Limits{Dial: 200 * time.Millisecond}
			addr := testProxy(t, p)
			status, _, _ := say(t, addr, connectText("a.test:443"))
			assert.Equal(t, 502, status)
		})
	}
}

// failing is a listener whose Accept fails.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	err := f.errs[0]
	f.errs = f.errs[1:]
	return nil, err
}

type soon struct{ error }

func (soon) Temporary() bool { return true }

func TestServeErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{}
	broken := errors.New("broken")
	require.ErrorIs(t, p.Serve(&failing{l, []error{soon{io.EOF}, soon{io.EOF}, broken}}), broken)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	l, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, p.Serve(l), "a closed proxy serves nothing")
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)

	// Nobody decides: everything is refused, and nobody is called.
	addr := testProxy(t, &Proxy{})
	status, line, _ := say(t, addr, connectText("a.test:443"))
	assert.Equal(t, 403, status)
	assert.Contains(t, line, "a.test:443 (not on the list)")
}

// Close ends streams in the middle.
func TestCloseInTheMiddle(t *testing.T) {
	port := tcpServer(t, func(c net.Conn) {
		skipHello(c)
		_, _ = io.Copy(c, &pattern{n: 1 << 40})
	})
	p := &Proxy{Decide: allowAll}
	addr := testProxy(t, p)
	_, r := streamTo(t, addr, "a.test", port)
	_, err := io.CopyN(io.Discard, r, 10<<20)
	require.NoError(t, err)
	idle, _ := open(t, addr)
	begin := time.Now()
	require.NoError(t, p.Close())
	assert.Less(t, time.Since(begin), 5*time.Second)
	_, err = io.Copy(io.Discard, r)
	_ = err // the end or a reset, both end it
	_, err = idle.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestOnAllowAndOnBlock(t *testing.T) {
	upstream := newWeb(t, true, hello)
	var mu sync.Mutex
	var seen []string
	log := func(s string) { mu.Lock(); seen = append(seen, s); mu.Unlock() }
	p := &Proxy{
		Decide: func(_ context.Context, r Request) Decision {
			log("decide " + string(r.Via) + " " + r.TargetURL())
			return Decision{Allowed: r.Host.Host == "example.com", NonPublic: true, By: "x", Reason: "never", Rule: "network(y)"}
		},
		OnAllow:  func(r Request, d Decision) { log("allow " + r.Target() + " " + d.By) },
		OnBlock:  func(b Block) { log(b.String() + " " + b.By + " " + b.Rule) },
		Resolver: names{"example.com": {"127.0.0.1"}}, Dialer: portDialer{upstream.Listener.Addr().String()},
	}
	addr := testProxy(t, p)
	c, _ := tunnelTo(t, addr, "example.com:443")
	tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: "example.com"})
	require.NoError(t, tc.Handshake())
	tc.Close()
	say(t, addr, connectText("other.test:443"))
	say(t, addr, connectText("other.test:80"))
	say(t, addr, "GET http://other.test/a?b HTTP/1.1\r\nHost: other.test\r\n\r\n")
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{
		"decide connect https://example.com/", "allow example.com:443 x",
		"decide connect https://other.test/", "blocked: other.test:443 (never) x network(y)",
		"decide connect http://other.test/", "blocked: other.test:80 (never) x network(y)",
		"decide http http://other.test/a?b", "blocked: other.test:80 (never) x network(y)",
	}, seen)
	assert.Equal(t, "blocked: other.test:80 (never) (2 times)", p.Report()[1])
	assert.True(t, bytes.Contains([]byte(p.Blocks()[0].Target()), []byte("443")))
}
