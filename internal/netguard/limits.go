package netguard

import "time"

// Limits bound what clients can hold. A field that is zero has its default.
type Limits struct {
	// Connections is the number of connections at once (1,024); the next one waits
	// in the listener's queue.
	Connections int
	// HeaderBytes bounds the head of an HTTP message in either direction (64 KiB)
	// and the records of a TLS ClientHello.
	HeaderBytes int
	// Handshake is the time for a request head, a SOCKS5 negotiation or a
	// ClientHello to arrive as a whole (15 s).
	Handshake time.Duration
	// KeepAlive is how long an HTTP connection may wait for its next request (60 s).
	KeepAlive time.Duration
	// Dial is the time for looking up and connecting (20 s).
	Dial time.Duration
	// Idle is how long nothing may flow in either direction (10 min).
	Idle time.Duration
	// Blocks is the number of different blocks that the report keeps (100).
	Blocks int
}

// filled returns the limits with the defaults filled in.
func (l Limits) filled() Limits {
	number := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	duration := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	number(&l.Connections, 1024)
	number(&l.HeaderBytes, 64<<10)
	number(&l.Blocks, 100)
	duration(&l.Handshake, 15*time.Second)
	duration(&l.KeepAlive, time.Minute)
	duration(&l.Dial, 20*time.Second)
	duration(&l.Idle, 10*time.Minute)
	return l
}
