package netguard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// elsewhere are the rows that need more than this package: the engine's own tests
// run them.
var elsewhere = map[string]string{
	"net-decision-002": "consent is the engine's: without it the list is empty, and no proxy is made",
	"net-proxy-006":    "the same with a real sandbox around curl; curl alone is in clients_test.go",
}

// userHome is a throw-away home with the tools' configuration.
func userHome(t testing.TB, files map[string]string, env ...string) UserConfig {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return UserConfig{Home: home, Env: EnvMap(env), GOOS: "linux", Root: filepath.Join(home, "system"), Tool: defaultsOfTools}
}

func caseNetExpand(t *testing.T, c testcase.Row) {
	var given struct{}
	var input struct{ Entries []string }
	var expect struct {
		Hosts    []string
		Problems int
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	user := userHome(t, map[string]string{
		".npmrc":         "registry=https://npm.registry.test/\n",
		".yarnrc":        "registry \"https://yarn.registry.test/\"\n",
		".config/go/env": "GOPROXY=https://goproxy.registry.test,direct\nGOSUMDB=gosum.default.test https://gosum.registry.test\n",
	})
	r, err := Resolve(t.Context(), input.Entries, user)
	require.NoError(t, err)
	assert.Equal(t, expect.Hosts, r.Names())
	assert.Len(t, r.Notes, expect.Problems)
}

func caseNetAllowed(t *testing.T, c testcase.Row) {
	var given struct{ Patterns []string }
	var input struct{ Host string }
	var expect struct{ Allowed bool }
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	assert.Equal(t, expect.Allowed, listOf(t, given.Patterns...).Allowed(input.Host))
}

func listOf(t testing.TB, patterns ...string) List {
	t.Helper()
	var hosts []ListedHost
	for _, p := range patterns {
		hosts = append(hosts, ListedHost{Pattern: p, Entry: p, Source: SourceSettings, NonPublic: true})
	}
	l, err := NewList(hosts)
	require.NoError(t, err)
	return l
}

func caseNetEnv(t *testing.T, c testcase.Row) {
	var given struct {
		Sandbox  *bool
		Proxy    int
		HostEnv  map[string]string
		EnvAllow []string
	}
	var input struct{}
	var expect struct {
		Env      map[string]string
		Lacks    string `json:"MAVEN_OPTS lacks"`
		Contains string `json:"MAVEN_OPTS contains"`
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	if given.Sandbox != nil && !*given.Sandbox {
		// Without a sandbox nothing points at the proxy, whether there is one or not.
		assert.Empty(t, Env(""))
		return
	}
	var allowed []string
	for name, value := range given.HostEnv {
		if slices.Contains(given.EnvAllow, name) {
			allowed = append(allowed, name+"="+value)
		}
	}
	opts := EnvMap(WithEnv(allowed, "http://127.0.0.1:3128"))["MAVEN_OPTS"]
	assert.Contains(t, opts, "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128")
	assert.Contains(t, opts, expect.Contains)
	if expect.Lacks != "" {
		assert.NotContains(t, opts, expect.Lacks)
	}
}

func caseNetProxy(t *testing.T, c testcase.Row) {
	var given struct{ Decide, Resolves string }
	var input struct{ CONNECT, GET string }
	var expect struct {
		Status         int
		Tunnel         string
		ReasonContains string
		BodyContains   string
		UpstreamPath   string
		DecideCalled   *bool
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)

	var path atomic.Value
	upstream := newWeb(t, false, func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.RequestURI)
		hello(w, r)
	})
	var called atomic.Bool
	resolver := names{}
	if _, err := netip.ParseAddr(given.Resolves); err == nil {
		resolver["private.test"] = []string{given.Resolves}
	}
	p := &Proxy{Resolver: resolver, Decide: func(_ context.Context, r Request) Decision {
		called.Store(true)
		return Decision{Allowed: given.Decide == "allow", NonPublic: r.Host.Host == "allowed.test"}
	}}
	addr := testProxy(t, p)

	fill := strings.NewReplacer("<port>", upstream.port)
	var status int
	var line, body string
	if input.CONNECT != "" {
		target := fill.Replace(input.CONNECT)
		status, line, body = say(t, addr, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n")
	} else {
		target := fill.Replace(input.GET)
		u, err := ParseURL(target)
		require.NoError(t, err)
		status, line, body = say(t, addr, "GET "+target+" HTTP/1.1\r\nHost: "+authorityText(u.Host, "http")+"\r\n\r\n")
	}
	assert.Equal(t, expect.Status, status, line)
	assert.Contains(t, body, expect.ReasonContains)
	assert.Contains(t, line, expect.ReasonContains)
	assert.Contains(t, body, expect.BodyContains)
	if expect.UpstreamPath != "" {
		assert.Equal(t, expect.UpstreamPath, path.Load())
	}
	if expect.DecideCalled != nil {
		assert.Equal(t, *expect.DecideCalled, called.Load())
	}
	if expect.Tunnel != "" {
		require.Equal(t, "works", expect.Tunnel)
		target := fill.Replace(input.CONNECT)
		conn, r := tunnelTo(t, addr, target)
		fmt.Fprintf(conn, "GET /in HTTP/1.1\r\nHost: %s\r\n\r\n", target)
		resp, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		resp.Body.Close()
	}
	if expect.Status == 403 {
		require.Len(t, p.Blocks(), 1)
		require.Len(t, p.Report(), 1)
	}
}

func caseNetDecision(t *testing.T, c testcase.Row) {
	var given struct {
		List   []string
		Pinned bool
	}
	var input struct {
		Host string
		Port int
	}
	var expect struct {
		Asked          int
		ReasonContains string
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	r, err := Resolve(t.Context(), given.List, userHome(t, nil))
	require.NoError(t, err)
	list, err := r.List()
	require.NoError(t, err)
	require.True(t, given.Pinned)
	asked := 0
	p := &Policy{List: list, Ask: func(context.Context, Request) Decision { asked++; return Decision{} }}
	d := p.Decide(t.Context(), Request{Host: model.Host{Host: input.Host, Port: input.Port}, Via: ViaConnect})
	assert.False(t, d.Allowed)
	assert.Equal(t, expect.Asked, asked)
	assert.Contains(t, d.Reason, expect.ReasonContains)
}

func casePolicyHostProxy(t *testing.T, c testcase.Row) {
	var given struct{ BlockedHosts, NetworkAllow []string }
	var input struct {
		Host string
		Port int
	}
	var expect struct {
		Allowed        bool
		ReasonContains string
	}
	testcase.Strict(t, c.Given, &given)
	testcase.Strict(t, c.Input, &input)
	testcase.Strict(t, c.Expect, &expect)
	policy := &Policy{List: listOf(t, given.NetworkAllow...)}
	for _, text := range given.BlockedHosts {
		pattern, err := ParsePattern(text, "network.blockedHosts")
		require.NoError(t, err)
		policy.Blocked = append(policy.Blocked, BlockedHost{Pattern: pattern, File: "/etc/lictor/policy.json"})
	}
	// The row goes the whole way: what a client writes is what is decided.
	upstream := newWeb(t, false, hello)
	p := &Proxy{Decide: policy.Decide, Dialer: portDialer{upstream.Listener.Addr().String()}}
	addr := testProxy(t, p)
	target := fmt.Sprintf("%s:%d", input.Host, input.Port)
	status, _, body := say(t, addr, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n")
	assert.Equal(t, expect.Allowed, status == 200, body)
	assert.Contains(t, body, expect.ReasonContains)
}

// defaultsOfTools are what installed tools would say of themselves.
func defaultsOfTools(_ context.Context, name string, args ...string) (string, error) {
	switch strings.Join(append([]string{name}, args...), " ") {
	case "npm config get registry":
		return "https://npm.default.test/", nil
	case "go env GOPROXY":
		return "https://goproxy.default.test,direct", nil
	case "go env GOSUMDB":
		return "gosum.default.test", nil
	}
	return "", errors.New("not installed")
}
