package netguard

import (
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
