package netguard

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// helloThen opens a tunnel to a TCP server and sends a ClientHello, which the
// server skips: what follows is an opaque stream, as inside TLS.
func streamTo(t testing.TB, addr, host, port string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, r := tunnelTo(t, addr, host+":"+port)
	_, err := c.Write(withExtensions(nameList("\x00" + host)))
	require.NoError(t, err)
	return c, r
}

// skipHello reads what streamTo sends first.
func skipHello(c net.Conn) {
	_, _, _ = readHello(bufio.NewReaderSize(c, 16), 64<<10)
}

// pattern is a stream of n bytes that is different at every place.
type pattern struct{ pos, n int64 }

func (p *pattern) Read(b []byte) (int, error) {
	if p.pos >= p.n {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), p.n-p.pos))
	for i := range n {
		v := p.pos + int64(i)
		b[i] = byte(v ^ v>>8 ^ v>>16)
	}
	p.pos += int64(n)
	return n, nil
}

func sumOf(n int64) string {
	h := sha256.New()
	_, _ = io.Copy(h, &pattern{n: n})
	return hexSum(h)
}

func hexSum(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)) }

const large = 32 << 20

func TestLargeStreamsAndHTTPVersions(t *testing.T) {
	sum := sumOf(large)
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		if r.Method == http.MethodPost {
			h := sha256.New()
			_, _ = io.Copy(h, r.Body)
			fmt.Fprint(w, hexSum(h))
			return
		}
		_, _ = io.Copy(w, &pattern{n: large})
	}
	plain, secure := newWeb(t, false, handler), newWeb(t, true, handler)
	addr := testProxy(t, &Proxy{Decide: allowAll, Resolver: names{"example.com": {"127.0.0.1"}}})
	for _, scheme := range []string{"http", "socks5"} {
		for _, row := range []struct {
			name, url, proto string
			client           *http.Client
		}{
			{"plain", "http://plain.test:" + plain.port + "/", "HTTP/1.1", plain.client(t, scheme+"://"+addr)},
			{"TLS", "https://example.com:" + secure.port + "/", "HTTP/2.0", secure.client(t, scheme+"://"+addr)},
		} {
			t.Run(scheme+" "+row.name, func(t *testing.T) {
				resp, err := row.client.Get(row.url)
				require.NoError(t, err)
				h := sha256.New()
				n, err := io.Copy(h, resp.Body)
				resp.Body.Close()
				require.NoError(t, err)
				assert.EqualValues(t, large, n)
				assert.Equal(t, sum, hexSum(h))
				assert.Equal(t, row.proto, resp.Header.Get("X-Proto"))
				for _, length := range []int64{large, -1} {
					req, err := http.NewRequest(http.MethodPost, row.url, &pattern{n: large})
					require.NoError(t, err)
					req.ContentLength = length
					req.Header.Set("Expect", "100-continue")
					resp, err = row.client.Do(req)
					require.NoError(t, err)
					body, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					require.NoError(t, err)
					assert.Equal(t, sum, string(body), "length %d", length)
				}
			})
		}
	}
}

// Each side may end its half first; the other one goes on.
func TestHalfClose(t *testing.T) {
	got := make(chan string, 1)
	port := tcpServer(t, func(c net.Conn) {
		skipHello(c)
		fmt.Fprint(c, "first")
		text, _ := io.ReadAll(c) // until the client's end
		got <- string(text)
		fmt.Fprint(c, " last")
	})
	serverFirst := tcpServer(t, func(c net.Conn) {
		skipHello(c)
		fmt.Fprint(c, "only")
		closeWrite(c)
		text, _ := io.ReadAll(c)
		got <- string(text)
	})
	addr := testProxy(t, &Proxy{Decide: allowAll})

	c, r := streamTo(t, addr, "a.test", port)
	fmt.Fprint(c, "question")
	closeWrite(c)
	assert.Equal(t, "question", <-got)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "first last", string(text))

	c, r = streamTo(t, addr, "b.test", serverFirst)
	text, err = io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "only", string(text))
	time.Sleep(50 * time.Millisecond)
	fmt.Fprint(c, "still here")
	closeWrite(c)
	assert.Equal(t, "still here", <-got)
}

func TestManyConnections(t *testing.T) {
	port := tcpServer(t, func(c net.Conn) {
		skipHello(c)
		_, _ = io.Copy(c, c)
	})
	addr := testProxy(t, &Proxy{Decide: allowAll})
	const n = 500
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	var failed atomic.Int64
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				failed.Add(1)
				ready.Done()
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			host := "h" + strconv.Itoa(i) + ".test"
			fmt.Fprintf(c, "CONNECT %s:%s HTTP/1.1\r\n\r\n", host, port)
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
			ok := err == nil && resp.StatusCode == 200
			_, _ = c.Write(withExtensions(nameList("\x00" + host)))
			ready.Done()
			<-release // all of them are open at once
			text := strings.Repeat(host, 1000)
			go func() { _, _ = io.WriteString(c, text) }()
			got := make([]byte, len(text))
			_, err = io.ReadFull(r, got)
			if !ok || err != nil || string(got) != text {
				failed.Add(1)
			}
		})
	}
	ready.Wait()
	close(release)
	done.Wait()
	assert.Zero(t, failed.Load())
}

// A client that sends a byte now and then does not hold a connection for longer
// than a handshake, wherever it stops.
func TestSlowLoris(t *testing.T) {
	echo := echoServer(t)
	p := &Proxy{Decide: allowAll, Limits: Limits{Handshake: 300 * time.Millisecond, KeepAlive: 300 * time.Millisecond}}
	addr := testProxy(t, p)
	target := "a.test:" + echo
	for name, start := range map[string]string{
		"nothing":       "",
		"request line":  "GET http://",
		"headers":       "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n",
		"socks":         "\x05",
		"socks request": "\x05\x01\x00\x05\x01",
		"tunnel":        connectText(target),
		"hello":         connectText(target) + "\x16\x03\x01\x01\x00\x01",
		"inner HTTP":    connectText(target) + "GET / HT",
	} {
		t.Run(name, func(t *testing.T) {
			c, r := open(t, addr)
			_, _ = io.WriteString(c, start)
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(50 * time.Millisecond):
						if start != "" && !strings.HasPrefix(name, "tunnel") {
							_, _ = c.Write([]byte("a"))
						}
					}
				}
			}()
			begin := time.Now()
			_, _ = io.Copy(io.Discard, r)
			assert.Less(t, time.Since(begin), 5*time.Second)
		})
	}
}

func TestIdle(t *testing.T) {
	port := tcpServer(t, func(c net.Conn) {
		skipHello(c)
		_, _ = io.Copy(c, c)
	})
	addr := testProxy(t, &Proxy{Decide: allowAll, Limits: Limits{Idle: 400 * time.Millisecond}})
	// A stream that moves stays, also if only one side speaks.
	c, r := streamTo(t, addr, "a.test", port)
	for range 10 {
		time.Sleep(100 * time.Millisecond)
		fmt.Fprint(c, "x")
		b, err := r.ReadByte()
		require.NoError(t, err)
		require.Equal(t, byte('x'), b)
	}
	begin := time.Now()
	_, err := r.ReadByte()
	require.Error(t, err)
	assert.Less(t, time.Since(begin), 3*time.Second)
	assert.Greater(t, time.Since(begin), 200*time.Millisecond)

	// A side that does not read stops the stream, and then it is idle.
	c, _ = streamTo(t, addr, "b.test", port)
	begin = time.Now()
	block := make([]byte, 1<<20)
	for err = nil; err == nil; {
		_, err = c.Write(block)
	}
	assert.Less(t, time.Since(begin), 10*time.Second)
}

func TestLimits(t *testing.T) {
	upstream := newWeb(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			w.Header().Set("X", strings.Repeat("x", 9000))
		}
		hello(w, r)
	})
	p := &Proxy{Decide: allowAll, Limits: Limits{Connections: 2, HeaderBytes: 8 << 10, Blocks: 3, Handshake: 2 * time.Second}}
	addr := testProxy(t, p)
	target := "http://a.test:" + upstream.port
	host := "\r\nHost: a.test:" + upstream.port + "\r\n"

	status, _, _ := say(t, addr, "GET "+target+"/ HTTP/1.1"+host+"X: "+strings.Repeat("x", 9000)+"\r\n\r\n")
	assert.Equal(t, 431, status)
	status, _, _ = say(t, addr, "GET "+target+"/ HTTP/1.1"+host+"X: "+strings.Repeat("x", 4000)+"\r\n\r\n")
	assert.Equal(t, 200, status)
	// A line that ends where the buffer does.
	for n := 3900; n < 4110; n++ {
		if n == 3950 {
			n = 4050
		}
		line := "GET " + target + "/ HTTP/1.1" + host + "X: "
		status, _, _ = say(t, addr, line+strings.Repeat("x", n-len(line))+"\r\n\r\n")
		assert.Equal(t, 200, status, n)
	}
	status, _, _ = say(t, addr, "GET "+target+"/big HTTP/1.1"+host+"\r\n")
	assert.Equal(t, 502, status)

	// The third connection waits for one of two to end.
	a, _ := open(t, addr)
	b, _ := open(t, addr)
	c, r := open(t, addr)
	fmt.Fprint(c, "GET "+target+"/ HTTP/1.1"+host+"\r\n")
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	_, err := r.Peek(1)
	require.Error(t, err, "served beyond the limit")
	a.Close()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err = r.Peek(1)
	require.NoError(t, err)
	b.Close()
	c.Close()

	for i := range 6 {
		say(t, addr, connectText(fmt.Sprintf("10.0.0.%d:443", i)))
		say(t, addr, connectText("10.0.0.1:443"))
	}
	report := p.Report()
	require.Len(t, report, 4)
	assert.Equal(t, "blocked: 10.0.0.1:443 (use a host name, not the address 10.0.0.1) (7 times)", report[1])
	assert.Equal(t, "blocked: 3 more requests", report[3])
}

// Plain HTTP, message by message on one connection.
func TestForwarding(t *testing.T) {
	upstream := newWeb(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(204)
		case "/same":
			w.Header().Set("Content-Length", "77")
			w.WriteHeader(304)
		case "/events":
			for i := range 3 {
				fmt.Fprintf(w, "event %d\n", i)
				w.(http.Flusher).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		case "/hints":
			w.WriteHeader(103)
			hello(w, r)
		case "/echo":
			_, _ = io.Copy(w, r.Body)
		case "/refuse":
			w.Header().Set("Connection", "close")
			w.WriteHeader(413)
		default:
			hello(w, r)
		}
	})
	addr := testProxy(t, &Proxy{Decide: allowAll})
	base := "http://a.test:" + upstream.port
	head := func(method, path, more string) string {
		return method + " " + base + path + " HTTP/1.1\r\nHost: a.test:" + upstream.port + "\r\n" + more + "\r\n"
	}
	c, r := open(t, addr)
	ask := func(method, text string) (*http.Response, string) {
		fmt.Fprint(c, text)
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		require.NoError(t, err, text)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(body)
	}
	for range 2 {
		_, body := ask("GET", head("GET", "/a/%2e/..%2fb/@s%2fp?q=1&r=%20", ""))
		assert.Equal(t, "hello /a/..%2fb/@s%2fp?q=1&r=%20", body)
		resp, _ := ask("HEAD", head("HEAD", "/", ""))
		assert.Equal(t, "7", resp.Header.Get("Content-Length"))
		resp, _ = ask("GET", head("GET", "/none", ""))
		assert.Equal(t, 204, resp.StatusCode)
		resp, _ = ask("GET", head("GET", "/same", ""))
		assert.Equal(t, 304, resp.StatusCode)
		_, body = ask("GET", head("GET", "/hints", ""))
		assert.Equal(t, "hello /hints", body)
		_, body = ask("POST", head("POST", "/echo", "Content-Length: 5\r\n")+"12345")
		assert.Equal(t, "12345", body)
		_, body = ask("POST", head("POST", "/echo", "Transfer-Encoding: chunked\r\n")+"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n")
		assert.Equal(t, "abcde", body)
	}
	// Two requests in one packet.
	fmt.Fprint(c, head("GET", "/1", "")+head("GET", "/2", ""))
	for _, want := range []string{"hello /1", "hello /2"} {
		resp, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		body, _ := io.ReadAll(resp.Body)
		assert.Equal(t, want, string(body))
	}
	// Lines come as they are sent.
	fmt.Fprint(c, head("GET", "/events", ""))
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	lines := bufio.NewReader(resp.Body)
	begin := time.Now()
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	assert.Less(t, time.Since(begin), 90*time.Millisecond)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	assert.Equal(t, "event 1\nevent 2\n", string(rest))
	// The server says no before it has the upload.
	fmt.Fprint(c, head("POST", "/refuse", "Content-Length: 100000000\r\n"))
	go func() { _, _ = io.Copy(c, &pattern{n: 100_000_000}) }()
	resp, err = http.ReadResponse(r, nil)
	require.NoError(t, err)
	assert.Equal(t, 413, resp.StatusCode)

	// HTTP/1.0 gets a body that ends with the connection.
	c, r = open(t, addr)
	fmt.Fprintf(c, "GET %s/events HTTP/1.0\r\n\r\n", base)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "chunked")
	assert.True(t, strings.HasSuffix(string(text), "\r\n\r\nevent 0\nevent 1\nevent 2\n"), string(text))
}

// Servers that break the rules.
func TestBadServers(t *testing.T) {
	addr := testProxy(t, &Proxy{Decide: allowAll})
	for name, row := range map[string]struct {
		answer string
		want   int
	}{
		"nothing":       {"", 502},
		"no HTTP":       {"SSH-2.0-x\r\n", 502},
		"switch":        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 502},
		"only interim":  {strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1000)+"\r\n\r\n", 100), 502},
		"two lengths":   {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 502},
		"until the end": {"HTTP/1.1 200 OK\r\n\r\nall of it", 200},
		"header in it":  {"HTTP/1.1 200 OK\r\nX: a\r\n\r\n", 200},
	} {
		t.Run(name, func(t *testing.T) {
			port := tcpServer(t, func(c net.Conn) {
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, row.answer)
			})
			status, _, _ := say(t, addr, "GET http://a.test:"+port+"/ HTTP/1.1\r\nHost: a.test:"+port+"\r\n\r\n")
			assert.Equal(t, row.want, status)
		})
	}
}

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
