package netguard

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func request(host string, port int) Request {
	return Request{Host: model.Host{Host: host, Port: port}, Via: ViaConnect}
}

// The order of SPEC section 9: what comes first decides.
func TestDecideOrder(t *testing.T) {
	pattern, err := ParsePattern("*.blocked.test", "network.blockedHosts")
	require.NoError(t, err)
	asked := ""
	p := &Policy{
		Blocked: []BlockedHost{{pattern, "/etc/lictor/policy.json"}},
		Denied: func(h model.Host) (string, bool) {
			return "network(denied.blocked.test) in rules.json", h.Host == "denied.blocked.test" || h.Host == "denied.test"
		},
		List: listOf(t, "denied.blocked.test", "denied.test", "listed.test", "*.below.test"),
		Ask: func(_ context.Context, r Request) Decision {
			asked = r.TargetURL()
			return Decision{Allowed: r.Host.Host == "yes.test", By: "user", NonPublic: true}
		},
	}
	for _, row := range []struct {
		host   string
		port   int
		want   Decision
		asking string
	}{
		{"denied.blocked.test", 22, Decision{By: ByPort, Reason: "only ports 80 and 443 are open"}, ""},
		{"denied.blocked.test", 443, Decision{By: ByPolicy, Rule: "*.blocked.test", Reason: `blocked by team policy (network.blockedHosts "*.blocked.test" in /etc/lictor/policy.json)`}, ""},
		{"denied.test", 80, Decision{By: ByRule, Rule: "network(denied.test)", Reason: "denied by the rule network(denied.test)"}, ""},
		{"listed.test", 443, Decision{Allowed: true, By: ByListed, Rule: "listed.test", Reason: "listed: listed.test", NonPublic: true}, ""},
		{"a.b.below.test", 80, Decision{Allowed: true, By: ByListed, Rule: "*.below.test", Reason: "listed: *.below.test"}, ""},
		{"below.test", 80, Decision{By: "user", Reason: "not on the list", Hint: "allow it with network(below.test)"}, "http://below.test/"},
		{"no.test", 443, Decision{By: "user", Reason: "not on the list", Hint: "allow it with network(no.test)"}, "https://no.test/"},
		{"yes.test", 443, Decision{Allowed: true, By: "user"}, "https://yes.test/"},
	} {
		asked = ""
		if row.host == "denied.test" {
			p.Denied = func(h model.Host) (string, bool) { return "network(denied.test)", h.Host == "denied.test" }
		}
		assert.Equal(t, row.want, p.Decide(t.Context(), request(row.host, row.port)), row.host)
		assert.Equal(t, row.asking, asked, row.host)
	}
	bare := &Policy{}
	assert.Equal(t, Decision{By: ByDefault, Reason: "not on the list", Hint: "allow it with network(a.test)"}, bare.Decide(t.Context(), request("a.test", 443)))
	assert.Equal(t, "only ports 1, 2, 3 are open", (&Policy{Ports: []int{1, 2, 3}}).Decide(t.Context(), request("a.test", 443)).Reason)
}

// One host, one question, however many connections and whatever the answer.
func TestAskOnce(t *testing.T) {
	var asked atomic.Int64
	p := &Policy{Ask: func(_ context.Context, r Request) Decision {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
		return Decision{Allowed: r.Port == 443}
	}}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			port := 443
			if i%2 == 0 {
				port = 80
			}
			assert.Equal(t, port == 443, p.Decide(t.Context(), request("a.test", port)).Allowed)
		})
	}
	all.Wait()
	assert.EqualValues(t, 2, asked.Load())

	// A URL that always needs a person is asked about each time.
	long := Request{Host: model.Host{Host: "a.test", Port: 443}, Via: ViaHTTP, URL: "http://a.test/" + longToken64}
	p.Decide(t.Context(), long)
	p.Decide(t.Context(), long)
	assert.EqualValues(t, 4, asked.Load())
	short := Request{Host: model.Host{Host: "a.test", Port: 443}, Via: ViaHTTP, URL: "http://a.test/x"}
	p.Decide(t.Context(), short)
	assert.EqualValues(t, 4, asked.Load())
}

const longToken64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A question that nobody could answer any more is none, for the others too.
func TestLostQuestion(t *testing.T) {
	first := make(chan struct{})
	var calls atomic.Int64
	p := &Policy{Ask: func(ctx context.Context, _ Request) Decision {
		if calls.Add(1) == 1 {
			close(first)
			<-ctx.Done()
			return Decision{}
		}
		return Decision{Allowed: true}
	}}
	gone, cancel := context.WithCancel(t.Context())
	var leader Decision
	var all sync.WaitGroup
	all.Go(func() { leader = p.Decide(gone, request("a.test", 443)) })
	<-first
	waiting, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	assert.Equal(t, "nobody answered in time", p.Decide(waiting, request("a.test", 443)).Reason)
	cancel()
	all.Wait()
	assert.False(t, leader.Allowed)
	assert.True(t, p.Decide(t.Context(), request("a.test", 443)).Allowed)
}

func TestList(t *testing.T) {
	l, err := NewList([]ListedHost{
		{Pattern: "Example.com.", Entry: "one"},
		{Pattern: "example.com", Entry: "two", NonPublic: true},
		{Pattern: "*.b.example.com", Entry: "long", NonPublic: true},
		{Pattern: "*.example.com", Entry: "short"},
	})
	require.NoError(t, err)
	assert.Equal(t, 3, l.Len())
	for host, want := range map[string]string{"example.com": "one", "a.example.com": "short", "b.example.com": "short", "x.b.example.com": "long", "y.x.b.example.com": "long"} {
		h, ok := l.Find(host)
		assert.True(t, ok, host)
		assert.Equal(t, want, h.Entry, host)
		assert.Equal(t, host == "example.com", h.NonPublic, "a wildcard opens no private network")
	}
	for _, host := range []string{"com", "", "xexample.com", "example.com.evil.test", "1.2.3.4"} {
		_, ok := l.Find(host)
		assert.False(t, ok, host)
	}
	assert.False(t, l.Allowed("http://example.com"))
	assert.False(t, List{}.Allowed("example.com"))
	for _, bad := range []string{"*", "a b", "*.1.2.3.4"} {
		_, err := NewList([]ListedHost{{Pattern: bad}})
		require.Error(t, err)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.Find("a.b.c.example.com") }))
}
