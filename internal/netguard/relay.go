package netguard

import (
	"io"
	"net"
	"sync"
	"time"
)

// closeWrite tells the other side that nothing more comes, if the connection can.
func closeWrite(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
		return
	}
	c.Close()
}

// relay copies both ways until both sides have ended, one of them breaks, or
// nothing flows for the idle time. The end of one side is passed on, and the
// other one goes on.
func relay(client, server net.Conn, idle time.Duration) {
	_ = client.SetDeadline(time.Time{})
	_ = server.SetDeadline(time.Time{})
	end := func() { client.Close(); server.Close() }
	watch := time.AfterFunc(idle, end)
	defer watch.Stop()
	alive := func() { watch.Reset(idle) }
	var other sync.WaitGroup
	other.Go(func() {
		if !pump(server, client, idle, alive) {
			end()
		}
	})
	if !pump(client, server, idle, alive) {
		end()
	}
	other.Wait()
	end()
}

// pump copies from one connection to the other until its end, which it passes
// on; false if one of them broke.
//
// The kernel moves the bytes where it can, so nothing here sees them: the read
// deadline only brings the copy back now and then to say that it is alive.
func pump(to, from net.Conn, idle time.Duration, alive func()) bool {
	for {
		_ = from.SetReadDeadline(time.Now().Add(idle / 4))
		n, err := copyConn(to, from)
		if n > 0 {
			alive()
		}
		if err == nil {
			closeWrite(to)
			return true
		}
		if t, ok := err.(net.Error); !ok || !t.Timeout() {
			return false
		}
	}
}

// copyConn copies with the kernel's help for TCP.
func copyConn(to, from net.Conn) (int64, error) {
	if r, ok := to.(io.ReaderFrom); ok {
		return r.ReadFrom(from)
	}
	return io.Copy(struct{ io.Writer }{to}, from)
}
