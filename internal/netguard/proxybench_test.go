package netguard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// bareRelay is what the proxy is measured against: accept, dial, copy.
func bareRelay(b *testing.B, to string) string {
	return "127.0.0.1:" + tcpServer(b, func(c net.Conn) {
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer up.Close()
		go func() {
			_, _ = io.Copy(up, c)
			closeWrite(up)
		}()
		_, _ = io.Copy(c, up)
		closeWrite(c)
	})
}

// ways are the roads to a server: the relay, and the proxy with each of its
// protocols. Each returns an open stream.
func ways(b *testing.B, port string) map[string]func() (net.Conn, *bufio.Reader, error) {
	relayAddr := bareRelay(b, "127.0.0.1:"+port)
	policy := &Policy{List: listOf(b, "a.test", "*.b.test")}
	proxyAddr := testProxy(b, &Proxy{Decide: policy.Decide, Dialer: portDialer{"127.0.0.1:" + port}})
	hello := withExtensions(nameList("\x00a.test"))
	start := func(addr, text string, answer func(*bufio.Reader) error) (net.Conn, *bufio.Reader, error) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, nil, err
		}
		r := bufio.NewReader(c)
		if text != "" {
			if _, err := io.WriteString(c, text); err != nil {
				return nil, nil, err
			}
			if err := answer(r); err != nil {
				return nil, nil, err
			}
		}
		_, err = c.Write(hello)
		return c, r, err
	}
	return map[string]func() (net.Conn, *bufio.Reader, error){
		"relay": func() (net.Conn, *bufio.Reader, error) { return start(relayAddr, "", nil) },
		"connect": func() (net.Conn, *bufio.Reader, error) {
			return start(proxyAddr, connectText("a.test:443"), func(r *bufio.Reader) error {
				resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
				if err == nil && resp.StatusCode != 200 {
					err = fmt.Errorf("%s", resp.Status)
				}
				return err
			})
		},
		"socks5": func() (net.Conn, *bufio.Reader, error) {
			return start(proxyAddr, "\x05\x01\x00\x05\x01\x00\x03\x06a.test\x01\xbb", func(r *bufio.Reader) error {
				_, err := io.ReadFull(r, make([]byte, 12))
				return err
			})
		},
	}
}

// BenchmarkProxyConnections opens a tunnel and gets one answer through it.
func BenchmarkProxyConnections(b *testing.B) {
	port := tcpServer(b, func(c net.Conn) {
		skipHello(c)
		_, _ = io.WriteString(c, "x")
	})
	roads := ways(b, port)
	for _, name := range []string{"relay", "connect", "socks5"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, r, err := roads[name]()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.ReadByte(); err != nil {
					b.Fatal(err)
				}
				c.Close()
			}
		})
	}
}

// BenchmarkProxyThroughput downloads 16 MiB through an open tunnel.
func BenchmarkProxyThroughput(b *testing.B) {
	const size = 16 << 20
	block := make([]byte, 256<<10)
	port := tcpServer(b, func(c net.Conn) {
		skipHello(c)
		one := make([]byte, 1)
		for {
			if _, err := c.Read(one); err != nil {
				return
			}
			for n := 0; n < size; n += len(block) {
				if _, err := c.Write(block); err != nil {
					return
				}
			}
		}
	})
	roads := ways(b, port)
	for _, name := range []string{"relay", "connect", "socks5"} {
		b.Run(name, func(b *testing.B) {
			c, r, err := roads[name]()
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			buf := make([]byte, 256<<10)
			b.SetBytes(size)
			for b.Loop() {
				if _, err := c.Write([]byte{1}); err != nil {
					b.Fatal(err)
				}
				for left := size; left > 0; {
					n, err := r.Read(buf[:min(left, len(buf))])
					if err != nil {
						b.Fatal(err)
					}
					left -= n
				}
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	policy := &Policy{List: listOf(b, "a.test", "*.b.test")}
	r := request("x.y.b.test", 443)
	b.ReportAllocs()
	for b.Loop() {
		if !policy.Decide(b.Context(), r).Allowed {
			b.Fatal("denied")
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	c := &PresetCache{User: userHome(b, map[string]string{".npmrc": "registry=https://npm.corp.test\n"})}
	entries := []string{"npm", "go", "pypi", "maven", "cargo", "github"}
	for b.Loop() {
		if _, err := c.Resolve(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
}
