package netguard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"
)

// idleConn moves its own deadline, and that of its partner, with every byte: a
// long upload keeps the connection that waits for the response alive.
type idleConn struct {
	net.Conn
	idle    time.Duration
	partner net.Conn
}

func (c *idleConn) touch() {
	t := time.Now().Add(c.idle)
	_ = c.Conn.SetDeadline(t)
	if c.partner != nil {
		_ = c.partner.SetDeadline(t)
	}
}

func (c *idleConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.touch()
	}
	return n, err
}

func (c *idleConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.touch()
	}
	return n, err
}

// uploadGrace is how long after a whole response the end of its upload is waited
// for.
const uploadGrace = time.Second

// forward passes a request on and the response back. It reports whether the
// client's connection can take another request.
//
// The connection to the server serves this one request: whatever the server
// takes for a second one, it is thrown away with the connection.
func (s *session) forward(h head, u URL, conn net.Conn) bool {
	idle := s.proxy.limits.Idle
	server := &idleConn{Conn: conn, idle: idle, partner: s.conn}
	client := &idleConn{Conn: s.conn, idle: idle, partner: conn}
	server.touch()

	keep := !wantsClose(h.header, h.minor)
	expects := h.minor == 1 && strings.EqualFold(h.header.Get("Expect"), "100-continue")
	if _, err := io.WriteString(server, outHead(h, u)); err != nil {
		s.answer(502, "Bad Gateway", "the server closed the connection")
		return false
	}
	uploaded := make(chan error, 1)
	if h.length == 0 {
		uploaded <- nil
	} else {
		if expects && !s.write("HTTP/1.1 100 Continue\r\n\r\n") {
			return false
		}
		go func() { uploaded <- s.upload(h, server) }()
	}
	complete := s.respond(h, server, client, keep)
	// The response to a whole body may be here before the upload has said that it
	// is done: only one that is still busy after a while was answered early.
	grace := time.NewTimer(uploadGrace)
	defer grace.Stop()
	select {
	case err := <-uploaded:
		if complete && keep && err == nil {
			return true
		}
		s.linger()
		return false
	case <-grace.C:
	}
	// The server has answered before it had everything: the rest of the upload has
	// nobody to go to, and what follows it cannot be found.
	conn.Close()
	closeWrite(s.conn)
	end := time.AfterFunc(time.Second, func() { s.conn.Close() })
	defer end.Stop()
	<-uploaded
	s.linger()
	return false
}

// outHead is the head of the request as the server gets it.
func outHead(h head, u URL) string {
	stripHop(h.header)
	for _, name := range relayed {
		delete(h.header, name)
	}
	var b strings.Builder
	path := u.Path
	if path == "" {
		path = "/"
	}
	if i := strings.IndexByte(u.Text, '?'); i >= 0 {
		path += u.Text[i:]
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", h.method, path, authorityText(u.Host, "http"))
	_ = h.header.Write(&b)
	if h.length < 0 {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("Connection: close\r\n\r\n")
	return b.String()
}

// upload copies the request's body. Trailers are not passed on.
func (s *session) upload(h head, server *idleConn) error {
	if h.length > 0 {
		_, err := io.CopyN(server, s.in, h.length)
		return err
	}
	out := &chunkWriter{to: server}
	if _, err := io.Copy(out, httputil.NewChunkedReader(s.in)); err != nil {
		return err
	}
	if err := out.end(); err != nil {
		return err
	}
	for left := s.proxy.limits.HeaderBytes; ; {
		line, err := s.in.ReadSlice('\n')
		if left -= len(line); err != nil || left < 0 {
			return errors.New("the trailer is too large")
		}
		if string(line) == "\r\n" {
			return nil
		}
	}
}

// chunkWriter writes each piece as one chunk, in one write.
type chunkWriter struct {
	to  io.Writer
	buf []byte
}

func (c *chunkWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.buf = append(strconv.AppendInt(c.buf[:0], int64(len(p)), 16), "\r\n"...)
	c.buf = append(append(c.buf, p...), "\r\n"...)
	if _, err := c.to.Write(c.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the last chunk.
func (c *chunkWriter) end() error {
	_, err := io.WriteString(c.to, "0\r\n\r\n")
	return err
}

// respond reads the response and writes it to the client; false if the client
// did not get all of it.
func (s *session) respond(h head, server, client *idleConn, keep bool) bool {
	limited := &io.LimitedReader{R: server}
	in := bufio.NewReader(limited)
	asked := &http.Request{Method: h.method}
	for {
		// Interim responses share the limit: a server that sends nothing else must end.
		limited.N = int64(s.proxy.limits.HeaderBytes)
		resp, err := http.ReadResponse(in, asked)
		switch {
		case err != nil:
			s.reply(502, "Bad Gateway", "the server's response cannot be read")
			return false
		case resp.StatusCode == http.StatusSwitchingProtocols:
			s.reply(502, "Bad Gateway", "the server switched protocols unasked")
			return false
		case resp.StatusCode < 200:
			continue
		}
		limited.N = 1<<63 - 1
		defer resp.Body.Close()
		return s.relayResponse(h, resp, client, keep)
	}
}

// relayResponse writes a final response: the head in one write, the body as it
// comes, since event streams send a line now and then.
func (s *session) relayResponse(h head, resp *http.Response, client *idleConn, keep bool) bool {
	stripHop(resp.Header)
	empty := h.method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	chunked := !empty && resp.ContentLength < 0 && h.minor == 1
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + resp.Status + "\r\n")
	if resp.ContentLength < 0 && !empty {
		resp.Header.Del("Content-Length")
	}
	_ = resp.Header.Write(&b)
	if chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	if !keep {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	if _, err := io.WriteString(client, b.String()); err != nil {
		return false
	}
	if empty {
		return true
	}
	if !chunked {
		_, err := io.Copy(struct{ io.Writer }{client}, resp.Body)
		return err == nil
	}
	out := &chunkWriter{to: client}
	_, err := io.Copy(out, resp.Body)
	return err == nil && out.end() == nil
}
