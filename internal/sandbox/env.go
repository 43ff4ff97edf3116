package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/netguard"
)

// EnvAllow are the variables that every command gets, on the host too (SPEC
// section 8). Everything else needs env.allow or a detected toolchain.
var EnvAllow = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"}

// ProxyPort is the port of lictor's proxy inside a sandbox.
const ProxyPort = 3128

// proxyURL is where clients inside a sandbox find the proxy.
const proxyURL = "http://127.0.0.1:3128"

// filterEnv returns the allowed part of environ, sorted by name, with HOME, PATH
// and TMPDIR made to fit the policy. Names are compared exactly; an entry without
// a name or with a NUL is dropped.
func filterEnv(environ, more []string, p *ExecPolicy) []string {
	allowed := map[string]bool{}
	for _, n := range EnvAllow {
		allowed[n] = true
	}
	for _, n := range more {
		allowed[n] = true
	}
	vals := map[string]string{}
	for _, kv := range environ {
		name, v, ok := strings.Cut(kv, "=")
		if ok && name != "" && allowed[name] && !strings.Contains(v, "\x00") {
			vals[name] = v
		}
	}
	vals["HOME"] = p.Home
	vals["PATH"] = cleanPath(vals["PATH"])
	if p.Sandbox {
		if dir := vals["TMPDIR"]; dir == "" || p.PrivateTemp != "" || !anyWithin(p.Temp, filepath.Clean(dir)) {
			delete(vals, "TMPDIR")
			if len(p.Temp) > 0 && p.Temp[0] != "/tmp" {
				vals["TMPDIR"] = p.Temp[0]
			}
		}
	}
	out := make([]string, 0, len(vals)+10)
	for k, v := range vals {
		out = append(out, k+"="+v)
	}
	if p.Proxy {
		// NO_PROXY stays empty: inside the sandbox localhost is the sandbox itself, and
		// a list would be a way around.
		out = netguard.WithEnv(out, proxyURL)
	}
	slices.Sort(out)
	return out
}

// defaultPath is used when the caller has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// cleanPath drops empty and relative entries: they mean the current folder, which
// the project's own files would fill.
func cleanPath(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	var keep []string
	for _, d := range filepath.SplitList(path) {
		if filepath.IsAbs(d) {
			keep = append(keep, d)
		}
	}
	if len(keep) == 0 {
		return defaultPath
	}
	return strings.Join(keep, string(os.PathListSeparator))
}
