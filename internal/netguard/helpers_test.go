package netguard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names resolves what it holds; *.test is loopback unless it says otherwise.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	texts, ok := n[host]
	if !ok && strings.HasSuffix(host, ".test") {
		texts, ok = []string{"127.0.0.1"}, true
	}
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, s := range texts {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// allowAll lets everything through, loopback too.
func allowAll(context.Context, Request) Decision {
	return Decision{Allowed: true, NonPublic: true}
}

// testProxy runs a proxy for a test and returns its address. At the end nothing
// of it may be left.
func testProxy(t testing.TB, p *Proxy) string {
	t.Helper()
	if p.Resolver == nil {
		p.Resolver = names{}
	}
	before := runtime.NumGoroutine()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		require.NoError(t, <-served)
		require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, 10*time.Second, 20*time.Millisecond, "goroutines are left")
		assert.Empty(t, p.conns, "connections are left")
	})
	return l.Addr().String()
}

// open dials the proxy.
func open(t testing.TB, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c, bufio.NewReader(c)
}

// say sends a request as it is and returns the status and the body, status 0 if
// the proxy closed without an answer.
func say(t testing.TB, addr, text string) (int, string, string) {
	t.Helper()
	c, r := open(t, addr)
	defer c.Close()
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, "", ""
	}
	defer resp.Body.Close()
	if strings.HasPrefix(text, "CONNECT") && resp.StatusCode == 200 {
		return 200, resp.Status, ""
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Status, string(body)
}

// tunnelTo opens a tunnel with CONNECT.
func tunnelTo(t testing.TB, addr, target string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, r := open(t, addr)
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, resp.Status)
	return c, r
}

// web is a server on loopback that counts what reaches it.
type web struct {
	*httptest.Server
	hits atomic.Int64
	port string
}

func newWeb(t testing.TB, tls bool, handler http.HandlerFunc) *web {
	w := &web{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.hits.Add(1)
		handler(rw, r)
	}))
	w.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		w.EnableHTTP2 = true
		w.StartTLS()
	} else {
		w.Start()
	}
	t.Cleanup(w.Close)
	_, w.port, _ = net.SplitHostPort(w.Listener.Addr().String())
	return w
}

// client is an HTTP client behind the proxy. It trusts w's certificate, which is
// for example.com.
func (w *web) client(t testing.TB, proxyURL string) *http.Client {
	u, err := url.Parse(proxyURL)
	require.NoError(t, err)
	tr := &http.Transport{Proxy: http.ProxyURL(u), ForceAttemptHTTP2: true}
	if w.TLS != nil {
		tr.TLSClientConfig = w.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 30 * time.Second}
}

func hello(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.URL) }

// portDialer sends every connection to one server, whatever the port: tests have
// no server at port 443.
type portDialer struct{ addr string }

func (d portDialer) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, d.addr)
}

// recorder remembers what is dialled.
type recorder struct {
	portDialer
	list *[]string
}

func (r recorder) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	*r.list = append(*r.list, address)
	return r.portDialer.DialContext(ctx, network, address)
}

func (s *swinging) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if s.lookups.Add(1) == 1 {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}
