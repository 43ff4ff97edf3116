package netguard

import (
	"path/filepath"
	"strings"
)

// presetGo finds the module proxies, the checksum database, and the hosts of
// private modules, as the go command does: environment, then the user's file
// (go env -w), then the file of the installation, then the defaults.
func presetGo(f *finder) error {
	var o options
	for _, key := range []string{"GOENV", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY"} {
		if value := f.user.Env[key]; value != "" {
			o.set(option{key, value, key + " in the environment"})
		}
	}
	if path := f.goEnvFile(o); path != "" {
		if err := f.readINI(&o, path, false); err != nil {
			return err
		}
	}
	for _, root := range f.goRoots() {
		if err := f.readINI(&o, filepath.Join(root, "go.env"), false); err != nil {
			return err
		}
	}
	f.goProxy(o)
	f.goSum(o)
	private, ok := o.get("GONOPROXY")
	if !ok {
		private, ok = o.get("GOPRIVATE")
	}
	if ok {
		f.goPrivate(private)
	}
	return nil
}

// goEnvFile is the user's file, "" if it is turned off.
func (f *finder) goEnvFile(o options) string {
	if x, ok := o.get("GOENV"); ok {
		if !filepath.IsAbs(x.value) {
			return "" // "off", and what go refuses
		}
		return x.value
	}
	return filepath.Join(f.user.configDir(), "go", "env")
}

// goRoots are the places of an installation, the first that exists counts most.
func (f *finder) goRoots() []string {
	if root := f.user.Env["GOROOT"]; filepath.IsAbs(root) {
		return []string{root}
	}
	return []string{f.user.system("/usr/local/go"), f.user.system("/usr/lib/go"), f.user.system("/usr/lib/golang")}
}

const (
	goProxyDefault = "proxy.golang.org"
	goSumDefault   = "sum.golang.org"
)

// goProxy adds the hosts of GOPROXY, a list separated by "," or "|".
func (f *finder) goProxy(o options) {
	x, ok := o.get("GOPROXY")
	if !ok {
		f.builtIn(goProxyDefault)
		return
	}
	for _, value := range strings.FieldsFunc(x.value, func(r rune) bool { return r == ',' || r == '|' }) {
		value = strings.TrimSpace(value)
		switch {
		case value == "", value == "off", value == "direct", strings.HasPrefix(value, "file:"):
			continue
		case value == goProxyDefault, value == "https://"+goProxyDefault:
			f.builtIn(goProxyDefault) // as the file of the installation has it
			continue
		case !strings.Contains(value, ":/"):
			value = "https://" + value
		}
		f.url(value, x.source)
	}
}

// goSum adds the host of GOSUMDB: "off", "name", "name+key" or "name+key url".
func (f *finder) goSum(o options) {
	x, ok := o.get("GOSUMDB")
	fields := strings.Fields(x.value)
	switch {
	case !ok || len(fields) == 0 || len(fields) == 1 && fields[0] == goSumDefault:
		f.builtIn(goSumDefault)
	case fields[0] == "off":
	case len(fields) > 1:
		value := fields[1]
		if !strings.Contains(value, ":/") {
			value = "https://" + value
		}
		f.url(value, x.source)
	default:
		name, _, _ := strings.Cut(fields[0], "+")
		f.url("https://"+name, x.source)
	}
}

// goPrivate adds the hosts of module patterns ("git.example.com/team/*"): go
// fetches these modules from where their path says. What is no host or
// "*.example.com" is left out.
func (f *finder) goPrivate(x option) {
	for pattern := range strings.SplitSeq(x.value, ",") {
		host, _, _ := strings.Cut(strings.TrimSpace(pattern), "/")
		if host == "" || host == "none" {
			continue
		}
		p, err := ParsePattern(host, x.source)
		switch {
		case err != nil || p.Never() || strings.ContainsAny(host, "?[\\"):
			f.note(x.source, "a pattern that is no host: left out")
		case p.Exact() != "":
			if !strings.Contains(p.Exact(), ".") {
				f.note(x.source, "a pattern that is no host: left out")
				continue
			}
			f.name(p.Exact(), x.source)
		default:
			f.add(ListedHost{Pattern: "*" + p.Suffix(), Entry: f.entry, Source: x.source})
		}
	}
}
