package netguard

import (
	"crypto/rand"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Env returns the environment variables ("NAME=value", sorted) that make common
// clients use the proxy at a URL like "http://127.0.0.1:3128" or
// "http://user:password@127.0.0.1:3128". For "" it is nil.
//
// NO_PROXY is empty on purpose: a list would be a way around. ALL_PROXY is the
// HTTP proxy, not socks5h: several Python clients fail at start if they see a
// SOCKS proxy without an extra package.
func Env(proxyURL string) []string { return WithEnv(nil, proxyURL) }

// WithEnv adds the variables of Env to an environment. Entries for the same
// variable in any letter case are dropped; options for Java tools and git's
// counted settings are added to those that are there. env is not changed.
func WithEnv(env []string, proxyURL string) []string {
	if proxyURL == "" {
		return slices.Clone(env)
	}
	out := make([]string, 0, len(env)+32)
	java := map[string]string{"MAVEN_OPTS": "", "GRADLE_OPTS": ""}
	gitCount := 0
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if _, ok := java[name]; ok {
			java[name] = value
			continue
		}
		if name == "GIT_CONFIG_COUNT" {
			// git itself refuses what is no number; then ours is the only setting.
			if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 10000 {
				gitCount = n
			}
			continue
		}
		if !proxyNames[strings.ToLower(name)] {
			out = append(out, kv)
		}
	}
	for _, name := range proxyVariables {
		out = append(out, name+"="+proxyURL)
	}
	for _, name := range emptyVariables {
		out = append(out, name+"=")
	}
	out = append(out, "NODE_USE_ENV_PROXY=1")
	options := javaOptions(proxyURL)
	for name, value := range java {
		out = append(out, name+"="+strings.TrimSpace(value+" "+options))
	}
	n := strconv.Itoa(gitCount)
	out = slices.DeleteFunc(out, func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_CONFIG_KEY_"+n+"=") || strings.HasPrefix(kv, "GIT_CONFIG_VALUE_"+n+"=")
	})
	out = append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(gitCount+1), "GIT_CONFIG_KEY_"+n+"=http.proxy", "GIT_CONFIG_VALUE_"+n+"="+proxyURL)
	slices.Sort(out)
	return out
}

// NewCredentials are random credentials for [Proxy].Credentials, for a proxy that
// listens where other programs can reach it.
func NewCredentials() string { return "lictor:" + rand.Text() }

// ProxyURL is the URL of a proxy for Env.
func ProxyURL(addr net.Addr, credentials string) string {
	u := url.URL{Scheme: "http", Host: addr.String()}
	if name, password, ok := strings.Cut(credentials, ":"); ok {
		u.User = url.UserPassword(name, password)
	}
	return u.String()
}

// proxyVariables hold the proxy's URL. Clients read the lower-case or the
// upper-case name, and package managers their own, which outranks their files.
var proxyVariables = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
	"npm_config_proxy", "npm_config_https_proxy",
	"YARN_HTTP_PROXY", "YARN_HTTPS_PROXY",
	"PIP_PROXY", "CARGO_HTTP_PROXY", "GLOBAL_AGENT_HTTP_PROXY",
}

// emptyVariables are exceptions from the proxy: there are none.
var emptyVariables = []string{"NO_PROXY", "no_proxy", "npm_config_noproxy", "GLOBAL_AGENT_NO_PROXY"}

// proxyNames are the variables above in lower case, and ftp_proxy, which the
// proxy does not serve.
var proxyNames = func() map[string]bool {
	out := map[string]bool{"ftp_proxy": true, "node_use_env_proxy": true}
	for _, list := range [][]string{proxyVariables, emptyVariables} {
		for _, name := range list {
			out[strings.ToLower(name)] = true
		}
	}
	return out
}()

// javaOptions are the system properties for Maven and Gradle. Maven's resolver
// reads them only if it is told to.
func javaOptions(proxyURL string) string {
	u, err := url.Parse(proxyURL)
	if err != nil || u.Port() == "" {
		return ""
	}
	var out []string
	for _, scheme := range []string{"http", "https"} {
		out = append(out, "-D"+scheme+".proxyHost="+u.Hostname(), "-D"+scheme+".proxyPort="+u.Port())
		if password, ok := u.User.Password(); ok {
			out = append(out, "-D"+scheme+".proxyUser="+u.User.Username(), "-D"+scheme+".proxyPassword="+password)
		}
	}
	return strings.Join(append(out, "-Dhttp.nonProxyHosts=", "-Daether.connector.http.useSystemProperties=true", "-Daether.transport.http.useSystemProperties=true"), " ")
}
