package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// notPublicError says that a name leads where nobody may go.
type notPublicError struct {
	host, addr, name string
}

func (e *notPublicError) Error() string {
	return fmt.Sprintf("%s does not resolve to public addresses only: %s is %s", e.host, e.addr, e.name)
}

// lookupError says that a name has no address.
type lookupError struct {
	host string
	err  error
}

func (e *lookupError) Error() string {
	var dns *net.DNSError
	if errors.As(e.err, &dns) && dns.IsNotFound || e.err == nil {
		return e.host + " has no address"
	}
	return e.host + " cannot be looked up: " + e.err.Error()
}

func (e *lookupError) Unwrap() error { return e.err }

// dial looks a host up, checks every address, and connects to the first that
// answers. The addresses that are checked are those that are dialled.
func (p *Proxy) dial(h model.Host, nonPublic bool) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.limits.Dial)
	defer cancel()
	addrs, err := p.lookup(ctx, h.Host, nonPublic)
	if err != nil {
		return nil, err
	}
	var dialer Dialer = &net.Dialer{}
	if p.Dialer != nil {
		dialer = p.Dialer
	}
	var first error
	for i, a := range addrs {
		c, err := dialOne(ctx, dialer, a, h.Port, len(addrs)-i)
		if err == nil {
			if !p.trackUpstream(c) {
				c.Close()
				return nil, net.ErrClosed
			}
			return c, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("%s cannot be reached: %w", hostPort(h), first)
}

// dialOne connects to one of left addresses: each gets its share of the time, so
// that a dead one does not use it up.
func dialOne(ctx context.Context, d Dialer, a netip.Addr, port, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		share := max(time.Until(deadline)/time.Duration(left), 2*time.Second)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), strconv.Itoa(port)))
}

// maxAddresses bounds how many addresses of a name are tried.
const maxAddresses = 16

// lookup returns the addresses of a host, all of them checked.
func (p *Proxy) lookup(ctx context.Context, host string, nonPublic bool) ([]netip.Addr, error) {
	var resolver Resolver = net.DefaultResolver
	if p.Resolver != nil {
		resolver = p.Resolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return nil, &lookupError{host, err}
	}
	checked := make([]netip.Addr, 0, min(len(addrs), maxAddresses))
	for _, a := range addrs {
		if name := AddressRange(a); name != "" && (!nonPublic || !ownRange[name]) {
			return nil, &notPublicError{host, a.String(), name}
		}
		if len(checked) < maxAddresses {
			checked = append(checked, a.Unmap())
		}
	}
	return checked, nil
}

// ownRange are the ranges that a host named by the user may lie in: networks
// that people run themselves. The others hold no server that anybody means:
// link-local has the machine's own keys in a cloud.
var ownRange = map[string]bool{
	rangeLoopback: true, "private": true, "carrierGradeNat": true, "uniqueLocal": true, "siteLocal": true,
}
