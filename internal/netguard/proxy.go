package netguard

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// Resolver looks up the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to an address; *net.Dialer is one. The proxy gives it IP
// addresses only, each checked before.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Proxy is the only way out of a sandbox: HTTP CONNECT, absolute-form HTTP and
// SOCKS5 on one port. Fill the fields, call Serve, read Report after Close.
//
// What it guarantees, whatever Decide says:
//
//   - A host is a name. IP literals in any notation are refused unasked.
//   - Every address of the name is public, unless the Decision says otherwise, and
//     the connection goes to an address that was checked: there is no second look-up.
//   - A tunnel carries TLS whose server name is the host that was asked for, or
//     HTTP/1 whose Host is. Anything else is closed, since it could reach another
//     site of the same server. So is an encrypted ClientHello, whose inner name
//     nobody can see. (A server that answers for several sites inside one TLS
//     session can still be asked for another one there: that cannot be seen from
//     outside.)
//   - Nothing that a client says about proxies goes further, a tunnel cannot be
//     opened inside a tunnel, and plain HTTP cannot change into another protocol.
//     (Inside TLS nobody sees what a listed host does for its visitors: one that is
//     a proxy itself opens everything.)
//
// A Proxy serves one run: close it when the command has ended, which the listener
// of a sandbox does not tell. It must not be copied.
type Proxy struct {
	// Decide says whether a host may be reached; nil denies everything. It is called
	// for every request, by many goroutines. The context ends when the proxy is
	// closed, and then it must return soon: Close waits for it.
	Decide func(ctx context.Context, r Request) Decision
	// Resolver and Dialer are the host's own if nil.
	Resolver Resolver
	Dialer   Dialer
	// Limits bound what clients can hold; the zero value has the defaults.
	Limits Limits
	// Credentials are "user:password" that clients must give, as in a proxy URL; ""
	// for none. They are for a listener that other programs can reach.
	Credentials string
	// OnBlock is called for every refused request, besides the report, and OnAllow
	// for every one that is let through; nil for none. They must not block.
	OnBlock func(Block)
	OnAllow func(Request, Decision)

	start  sync.Once
	limits Limits
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	conns     map[net.Conn]struct{}
	running   sync.WaitGroup

	blocks blockLog
}

// init fills in the defaults.
func (p *Proxy) init() {
	p.start.Do(func() {
		p.limits = p.Limits.filled()
		p.ctx, p.cancel = context.WithCancel(context.Background())
		p.slots = make(chan struct{}, p.limits.Connections)
		p.listeners = map[net.Listener]struct{}{}
		p.conns = map[net.Conn]struct{}{}
	})
}

// Serve accepts connections until the listener or the proxy is closed; then it
// returns nil. Any other error of the listener ends it and is returned. Serve
// closes the listener. It may be called for several listeners.
func (p *Proxy) Serve(l net.Listener) error {
	p.init()
	defer l.Close()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.listeners[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.listeners, l)
		p.mu.Unlock()
	}()
	var wait time.Duration
	for {
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return nil
		}
		c, err := l.Accept()
		if err != nil {
			<-p.slots
			if p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Too many open files, or a client that is gone already: go on soon.
			if !temporary(err) {
				return err
			}
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			select {
			case <-time.After(wait):
			case <-p.ctx.Done():
				return nil
			}
			continue
		}
		wait = 0
		if !p.track(c) {
			c.Close()
			<-p.slots
			return nil
		}
		go func() {
			defer func() {
				p.untrack(c)
				<-p.slots
				p.running.Done()
			}()
			p.serveConn(c)
		}()
	}
}

// temporary reports errors of Accept that say nothing about the listener.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// Close ends every listener and connection and waits for them. Close may be
// called more than once; a Proxy cannot be started again.
func (p *Proxy) Close() error {
	p.init()
	p.mu.Lock()
	p.closed = true
	p.cancel()
	for l := range p.listeners {
		l.Close()
	}
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
	return nil
}

// track remembers a client's connection; false if the proxy is closed.
func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conns[c] = struct{}{}
	p.running.Add(1)
	return true
}

// trackUpstream is track for a connection that a tracked one opened: it lives
// no longer than that one.
func (p *Proxy) trackUpstream(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

// untrack closes and forgets a connection.
func (p *Proxy) untrack(c net.Conn) {
	c.Close()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// serveConn reads the first byte, which tells SOCKS5 from HTTP.
func (p *Proxy) serveConn(c net.Conn) {
	s := &session{proxy: p, conn: c, in: bufio.NewReaderSize(c, 4<<10)}
	s.handshake()
	first, err := s.in.Peek(1)
	if err != nil {
		return
	}
	if first[0] == socksVersion {
		s.socks()
		return
	}
	s.http(nil, nil)
}

// session is a client's connection.
type session struct {
	proxy *Proxy
	conn  net.Conn
	in    *bufio.Reader
	// inside is the host of the tunnel that the client is in, for requests that
	// come through one; the via of its request with it.
	inside *Request
}

// handshake gives the client the time of a handshake from now.
func (s *session) handshake() { s.deadline(s.proxy.limits.Handshake) }

// deadline sets both deadlines of the client's connection.
func (s *session) deadline(d time.Duration) { _ = s.conn.SetDeadline(time.Now().Add(d)) }

// decide asks about a request and records a refusal.
func (s *session) decide(r Request) Decision {
	p := s.proxy
	var d Decision
	switch {
	case r.IP != "":
		d = Decision{By: byProxy, Reason: "use a host name, not the address " + r.IP}
	case p.Decide == nil:
		d = notListed(r)
	default:
		// A person may take longer to answer than a handshake may take.
		_ = s.conn.SetDeadline(time.Time{})
		d = p.Decide(p.ctx, r)
	}
	if d.Allowed {
		if p.OnAllow != nil {
			p.OnAllow(r, d)
		}
		return d
	}
	if d.Reason == "" {
		d.Reason = "not allowed"
	}
	s.block(r, d)
	return d
}

// block records a refusal.
func (s *session) block(r Request, d Decision) {
	b := Block{Host: r.Host.Host, Port: r.Port, Via: r.Via, Reason: oneLine(d.Reason), Hint: oneLine(d.Hint), By: d.By, Rule: d.Rule, First: time.Now(), Count: 1}
	s.proxy.blocks.add(b, s.proxy.limits.Blocks)
	if s.proxy.OnBlock != nil {
		s.proxy.OnBlock(b)
	}
}

// refuse records what the proxy itself does not accept.
func (s *session) refuse(r Request, reason string) {
	s.block(r, Decision{By: byProxy, Reason: reason})
}

// named is the request for a text that is no host: it is shown, not used.
func named(text string, via Via) Request {
	return Request{Host: model.Host{Host: quote(text)}, Via: via}
}
