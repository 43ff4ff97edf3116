package netguard

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allowed is a policy with a short list, and a proxy whose every connection ends
// at one server.
func allowed(t *testing.T, upstream *web) (*Proxy, string) {
	policy := &Policy{List: listOf(t, "allowed.test", "*.ok.test")}
	p := &Proxy{Decide: policy.Decide, Dialer: portDialer{upstream.Listener.Addr().String()}, Resolver: names{"allowed.test": {"127.0.0.1"}, "a.ok.test": {"93.184.215.14"}}}
	return p, testProxy(t, p)
}

func connectText(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

// Ways to reach what is not on the list. None of them gets a byte to a server.
func TestBypassRequests(t *testing.T) {
	upstream := newWeb(t, false, hello)
	p, addr := allowed(t, upstream)
	get := func(target, headers string) string { return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n" }
	table := map[string]string{
		"another host":            connectText("evil.test:443"),
		"IPv4":                    connectText("93.184.215.14:443"),
		"IPv4 short":              connectText("127.1:443"),
		"IPv4 decimal":            connectText("2130706433:443"),
		"IPv4 octal":              connectText("0177.0.0.1:443"),
		"IPv4 hex":                connectText("0x7f000001:443"),
		"IPv4 hex parts":          connectText("0x7f.0.0.0x1:443"),
		"IPv4 trailing dot":       connectText("127.0.0.1.:443"),
		"IPv6":                    connectText("[::1]:443"),
		"IPv6 mapped":             connectText("[::ffff:127.0.0.1]:443"),
		"IPv6 NAT64":              connectText("[64:ff9b::7f00:1]:443"),
		"IPv6 zone":               connectText("[fe80::1%25eth0]:443"),
		"IPv6 without brackets":   connectText("::1:443"),
		"IPv4 in a URL":           get("http://127.0.0.1/", "Host: 127.0.0.1\r\n"),
		"IPv4 decimal in a URL":   get("http://2130706433/", "Host: 2130706433\r\n"),
		"IPv6 in a URL":           get("http://[::1]/", "Host: [::1]\r\n"),
		"full-width digits":       connectText("１２７.0.0.1:443"),
		"user in CONNECT":         connectText("allowed.test@evil.test:443"),
		"user in CONNECT, turned": connectText("evil.test@allowed.test:443"),
		"user in a URL":           get("http://allowed.test@evil.test/", "Host: evil.test\r\n"),
		"user and password":       get("http://u:p@allowed.test/", "Host: allowed.test\r\n"),
		"user, encoded":           get("http://allowed.test%40evil.test/", "Host: allowed.test\r\n"),
		"backslash":               get(`http://evil.test\@allowed.test/`, "Host: allowed.test\r\n"),
		"fragment trick":          get("http://evil.test#@allowed.test/", "Host: allowed.test\r\n"),
		"two trailing dots":       connectText("allowed.test..:443"),
		"homograph, raw":          connectText("аllowed.test:443"),
		"homograph, encoded":      connectText("xn--llowed-6qf.test:443"),
		"NUL":                     connectText("evil.test\x00.allowed.test:443"),
		"NUL at the end":          connectText("allowed.test\x00:443"),
		"CR":                      connectText("allowed.test\r.evil.test:443"),
		"LF":                      connectText("allowed.test\n.evil.test:443"),
		"percent NUL":             connectText("evil.test%00.ok.test:443"),
		"percent dot":             connectText("evil%2etest:443"),
		"tab":                     connectText("allowed.test\t:443"),
		"suffix without a dot":    connectText("evilallowed.test:443"),
		"suffix of a wildcard":    connectText("evilok.test:443"),
		"wildcard's own name":     connectText("ok.test:443"),
		"name as prefix":          connectText("allowed.test.evil.test:443"),
		"wildcard, empty part":    connectText(".ok.test:443"),
		"subdomain of an exact":   connectText("a.allowed.test:443"),
		"mail port":               connectText("allowed.test:25"),
		"ssh port":                connectText("allowed.test:22"),
		"port 0":                  connectText("allowed.test:0"),
		"port with a sign":        connectText("allowed.test:+443"),
		"port with zeros":         connectText("allowed.test:000000443"),
		"port too large":          connectText("allowed.test:65979"),
		"no port":                 connectText("allowed.test"),
		"port in a URL":           get("http://allowed.test:8080/", "Host: allowed.test:8080\r\n"),
		"another scheme":          get("ftp://allowed.test/", "Host: allowed.test\r\n"),
		"https without a tunnel":  get("https://allowed.test/", "Host: allowed.test\r\n"),
		"origin-form":             get("/", "Host: allowed.test\r\n"),
		"another Host":            get("http://allowed.test/", "Host: evil.test\r\n"),
		"another port in Host":    get("http://allowed.test/", "Host: allowed.test:8080\r\n"),
		"two Hosts":               get("http://allowed.test/", "Host: allowed.test\r\nHost: evil.test\r\n"),
		"two Hosts, turned":       get("http://allowed.test/", "Host: evil.test\r\nHost: allowed.test\r\n"),
		"Host that maps to it":    get("http://allowed.test/", "Host: \uff41llowed.test\r\n"),
		"name that maps to it":    connectText("\uff41llowed.test:443"),
		"no Host":                 get("http://allowed.test/", ""),
		"Host with a blank":       get("http://allowed.test/", "Host : evil.test\r\n"),
		"folded Host":             get("http://allowed.test/", "Host: allowed.test\r\n evil.test\r\n"),
		"another Host in CONNECT": "CONNECT allowed.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
		"CONNECT with a body":     "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\nContent-Length: 5\r\n\r\nhello",
		"CONNECT with a URL":      connectText("http://allowed.test:443"),
		"CONNECT with a path":     connectText("allowed.test:443/"),
		"two lengths":             "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
		"length and chunked":      "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"odd coding":              "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"signed length":           "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: +1\r\n\r\nx",
		"bare LF":                 "GET http://allowed.test/ HTTP/1.1\nHost: allowed.test\n\n",
		"bare CR in a header":     get("http://allowed.test/", "Host: allowed.test\r\nX: a\rHost: evil.test\r\n"),
		"HTTP/2 without TLS":      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"HTTP/0.9":                "GET http://allowed.test/\r\n\r\n",
		"two blanks":              "GET  http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"the proxy itself":        connectText("localhost:3128"),
	}
	for name, text := range table {
		t.Run(name, func(t *testing.T) {
			before := blockCount(p)
			status, line, _ := say(t, addr, text)
			assert.GreaterOrEqual(t, status, 400, line)
			assert.Zero(t, upstream.hits.Load())
			assert.Equal(t, before+1, blockCount(p), "not reported")
		})
	}
	// The way itself works, so the table says something.
	for _, text := range []string{
		get("http://allowed.test/", "Host: allowed.test\r\n"), get("http://ALLOWED.test:80/", "Host: Allowed.Test\r\n"),
		get("http://allowed.test./", "Host: allowed.test\r\n"),
		get("http://a.ok.test/", "Host: a.ok.test:80\r\n"), connectText("Allowed.Test.:443"), connectText("a.ok.test:443"),
	} {
		status, line, _ := say(t, addr, text)
		assert.Equal(t, 200, status, "%s: %s", text, line)
	}
	for _, b := range p.Blocks() {
		assert.NotContains(t, b.String(), "\x00")
		assert.NotContains(t, b.String(), "\n")
	}
}

// blockCount is the number of all refusals.
func blockCount(p *Proxy) int {
	n := 0
	for _, b := range p.Blocks() {
		n += b.Count
	}
	return n
}

// SOCKS5 has the same doors.
func TestBypassSocks(t *testing.T) {
	upstream := newWeb(t, false, hello)
	p, addr := allowed(t, upstream)
	name := func(host string, port int) string {
		return "\x05\x01\x00\x03" + string(rune(len(host))) + host + string([]byte{byte(port >> 8), byte(port)})
	}
	table := map[string]struct {
		request string
		code    byte
	}{
		"allowed":           {name("allowed.test", 80), socksOK},
		"case and dot":      {name("Allowed.TEST.", 443), socksOK},
		"another host":      {name("evil.test", 443), socksNotAllowed},
		"another port":      {name("allowed.test", 25), socksNotAllowed},
		"port 0":            {name("allowed.test", 0), socksNotAllowed},
		"address as a name": {name("127.0.0.1", 443), socksNotAllowed},
		"decimal":           {name("2130706433", 443), socksNotAllowed},
		"IPv6 as a name":    {name("::1", 443), socksNotAllowed},
		"NUL":               {name("evil.test\x00.ok.test", 443), socksNotAllowed},
		"CR":                {name("a.ok.test\r", 443), socksNotAllowed},
		"not ASCII":         {name("\xd0\xb0.ok.test", 443), socksNotAllowed},
		"maps to it":        {"\x05\x01\x00\x03\x0e\uff41llowed.test\x01\xbb", socksNotAllowed},
		"blank":             {name("allowed.test ", 443), socksNotAllowed},
		"empty":             {name("", 443), socksNotAllowed},
		"IPv4":              {"\x05\x01\x00\x01\x5d\xb8\xd7\x0e\x01\xbb", socksNotAllowed},
		"IPv6":              {"\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x01\xbb", socksNotAllowed},
		"bind":              {"\x05\x02\x00\x03\x0callowed.test\x01\xbb", socksBadCommand},
		"UDP":               {"\x05\x03\x00\x03\x0callowed.test\x01\xbb", socksBadCommand},
		"another kind":      {"\x05\x01\x00\x02\x01\xbb", socksBadAddress},
		"reserved":          {"\x05\x01\x01\x03\x0callowed.test\x01\xbb", socksBadAddress},
		"another version":   {"\x04\x01\x00\x03\x0callowed.test\x01\xbb", socksBadAddress},
		"no address":        {name("gone.invalid", 443), socksNotAllowed},
	}
	for label, row := range table {
		t.Run(label, func(t *testing.T) {
			c, r := open(t, addr)
			_, err := io.WriteString(c, "\x05\x02\x00\x02"+row.request)
			require.NoError(t, err)
			reply := make([]byte, 12)
			_, err = io.ReadFull(r, reply)
			require.NoError(t, err)
			assert.Equal(t, []byte{5, 0, 5, row.code}, reply[:4])
			assert.Zero(t, upstream.hits.Load())
		})
	}
	assert.NotEmpty(t, p.Report())
}

// SOCKS4 and other protocols are no request.
func TestOtherProtocols(t *testing.T) {
	upstream := newWeb(t, false, hello)
	_, addr := allowed(t, upstream)
	for _, text := range []string{"\x04\x01\x01\xbb\x00\x00\x00\x01\x00allowed.test\x00", "SSH-2.0-x\r\n\r\n", "\x16\x03\x01\x00\x05hello\r\n\r\n", "\r\n\r\n", "\x05\x00", "EHLO x\r\n"} {
		c, r := open(t, addr)
		_, err := io.WriteString(c, text)
		require.NoError(t, err)
		closeWrite(c)
		answer, _ := io.ReadAll(r)
		assert.NotContains(t, string(answer), " 200 ", "%q", text)
		assert.Zero(t, upstream.hits.Load())
	}
}

// What a client says about proxies, and who it claims to be, goes no further.
func TestHeadersEndHere(t *testing.T) {
	got := make(chan http.Header, 1)
	upstream := newWeb(t, false, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.Header().Set("Keep-Alive", "5")
		w.Header().Set("X-Kept", "yes")
	})
	_, addr := allowed(t, upstream)
	c, r := open(t, addr)
	fmt.Fprint(c, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n"+
		"Proxy-X: 1\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\nVia: 1.1 other\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\n"+
		"Upgrade: websocket\r\nTE: trailers\r\nAccept: */*\r\nX-Kept: yes\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, http.Header{"Accept": {"*/*"}, "X-Kept": {"yes"}, "Connection": {"close"}}, <-got)
	assert.Empty(t, resp.Header.Get("Proxy-Authenticate"))
	assert.Empty(t, resp.Header.Get("Keep-Alive"))
	assert.Equal(t, "yes", resp.Header.Get("X-Kept"))
}

// A tunnel that carries plain HTTP is for its own host only, request by request.
func TestTunnelledHTTP(t *testing.T) {
	upstream := newWeb(t, false, hello)
	p, addr := allowed(t, upstream)
	bad := map[string]string{
		"nested CONNECT":   "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"nested CONNECT 2": connectText("evil.test:443"),
		"another Host":     "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"absolute-form":    "GET http://evil.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"no Host":          "GET / HTTP/1.0\r\n\r\n",
		"HTTP/2":           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"leading CRLF":     "\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"SSH":              "SSH-2.0-OpenSSH\r\n",
		"SOCKS5":           "\x05\x01\x00\x05\x01\x00\x03\x09evil.test\x01\xbb",
	}
	for name, text := range bad {
		t.Run(name, func(t *testing.T) {
			c, r := tunnelTo(t, addr, "allowed.test:80")
			_, err := io.WriteString(c, text)
			require.NoError(t, err)
			closeWrite(c)
			answer, _ := io.ReadAll(r)
			assert.NotContains(t, string(answer), " 200 ")
			assert.Zero(t, upstream.hits.Load())
		})
	}
	c, r := tunnelTo(t, addr, "allowed.test:80")
	for i, want := range []int{200, 200, 403} {
		host := "allowed.test"
		if i == 2 {
			host = "evil.test"
		}
		fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n", i, host)
		resp, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.Equal(t, want, resp.StatusCode)
	}
	assert.EqualValues(t, 2, upstream.hits.Load())
	assert.Contains(t, strings.Join(p.Report(), "\n"), "a tunnel inside a tunnel")
}

// A name whose addresses are not all public is refused, and a list of an exact
// name opens the networks that people run, nothing else.
func TestAddresses(t *testing.T) {
	upstream := newWeb(t, false, hello)
	resolver := names{
		"public.test": {"93.184.215.14"}, "public6.test": {"2606:2800:21f:cb07:6820:80da:af6b:8b2c"},
		"loopback.test": {"127.0.0.1"}, "loopback6.test": {"::1"}, "private.test": {"10.0.0.5"}, "ula.test": {"fd00::1"}, "cgnat.test": {"100.64.0.1"},
		"metadata.test": {"169.254.169.254"}, "link6.test": {"fe80::1"}, "azure.test": {"168.63.129.16"}, "zero.test": {"0.0.0.0"}, "multicast.test": {"224.0.0.1"}, "broadcast.test": {"255.255.255.255"},
		"mixed.test": {"93.184.215.14", "127.0.0.1"}, "mixedlink.test": {"10.0.0.1", "169.254.169.254"}, "mapped.test": {"::ffff:127.0.0.1"}, "nat64.test": {"64:ff9b::a9fe:a9fe"}, "empty.test": {},
	}
	for host, want := range map[string][2]bool{ // as a public name, as a name that the user wrote down
		"public": {true, true}, "public6": {true, true}, "loopback": {false, true}, "loopback6": {false, true}, "private": {false, true}, "ula": {false, true}, "cgnat": {false, true},
		"metadata": {false, false}, "link6": {false, false}, "azure": {false, false}, "zero": {false, false}, "multicast": {false, false}, "broadcast": {false, false},
		"mixed": {false, true}, "mixedlink": {false, false}, "mapped": {false, true}, "nat64": {false, false}, "empty": {false, false},
	} {
		for i, nonPublic := range []bool{false, true} {
			t.Run(fmt.Sprint(host, nonPublic), func(t *testing.T) {
				p := &Proxy{Resolver: resolver, Dialer: portDialer{upstream.Listener.Addr().String()}, Decide: func(context.Context, Request) Decision { return Decision{Allowed: true, NonPublic: nonPublic} }}
				addr := testProxy(t, p)
				status, line, _ := say(t, addr, "GET http://"+host+".test/ HTTP/1.1\r\nHost: "+host+".test\r\n\r\n")
				assert.Equal(t, want[i], status == 200, line)
				if !want[i] && host != "empty" {
					assert.Contains(t, line, "does not resolve to public addresses only")
				}
			})
		}
	}
}

// swinging answers differently each time: the address that was checked is the
// one that is dialled, so the second answer is never used.
type swinging struct{ lookups atomic.Int64 }

func TestRebinding(t *testing.T) {
	upstream := newWeb(t, false, hello)
	var resolver swinging
	var dialled []string
	p := &Proxy{Decide: func(context.Context, Request) Decision { return Decision{Allowed: true} }, Resolver: &resolver, Dialer: recorder{portDialer{upstream.Listener.Addr().String()}, &dialled}}
	addr := testProxy(t, p)
	status, _, _ := say(t, addr, connectText("swing.test:443"))
	assert.Equal(t, 200, status)
	status, line, _ := say(t, addr, connectText("swing.test:443"))
	assert.Equal(t, 403, status, line)
	assert.EqualValues(t, 2, resolver.lookups.Load())
	assert.Equal(t, []string{"93.184.215.14:443"}, dialled)
}

// The credentials of a proxy on a shared loopback.
func TestCredentials(t *testing.T) {
	upstream := newWeb(t, false, hello)
	p := &Proxy{Decide: allowAll, Credentials: "run:secret"}
	addr := testProxy(t, p)
	target := "allowed.test:" + upstream.port
	auth := func(s string) string {
		return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nProxy-Authorization: " + s + "\r\n\r\n"
	}
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for text, want := range map[string]int{
		connectText(target): 407, auth(basic("run:wrong")): 407, auth("Basic !"): 407, auth("Bearer run:secret"): 407, auth(basic("")): 407, auth(basic("run:secret")): 200,
	} {
		status, _, _ := say(t, addr, text)
		assert.Equal(t, want, status, text)
	}
	for text, want := range map[string]string{
		"\x05\x01\x00":                       "\x05\xff",
		"\x05\x01\x02\x01\x03run\x05wrong":   "\x05\x02\x01\x01",
		"\x05\x01\x02\x01\x03run\x06secret":  "\x05\x02\x01\x00",
		"\x05\x02\x00\x02\x02\x03run\x01x\n": "\x05\x02",
	} {
		c, r := open(t, addr)
		fmt.Fprint(c, text)
		closeWrite(c)
		got, _ := io.ReadAll(r)
		assert.Equal(t, want, string(got))
	}
	resp, err := upstream.client(t, "http://run:secret@"+addr).Get("http://" + target)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
}
