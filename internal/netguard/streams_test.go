package netguard

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// streamTo opens a tunnel to a TCP server and sends a ClientHello, which the
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
