package netguard

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEnv(t *testing.T) {
	env := Env("http://127.0.0.1:3128")
	assert.True(t, slices.IsSorted(env))
	m := EnvMap(env)
	assert.Len(t, m, len(env))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "npm_config_https_proxy", "PIP_PROXY", "CARGO_HTTP_PROXY", "GIT_CONFIG_VALUE_0"} {
		assert.Equal(t, "http://127.0.0.1:3128", m[name], name)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy", "npm_config_noproxy"} {
		v, ok := m[name]
		assert.True(t, ok && v == "", name)
	}
	assert.Equal(t, "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 -Dhttp.nonProxyHosts= -Daether.connector.http.useSystemProperties=true -Daether.transport.http.useSystemProperties=true", m["MAVEN_OPTS"])
	assert.Contains(t, EnvMap(Env("http://u:p@127.0.0.1:3128"))["GRADLE_OPTS"], "-Dhttps.proxyUser=u -Dhttps.proxyPassword=p")
}

func TestWithEnv(t *testing.T) {
	given := []string{"A=1", "No_Proxy=*", "HTTPS_proxy=http://evil", "npm_config_proxy=x", "FTP_PROXY=x", "MAVEN_OPTS=-Xmx1g", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_KEY_1=http.proxy", "GIT_CONFIG_VALUE_1=http://evil", "NPM_CONFIG_NOPROXY=*"}
	before := slices.Clone(given)
	m := EnvMap(WithEnv(given, "http://p:1"))
	assert.Equal(t, before, given)
	assert.Equal(t, "1", m["A"])
	assert.True(t, strings.HasPrefix(m["MAVEN_OPTS"], "-Xmx1g -Dhttp.proxyHost=p "))
	assert.Equal(t, []string{"2", "a.b", "c", "http.proxy", "http://p:1"}, []string{m["GIT_CONFIG_COUNT"], m["GIT_CONFIG_KEY_0"], m["GIT_CONFIG_VALUE_0"], m["GIT_CONFIG_KEY_1"], m["GIT_CONFIG_VALUE_1"]})
	for name, value := range m {
		assert.NotContains(t, value, "evil", name)
		if strings.EqualFold(name, "no_proxy") || strings.EqualFold(name, "npm_config_noproxy") {
			assert.Empty(t, value, name)
		}
	}
	assert.Equal(t, given, WithEnv(given, ""))
	assert.Empty(t, Env(""))
	assert.Equal(t, "1", EnvMap(WithEnv([]string{"GIT_CONFIG_COUNT=x"}, "http://p:1"))["GIT_CONFIG_COUNT"])
}

func TestCredentialsInURL(t *testing.T) {
	one, two := NewCredentials(), NewCredentials()
	assert.NotEqual(t, one, two)
	addr := &net.TCPAddr{IP: net.IPv6loopback, Port: 80}
	assert.Equal(t, "http://[::1]:80", ProxyURL(addr, ""))
	assert.Equal(t, "http://"+one+"@[::1]:80", ProxyURL(addr, one))
}
