package netguard

import (
	"net/url"
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
	if err := f.goDefaults(&o); err != nil {
		return err
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

// goProxy adds the hosts of GOPROXY, a list separated by "," or "|".
func (f *finder) goProxy(o options) {
	x, _ := o.get("GOPROXY")
	for _, value := range strings.FieldsFunc(x.value, func(r rune) bool { return r == ',' || r == '|' }) {
		value = strings.TrimSpace(value)
		switch {
		case value == "", value == "off", value == "direct", strings.HasPrefix(value, "file:"):
			continue
		case !strings.Contains(value, ":/"):
			value = "https://" + value
		}
		f.goHost(value, x)
	}
}

// goSum adds the host of GOSUMDB: "off", "name", "name+key" or "name+key url".
func (f *finder) goSum(o options) {
	x, _ := o.get("GOSUMDB")
	fields := strings.Fields(x.value)
	switch {
	case len(fields) == 0, fields[0] == "off":
	case len(fields) > 1:
		value := fields[1]
		if !strings.Contains(value, ":/") {
			value = "https://" + value
		}
		f.goHost(value, x)
	default:
		name, _, _ := strings.Cut(fields[0], "+")
		f.goHost("https://"+name, x)
	}
}

// goHost adds the host of a URL. What go itself brings along is a public host;
// what the user configured may be a private one.
func (f *finder) goHost(value string, x option) {
	if !strings.HasSuffix(x.source, goOwn) {
		f.url(value, x.source)
		return
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" {
		f.note(x.source, "no http address: left out")
		return
	}
	f.builtIn(strings.ToLower(u.Hostname()))
}

// goOwn marks what comes with the installation of go.
const goOwn = " (go's own)"

// goDefaults fills in what neither the environment nor the user's file says: from
// the file of the installation, else from the go command.
func (f *finder) goDefaults(o *options) error {
	var own options
	for _, root := range f.goRoots() {
		if err := f.readINI(&own, filepath.Join(root, "go.env"), false); err != nil {
			return err
		}
	}
	for _, key := range []string{"GOPROXY", "GOSUMDB"} {
		if _, there := o.get(key); there {
			continue
		}
		if x, there := own.get(key); there {
			o.set(option{key, x.value, x.source + goOwn})
			continue
		}
		value, err := f.user.ask("go", "env", key)
		if err != nil || value == "" {
			f.note("go", "no "+key+" is configured, and go could not be asked for its own: no host")
			continue
		}
		o.set(option{key, value, "go env " + key + goOwn})
	}
	return nil
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
