package lictor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/netguard/nettest"
)

// internet is a small internet: *.site.test and *.registry.test resolve to
// loopback, *.public.test to a public address that the dialer leads there too.
type internet struct{ *nettest.Internet }

func newInternet(t *testing.T) internet {
	t.Helper()
	return internet{nettest.New(t, func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		fmt.Fprintf(w, "hello from %s by %s\n", host, r.Proto)
	})}
}

func (internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	switch {
	case strings.HasSuffix(host, ".public.test"):
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	case strings.HasSuffix(host, ".test"):
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// box is a project whose commands run in the sandbox, behind the proxy.
type box struct {
	*project
	net    internet
	engine *lictor.Engine
	// proxies is how many proxies were made.
	proxies atomic.Int64
}

// clientVariables are the prefixes of variables that lead the clients somewhere
// else than a test wants: the machine's own must not count.
var clientVariables = []string{"GO", "npm_", "NPM_", "YARN_", "NODE_", "GIT_", "SSL_", "CURL_", "http_", "HTTP_", "https_", "HTTPS_", "all_", "ALL_", "no_", "NO_", "XDG_"}

// newBox makes the project: settings are those of the project besides what the
// clients need, files the user's own. Nothing is accepted yet.
func newBox(t *testing.T, settings map[string]any, files map[string]string) *box {
	t.Helper()
	checkLeaks(t)
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		for _, prefix := range clientVariables {
			if strings.HasPrefix(name, prefix) && name != "GOCOVERDIR" {
				t.Setenv(name, value) // to have it back after the test
				require.NoError(t, os.Unsetenv(name))
			}
		}
	}
	b := &box{project: newProject(t), net: newInternet(t)}
	ca := filepath.Join(b.home, "ca.pem")
	b.write(t, ca, string(b.net.CA))
	var names []string
	for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "npm_config_cafile"} {
		t.Setenv(name, ca)
		names = append(names, name)
	}
	all := map[string]any{"env": map[string]any{"allow": names}}
	for key, value := range settings {
		all[key] = value
	}
	b.write(t, ".lictor/settings.json", all)
	for name, text := range files {
		b.write(t, filepath.Join(b.home, name), text)
	}
	return b
}

// listing is newBox with network.allow.
func listing(t *testing.T, entries ...string) *box {
	t.Helper()
	return newBox(t, map[string]any{"network": map[string]any{"allow": entries}}, nil)
}

// accept pins the user's consent in the trust file, as a session does that asks.
func (b *box) accept(t *testing.T) *box {
	t.Helper()
	asked := 0
	e, err := lictor.Open(context.Background(), lictor.Options{Root: b.root, Home: b.home, ManagedPolicy: b.policyFile(), NoRecord: true, Consent: func(context.Context, lictor.ConsentRequest) (lictor.Answer, error) {
		asked++
		return lictor.AnswerSession, nil
	}})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.Equal(t, 1, asked, "the user was asked")
	return b
}

func (b *box) policyFile() string {
	if _, err := os.Stat(b.managed); err != nil {
		return ""
	}
	return b.managed
}

// start opens the engine that runs commands.
func (b *box) start(t *testing.T, o lictor.Options) *box {
	t.Helper()
	o.Execute = true
	b.engine = b.open(t, o)
	if ok, why := b.engine.Confined(); !ok {
		t.Skipf("THE SANDBOX DOES NOT WORK HERE, THE NETWORK IS NOT TESTED: %s", why)
	}
	t.Cleanup(b.engine.AdjustProxy(func(p *netguard.Proxy) {
		b.proxies.Add(1)
		p.Resolver, p.Dialer = b.net, b.net
	}))
	return b
}

// need skips a test if a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("PROGRAM %s IS NOT INSTALLED, %s IS NOT TESTED", name, t.Name())
		}
	}
}

const runTime = time.Minute

// run runs a command that must be allowed to start, and returns what came of it.
func (b *box) run(t *testing.T, command string) *lictor.RunResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTime+20*time.Second)
	defer cancel()
	args, err := json.Marshal(map[string]string{"command": command})
	require.NoError(t, err)
	d, res, err := b.engine.Run(ctx, lictor.Call{Tool: "bash", Args: args, CallID: "call-7", Agent: "tester"}, lictor.RunOptions{Timeout: runTime})
	require.NoError(t, err, "%s: %+v", command, d)
	require.Equal(t, "os", res.Isolation)
	require.False(t, res.TimedOut || res.Canceled, "%s: %s", command, text(res))
	return res
}

// works is run for a command that must succeed.
func (b *box) works(t *testing.T, command string) *lictor.RunResult {
	t.Helper()
	res := b.run(t, command)
	require.False(t, res.Failed(), "%s: exit %d, %v\n%s\n%v", command, res.ExitCode, res.Violations, text(res), res.Notices)
	return res
}

func text(r *lictor.RunResult) string { return r.Stdout.Text + r.Stderr.Text }

// blocked are the notices of a run about the network.
func blocked(r *lictor.RunResult) []string {
	var out []string
	for _, n := range r.Notices {
		if strings.HasPrefix(n, "blocked: ") {
			out = append(out, n)
		}
	}
	return out
}

// recorded are the network events of the audit log, as "class by target".
func (b *box) recorded(t *testing.T) []string {
	t.Helper()
	list := b.events(t)
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = fmt.Sprintf("%s %s %s", e.Class, e.By, e.Target)
	}
	return out
}

func (b *box) events(t *testing.T) []*audit.Event {
	t.Helper()
	list, err := audit.Collect(context.Background(), audit.Dir(b.home, b.root), audit.Filter{Types: []audit.Type{audit.TypeNetwork}})
	require.NoError(t, err)
	return list
}

// checkLeaks fails the test if it leaves goroutines, children or open files.
func checkLeaks(t *testing.T) {
	t.Helper()
	children := func() string {
		var all []string
		files, _ := filepath.Glob("/proc/self/task/*/children")
		for _, f := range files {
			data, _ := os.ReadFile(f)
			all = append(all, strings.Fields(string(data))...)
		}
		return strings.Join(all, " ")
	}
	// Workers of the policy's own pool live on, a bounded number of them.
	stacks := func() []string {
		buf := make([]byte, 1<<20)
		all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		return slices.DeleteFunc(all, func(s string) bool { return strings.Contains(s, "internal/eval.hire") })
	}
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(list)
	}
	// The first poll of the process opens descriptors that stay.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	routines, files := len(stacks()), open()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if !assert.Eventually(t, func() bool {
			// Eventually has two goroutines of its own.
			return children() == "" && len(stacks()) <= routines+2 && open() <= files
		}, 10*time.Second, 50*time.Millisecond) {
			t.Logf("children %q, goroutines %d at first, files %d then %d\n%s", children(), routines, files, open(), strings.Join(stacks(), "\n\n"))
		}
	})
}

func TestNetworkListedHost(t *testing.T) {
	need(t, "curl")
	b := listing(t, "a.site.test").accept(t).start(t, lictor.Options{})
	for name, row := range map[string]struct{ args, want string }{
		"plain":         {"http://a.site.test/x", "hello from a.site.test by HTTP/1.1\n"},
		"TLS":           {"--http1.1 https://a.site.test/x", "hello from a.site.test by HTTP/1.1\n"},
		"TLS, HTTP/2":   {"--http2 https://a.site.test/x", "hello from a.site.test by HTTP/2.0\n"},
		"tunnel, plain": {"--proxytunnel http://a.site.test/", "hello from a.site.test by HTTP/1.1\n"},
		"SOCKS5":        {"--proxy socks5h://127.0.0.1:3128 https://a.site.test/", "hello from a.site.test by HTTP/2.0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			res := b.works(t, "curl -sSf --max-time 20 "+row.args)
			assert.Equal(t, row.want, res.Stdout.Text)
			assert.Empty(t, blocked(res))
		})
	}
	assert.EqualValues(t, 5, b.proxies.Load(), "one proxy a run")
	rows := b.recorded(t)
	require.Len(t, rows, 6, "a tunnel with HTTP in it is decided twice: itself and its request")
	for _, row := range rows {
		assert.Regexp(t, `^allow_rule listed a\.site\.test:(80|443)$`, row)
	}
	// Runs at the same time have a proxy each.
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			args := []byte(`{"command":"curl -sSf --max-time 20 http://a.site.test/"}`)
			_, res, err := b.engine.Run(context.Background(), lictor.Call{Tool: "bash", Args: args}, lictor.RunOptions{Timeout: runTime})
			if assert.NoError(t, err) {
				assert.Equal(t, "hello from a.site.test by HTTP/1.1\n", res.Stdout.Text)
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 8, b.proxies.Load())
}

func TestNetworkUnlistedHost(t *testing.T) {
	need(t, "curl")
	b := listing(t, "a.site.test", "evil.registry.test").accept(t)
	b.write(t, b.managed, `{"network":{"blockedHosts":["evil.registry.test"]}}`)
	b.start(t, lictor.Options{})
	// The names are put together inside: what the command's text says is another
	// step's business.
	res := b.run(t, `x=evil; for u in http://$x.site.test/ https://$x.site.test/ https://$x.site.test/ http://127.0.0.1/ http://a.site.test:8080/ https://$x.registry.test/ http://gone.example/; do
		curl -sS --max-time 20 $u; done; curl -sSf --max-time 20 http://a.site.test/`)
	assert.Zero(t, res.ExitCode, text(res))
	assert.Contains(t, res.Stdout.Text, "lictor: blocked evil.site.test:80 (not on the list); allow it with network(evil.site.test)")
	assert.Contains(t, res.Stdout.Text, "hello from a.site.test")
	lines := blocked(res)
	for i, want := range []string{
		"blocked: evil.site.test:80 (not on the list); allow it with network(evil.site.test)",
		"blocked: evil.site.test:443 (not on the list); allow it with network(evil.site.test) (2 times)",
		"blocked: 127.0.0.1:80 (use a host name, not the address 127.0.0.1)",
		"blocked: a.site.test:8080 (only ports 80 and 443 are open)",
		`blocked: evil.registry.test:443 (blocked by team policy (network.blockedHosts "evil.registry.test" in ` + b.managed + "))",
		"blocked: gone.example:80 (not on the list); allow it with network(gone.example)",
	} {
		if assert.Greater(t, len(lines), i) {
			assert.Equal(t, want, lines[i])
		}
	}
	assert.Zero(t, b.net.Reached("evil.site.test")+b.net.Reached("evil.registry.test"))
	assert.Equal(t, []string{
		"deny_unattended default evil.site.test:80", "deny_unattended default evil.site.test:443", "deny_unattended default evil.site.test:443",
		"deny_rule proxy 127.0.0.1:80", "deny_rule port a.site.test:8080", "deny_policy policy evil.registry.test:443",
		"deny_unattended default gone.example:80", "allow_rule listed a.site.test:80",
	}, b.recorded(t))
	intents, err := audit.Collect(context.Background(), audit.Dir(b.home, b.root), audit.Filter{Types: []audit.Type{audit.TypeIntent}})
	require.NoError(t, err)
	require.Len(t, intents, 1)
	assert.Contains(t, string(intents[0].Args), "x=evil")
	for _, e := range b.events(t) {
		assert.Equal(t, []string{"call-7", "tester"}, []string{e.CallID, e.Agent}, "the call that caused it")
		assert.Equal(t, []any{intents[0].Seq, intents[0].Segment}, []any{e.Intent, e.IntentSegment}, "the command that caused it")
		assert.NotEmpty(t, e.Revision)
	}
	// A new run has a clean report.
	assert.Empty(t, blocked(b.works(t, "curl -sSf --max-time 20 http://a.site.test/")))
}

func TestNetworkNoWayAround(t *testing.T) {
	need(t, "curl")
	b := listing(t, "a.site.test").accept(t).start(t, lictor.Options{})
	udp, err := net.ListenPacket("udp", "0.0.0.0:0")
	require.NoError(t, err)
	defer udp.Close()
	_, plainPort, _ := net.SplitHostPort(b.net.Plain)
	_, udpPort, _ := net.SplitHostPort(udp.LocalAddr().String())
	// The host's own addresses, loopback and others: a server is there, and a command
	// on the host could reach it.
	hosts := []string{"127.0.0.1"}
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			hosts = append(hosts, ip.IP.String())
			break
		}
	}
	all, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	var direct atomic.Int64
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for {
			c, err := all.Accept()
			if err != nil {
				return
			}
			direct.Add(1)
			c.Close()
		}
	}()
	defer func() { all.Close(); <-accepting }()
	_, allPort, _ := net.SplitHostPort(all.Addr().String())
	for _, host := range hosts {
		t.Run("TCP to "+host, func(t *testing.T) {
			c, err := net.DialTimeout("tcp", host+":"+allPort, 5*time.Second)
			require.NoError(t, err, "the host itself gets there")
			c.Close()
			require.Eventually(t, func() bool { return direct.Load() > 0 }, 5*time.Second, 5*time.Millisecond)
			direct.Store(0)
			res := b.run(t, fmt.Sprintf(`timeout 5 bash -c 'exec 3<>/dev/tcp/%s/%s' && echo CONNECTED`, host, allPort))
			assert.NotContains(t, text(res), "CONNECTED")
			assert.Zero(t, direct.Load())
		})
		t.Run("UDP to "+host, func(t *testing.T) {
			b.run(t, fmt.Sprintf(`echo secret > /dev/udp/%s/%s`, host, udpPort))
			require.NoError(t, udp.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
			n, _, err := udp.ReadFrom(make([]byte, 100))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded, "%d bytes arrived", n)
		})
	}
	// From a file: the built-in bundle would refuse the address in a command's text.
	b.write(t, "where", "169.254.169.254\n")
	for name, command := range map[string]string{
		"a public address": `timeout 5 bash -c 'exec 3<>/dev/tcp/93.184.215.14/443'`,
		"IPv6":             `timeout 5 bash -c 'exec 3<>/dev/tcp/2606:4700:4700::1111/443'`,
		"DNS":              `timeout 10 getent hosts a.site.test example.com`,
		"DNS by UDP":       `timeout 5 bash -c 'exec 3<>/dev/udp/8.8.8.8/53 && echo x >&3'`,
		"DNS by TCP":       `timeout 5 bash -c 'exec 3<>/dev/tcp/1.1.1.1/53'`,
		"cloud metadata":   `read -r h < where; timeout 5 bash -c "exec 3<>/dev/tcp/$h/80"`,

		"NO_PROXY":                `NO_PROXY='*' no_proxy='*' curl -sSf --max-time 5 http://evil.site.test/`,
		"NO_PROXY with a suffix":  `NO_PROXY=.test,localhost no_proxy=.test curl -sSf --max-time 5 http://evil.site.test/`,
		"no proxy at all":         `curl -sSf --max-time 5 --noproxy '*' http://a.site.test/`,
		"no environment":          `env -i /usr/bin/curl -sSf --max-time 5 http://a.site.test/`,
		"no environment, address": `env -i curl -sSf --max-time 5 --resolve a.site.test:` + plainPort + `:127.0.0.1 http://a.site.test:` + plainPort + `/`,
		"connect-to":              `curl -sSf --max-time 5 --noproxy '*' --connect-to a.site.test:80:127.0.0.1:` + plainPort + ` http://a.site.test/`,
		"another proxy":           `curl -sSf --max-time 5 --proxy http://` + b.net.Plain + ` http://evil.site.test/`,
		"another name inside TLS": `curl -sSf --max-time 5 --connect-to evil.site.test:443:a.site.test:443 https://evil.site.test/`,
		"another Host":            `curl -sSf --max-time 5 -H 'Host: evil.site.test' http://a.site.test/`,
		"another Host in tunnel":  `curl -sSf --max-time 5 --proxytunnel -H 'Host: evil.site.test' http://a.site.test/`,
		"SOCKS5 to an address":    `curl -sSf --max-time 5 --proxy socks5://127.0.0.1:3128 --resolve a.site.test:80:127.0.0.1 http://a.site.test/`,
		"the proxy itself":        `curl -sSf --max-time 5 --proxytunnel http://127.0.0.1:3128/`,
	} {
		t.Run(name, func(t *testing.T) {
			res := b.run(t, command+" && echo GOT THROUGH")
			assert.NotContains(t, text(res), "GOT THROUGH")
			assert.NotContains(t, text(res), "hello")
			assert.NotZero(t, res.ExitCode)
		})
	}
	assert.Zero(t, b.net.Reached("evil.site.test")+b.net.Reached("a.site.test"), "nothing reached the server")
	// What the user's own environment says about exceptions does not get in.
	t.Setenv("NO_PROXY", "*")
	t.Setenv("no_proxy", ".test")
	res := b.works(t, `env | grep -i -E '^(no_proxy|http_proxy)=' | sort`)
	assert.Equal(t, "HTTP_PROXY=http://127.0.0.1:3128\nNO_PROXY=\nhttp_proxy=http://127.0.0.1:3128\nno_proxy=\n", res.Stdout.Text)
}

// A tunnel that a command leaves open in the background ends with the run.
func TestNetworkEndsWithTheRun(t *testing.T) {
	need(t, "curl")
	b := listing(t, "a.site.test").accept(t)
	gone := make(chan struct{})
	var once sync.Once
	started := make(chan struct{})
	b.net.On("a.site.test", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
		once.Do(func() { close(gone) })
	})
	b.start(t, lictor.Options{})
	began := time.Now()
	b.works(t, `setsid -f curl -sS http://a.site.test/ >/dev/null 2>&1; sleep 1`)
	assert.Less(t, time.Since(began), 20*time.Second)
	<-started
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection outlived the run")
	}
}

func TestNetworkWithoutConsent(t *testing.T) {
	need(t, "curl")
	deny := func(context.Context, lictor.ConsentRequest) (lictor.Answer, error) { return lictor.AnswerDeny, nil }
	for name, o := range map[string]lictor.Options{"denied": {Consent: deny}, "nobody to ask": {}, "unattended": {Unattended: "a nightly run"}} {
		t.Run(name, func(t *testing.T) {
			b := listing(t, "npm", "a.site.test").start(t, o)
			assert.Empty(t, b.engine.NetworkList())
			policy, err := b.engine.ExecPolicy(0, lictor.ExecOptions{Sandbox: true})
			require.NoError(t, err)
			assert.Equal(t, []bool{false, false}, []bool{policy.Proxy, policy.Network})
			assert.NotContains(t, strings.ToLower(strings.Join(policy.Env, "\n")), "proxy")
			plan, err := b.engine.SandboxPlan(t.Context(), lictor.ExecOptions{Sandbox: true})
			require.NoError(t, err)
			assert.Equal(t, "none", plan.Network)
			res := b.run(t, `curl -sS --max-time 5 http://a.site.test/; curl -sS --max-time 5 --proxy http://127.0.0.1:3128 http://a.site.test/`)
			assert.NotZero(t, res.ExitCode)
			assert.Zero(t, b.proxies.Load(), "there is no proxy")
			assert.Empty(t, b.recorded(t))
			assert.Zero(t, b.net.Reached("a.site.test"))
		})
	}
	t.Run("another list than the one accepted", func(t *testing.T) {
		b := listing(t, "a.site.test").accept(t)
		b.write(t, ".lictor/settings.json", `{"network":{"allow":["a.site.test","evil.site.test"]}}`)
		b.start(t, lictor.Options{})
		assert.Empty(t, b.engine.NetworkList())
		assert.NotZero(t, b.run(t, "curl -sS --max-time 5 http://a.site.test/").ExitCode)
	})
	t.Run("a preset that stands for other hosts now", func(t *testing.T) {
		b := newBox(t, map[string]any{"network": map[string]any{"allow": []string{"npm"}}}, map[string]string{".npmrc": "registry=https://npm.registry.test/\n"}).accept(t)
		b.write(t, filepath.Join(b.home, ".npmrc"), "registry=https://evil.registry.test/\n")
		b.start(t, lictor.Options{})
		assert.Empty(t, b.engine.NetworkList())
		b.run(t, "curl -sS --max-time 5 https://evil.registry.test/")
		assert.Zero(t, b.net.Reached("evil.registry.test"))
	})
}

const fetch = `h=%s; curl -sS --max-time 20 http://$h.test/`

func TestNetworkUnattended(t *testing.T) {
	need(t, "curl")
	script := approve.NewScript(lictor.AnswerAlways)
	b := listing(t, "a.site.test").accept(t).start(t, lictor.Options{Unattended: "a nightly run", Approver: script})
	res := b.run(t, fmt.Sprintf(fetch, "other.public")+"; curl -sS http://a.site.test/")
	assert.Contains(t, res.Stdout.Text, "hello from a.site.test")
	lines := blocked(res)
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "blocked: other.public.test:80 (")
	assert.Contains(t, lines[0], "a nightly run")
	assert.Contains(t, lines[0], "allow it with network(other.public.test)")
	assert.Empty(t, script.Asked())
	assert.Zero(t, b.net.Reached("other.public.test"))
	assert.Equal(t, []string{"deny_unattended unattended other.public.test:80", "allow_rule listed a.site.test:80"}, b.recorded(t))
}

func TestNetworkAnswers(t *testing.T) {
	need(t, "curl")
	script := approve.NewScript(lictor.AnswerSession, lictor.AnswerDeny, lictor.AnswerOnce, lictor.AnswerOnce)
	b := newBox(t, map[string]any{
		"network":     map[string]any{"allow": []string{"a.site.test", "b.site.test"}},
		"permissions": map[string]any{"allow": []string{"network(ruled.public.test)"}, "deny": []string{"network(b.site.test)"}},
	}, nil).accept(t).start(t, lictor.Options{Approver: script})
	get := func(host string) *lictor.RunResult { return b.run(t, fmt.Sprintf(fetch, host)) }

	// session: one question, in whatever run.
	for range 2 {
		res := get("one.public")
		assert.Contains(t, res.Stdout.Text, "hello from one.public.test")
		assert.Empty(t, blocked(res))
	}
	require.Len(t, script.Asked(), 1)
	asked := script.Asked()[0]
	assert.Equal(t, []string{"network", "call-7"}, []string{asked.Tool, asked.CallID})
	require.Len(t, asked.Targets, 1)
	assert.Equal(t, "http://one.public.test/", asked.Targets[0].URL)
	require.Len(t, asked.Session, 1)
	assert.Equal(t, "one.public.test", asked.Session[0].Host)

	// deny: many connections of a run are one question.
	res := b.run(t, fmt.Sprintf(fetch, "two.public")+"; "+fmt.Sprintf(fetch, "two.public"))
	assert.Equal(t, []string{"blocked: two.public.test:80 (not on the list); allow it with network(two.public.test) (2 times)"}, blocked(res))
	assert.Len(t, script.Asked(), 2)
	// once: the answer ends with the run. And no answer opens what is not public.
	assert.Contains(t, get("two.public").Stdout.Text, "hello from two.public.test")
	lines := blocked(get("inner.site"))
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "inner.site.test does not resolve to public addresses only: 127.0.0.1 is loopback")
	assert.Len(t, script.Asked(), 4)

	// Rules need no answer, and a deny rule outranks the list.
	assert.Contains(t, get("ruled.public").Stdout.Text, "hello from ruled.public.test")
	lines = blocked(get("b.site"))
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "blocked: b.site.test:80 (denied by the rule network(b.site.test) in ")
	assert.Len(t, script.Asked(), 4)
	assert.Zero(t, b.net.Reached("inner.site.test")+b.net.Reached("b.site.test"))

	assert.Equal(t, []string{
		"allow_user user one.public.test:80", "allow_session session one.public.test:80",
		"deny_user user two.public.test:80", "deny_user user two.public.test:80", "allow_user user two.public.test:80",
		"allow_user user inner.site.test:80", "deny_rule proxy inner.site.test:80",
		"allow_rule rule ruled.public.test:80", "deny_rule rule b.site.test:80",
	}, b.recorded(t))
}

// A command that runs on the host finds no proxy: it has the host's network, and
// what listens at the proxy's port there is not lictor's.
func TestNetworkOnTheHost(t *testing.T) {
	b := newBox(t, map[string]any{"executor": "host", "network": map[string]any{"allow": []string{"a.site.test"}}}, nil).accept(t)
	e := b.open(t, lictor.Options{Execute: true, Approver: approve.NewScript(lictor.AnswerOnce)})
	_, res, err := e.Run(t.Context(), lictor.Call{Tool: "bash", Args: []byte(`{"command":"env"}`)}, lictor.RunOptions{Timeout: runTime})
	require.NoError(t, err)
	assert.Equal(t, "none", res.Isolation)
	assert.NotContains(t, res.Stdout.Text, "3128")
	assert.NotContains(t, strings.ToLower(res.Stdout.Text), "http_proxy")
}

func TestNetworkStrictAllowlist(t *testing.T) {
	need(t, "curl")
	script := approve.NewScript(lictor.AnswerAlways)
	b := newBox(t, map[string]any{
		"network":     map[string]any{"allow": []string{"a.site.test"}},
		"permissions": map[string]any{"allow": []string{"network(ruled.public.test)"}},
	}, nil)
	b.write(t, b.managed, `{"network":{"strictAllowlist":true}}`)
	b.accept(t).start(t, lictor.Options{Approver: script})
	res := b.run(t, fmt.Sprintf(fetch, "other.public")+"; "+fmt.Sprintf(fetch, "ruled.public")+"; "+fmt.Sprintf(fetch, "a.site"))
	assert.Contains(t, res.Stdout.Text, "hello from a.site.test")
	assert.Contains(t, res.Stdout.Text, "hello from ruled.public.test")
	lines := blocked(res)
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "blocked: other.public.test:80 (")
	assert.Contains(t, lines[0], "network.strictAllowlist in "+b.managed)
	assert.Empty(t, script.Asked(), "nobody can lift it")
	assert.Zero(t, b.net.Reached("other.public.test"))
	assert.Equal(t, []string{"deny_policy policy other.public.test:80", "allow_rule rule ruled.public.test:80", "allow_rule listed a.site.test:80"}, b.recorded(t))
}

func TestNetworkNPMInstall(t *testing.T) {
	need(t, "npm", "node")
	b := newBox(t, map[string]any{"network": map[string]any{"allow": []string{"npm"}}}, map[string]string{".npmrc": "registry=https://npm.registry.test/\n"})
	pkg := nettest.Tarball(t, map[string]string{"package/package.json": `{"name":"left","version":"1.0.0"}`, "package/index.js": "module.exports = 42\n"})
	b.net.On("npm.registry.test", nettest.NPM(pkg))
	b.write(t, "package.json", `{"name":"p","version":"1.0.0","dependencies":{"left":"^1.0.0"}}`)
	// The user's own file cannot be read inside, so the project names the registry
	// too. The list comes from the user's.
	b.write(t, ".npmrc", "registry=https://npm.registry.test/\nfetch-retries=0\n")
	b.accept(t).start(t, lictor.Options{})
	res := b.works(t, `npm install --no-audit --no-fund --no-progress && node -p 'require("left")'`)
	assert.Contains(t, res.Stdout.Text, "42\n")
	assert.Empty(t, blocked(res))
	assert.FileExists(t, filepath.Join(b.root, "node_modules", "left", "index.js"))
	assert.DirExists(t, filepath.Join(b.home, ".npm", "_cacache"), "the cache is the throw-away home's")

	// What the project's own file says opens nothing.
	b.write(t, ".npmrc", "registry=https://evil.registry.test/\nfetch-retries=0\n")
	res = b.run(t, "npm view left")
	assert.NotZero(t, res.ExitCode)
	assert.Contains(t, strings.Join(blocked(res), "\n"), "blocked: evil.registry.test:443 (not on the list)")
	assert.Zero(t, b.net.Reached("evil.registry.test"))
}

func TestNetworkGoModDownload(t *testing.T) {
	need(t, "go")
	const mod = "left.registry.test/left"
	b := newBox(t, map[string]any{"network": map[string]any{"allow": []string{"go"}}}, map[string]string{
		".config/go/env": "GOPROXY=https://goproxy.registry.test\nGOSUMDB=off\nGOTOOLCHAIN=local\nGOFLAGS=-modcacherw\n",
	})
	const goMod = "module " + mod + "\n\ngo 1.20\n"
	archive := nettest.Zip(t, map[string]string{mod + "@v1.0.0/go.mod": goMod, mod + "@v1.0.0/left.go": "package left\n\nconst One = 1\n"})
	b.net.On("goproxy.registry.test", nettest.GoProxy(mod, "v1.0.0", goMod, archive))
	b.write(t, "go.mod", "module p\n\ngo 1.20\n\nrequire "+mod+" v1.0.0\n")
	b.accept(t).start(t, lictor.Options{})
	assert.Contains(t, strings.Join(b.engine.NetworkList(), "\n"), "goproxy.registry.test")
	res := b.works(t, "go mod download")
	assert.Empty(t, blocked(res))
	assert.FileExists(t, filepath.Join(b.home, "go", "pkg", "mod", mod+"@v1.0.0", "left.go"))
	assert.FileExists(t, filepath.Join(b.root, "go.sum"))

	res = b.run(t, "GOPROXY=https://evil.registry.test GOMODCACHE=$HOME/.cache/other go mod download")
	assert.NotZero(t, res.ExitCode)
	assert.Contains(t, text(res), "evil.registry.test:443 (not on the list)")
	assert.Zero(t, b.net.Reached("evil.registry.test"))
}

func TestNetworkGitClone(t *testing.T) {
	need(t, "git")
	b := listing(t, "git.site.test").accept(t)
	served := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+b.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git(served, "init", "-q", "-b", "main", "work")
	require.NoError(t, os.WriteFile(filepath.Join(served, "work", "file"), []byte("text\n"), 0o600))
	git(filepath.Join(served, "work"), "add", ".")
	git(filepath.Join(served, "work"), "commit", "-q", "-m", "one")
	git(served, "clone", "-q", "--bare", "work", "r.git")
	backend := &cgi.Handler{
		Path: filepath.Join(git(served, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + b.home}, InheritEnv: []string{"PATH"},
	}
	b.net.On("git.site.test", backend.ServeHTTP)
	b.start(t, lictor.Options{})
	for _, scheme := range []string{"http", "https"} {
		res := b.works(t, "git clone -q "+scheme+"://git.site.test/r.git "+scheme+" && cat "+scheme+"/file && git -C "+scheme+" fetch -q")
		assert.Equal(t, "text\n", res.Stdout.Text)
		assert.Empty(t, blocked(res))
	}
	res := b.run(t, `h=evil.site.test; git -c http.proxy= clone -q http://$h/r.git x; git clone -q http://$h/r.git y`)
	assert.NotZero(t, res.ExitCode)
	assert.Equal(t, []string{"blocked: evil.site.test:80 (not on the list); allow it with network(evil.site.test)"}, blocked(res))
	assert.Zero(t, b.net.Reached("evil.site.test"))
	assert.NoDirExists(t, filepath.Join(b.root, "x"))
}
