package netguard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	go func(c net.Conn) { _, _ = io.Copy(c, &pattern{n: 100_000_000}) }(c)
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
