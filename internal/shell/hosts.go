package shell

import (
	"slices"
	"strings"
)

// hostSpec says which operands of a program are hosts.
type hostSpec uint8

const (
	noHosts hostSpec = iota
	// firstHost: the first operand; allHosts: every operand; copyHosts: user@host:path.
	firstHost
	allHosts
	copyHosts
)

// hostTable has one line per kind of program with hosts as operands.
var hostTable = []struct {
	names string
	hostSpec
}{
	{"ssh autossh mosh sftp telnet nc ncat netcat rsh rlogin ssh-copy-id ftp tftp whois socket", firstHost},
	{"ping ping6 dig nslookup host traceroute tracepath mtr nmap ssh-keyscan curl wget aria2c http https xh fping", allHosts},
	{"scp rsync", copyHosts},
}

// hostOptions are the options of those programs that take an argument.
var hostOptions = map[string]optSpec{
	"curl": {arg: "AbcCdDeEFhHKmoPQrTuUwxXyYzt", long: curlArgs},
	"wget": {arg: "OoaePUAiRDItwTlQB", long: "output-document output-file append-output directory-prefix input-file post-file body-file post-data body-data load-cookies save-cookies certificate private-key user-agent header execute tries timeout referer user password method"},
	"ssh":  {arg: "BbcDEeFIiJLlmOoPpQRSWw"},
	"sftp": {arg: "BbcDFiJloPRSsX"},
	"nc":   {arg: "ecpswxXqiIOTVgmdG"},
	"ncat": {arg: "ecpswxXqiIOTVgmdG"},
	"ping": {arg: "cistwWIQSlmMp"},
	"dig":  {arg: "bcfkpqtxy"},
	"nmap": {arg: "psSoTeDgiL", long: "script script-args exclude top-ports"},
}

// hosts records the hosts that the words name.
func (w *walker) hosts(words []word, base string, prog *program) {
	for i := 1; i < len(words); i++ {
		if s := words[i].val; strings.Contains(s, "://") {
			w.a.urlHost(s, words[i].is(wStatic))
		} else if base == "git" && strings.IndexByte(s, ':') > 0 && strings.IndexByte(s, '@') > 0 {
			w.a.copyHost(s)
		}
	}
	if base == "openssl" {
		for i := 1; i+1 < len(words); i++ {
			if words[i].val == "-connect" {
				w.a.addHost(words[i+1].val)
			}
		}
	}
	if prog == nil || prog.hosts == noHosts {
		return
	}
	o := opts{optSpec: hostOptions[base], words: words[1:]}
	for name, kind := o.next(); kind != optEnd; name, kind = o.next() {
		if kind == optOption {
			switch name {
			case "-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname", "--socks4", "-J", "--connect-to":
				if o.has && (base == "curl" || name == "-J") {
					w.a.addHost(o.value.val)
				}
			case "--resolve":
				if parts := strings.Split(o.value.val, ":"); o.has && len(parts) > 2 {
					w.a.addHost(parts[0])
					w.a.addHost(parts[2])
				}
			case "--url":
				w.a.addHost(o.value.val)
			}
			continue
		}
		v := o.value.val
		switch {
		case strings.Contains(v, "://"):
		case prog.hosts == copyHosts:
			w.a.copyHost(v)
			continue
		case !o.value.is(wStatic):
			// curl "example.com/$x": the host is known if a slash follows it.
			if i := strings.IndexByte(v, '/'); i > 0 {
				w.a.addHost(v[:i])
			}
		case base == "dig" && strings.HasPrefix(v, "@"):
			w.a.addHost(v[1:])
		case base == "dig" && strings.HasPrefix(v, "+"):
		default:
			w.a.addHost(v)
		}
		if prog.hosts == firstHost {
			return
		}
	}
}

// urlHost finds the URL in a word: at its start or behind `=`.
func (a *analysis) urlHost(s string, static bool) {
	i := strings.Index(s, "://")
	from := i
	for from > 0 && (nameStart(s[from-1]) || s[from-1] >= '0' && s[from-1] <= '9' || strings.IndexByte("+.-", s[from-1]) >= 0) {
		from--
	}
	if from > 0 && s[from-1] != '=' && s[from-1] != '@' && s[from-1] != ':' {
		return
	}
	rest := s[i+3:]
	if k := strings.IndexAny(rest, "/?#"); k >= 0 {
		rest = rest[:k]
	} else if !static {
		return // the host goes on in an expansion
	}
	a.addHost(rest)
}

func (a *analysis) copyHost(s string) {
	if head, _, ok := strings.Cut(s, ":"); ok && strings.IndexByte(head, '/') < 0 && len(head) > 1 {
		a.addHost(head)
	}
}

// netRedirect: /dev/tcp/HOST/PORT is a connection.
func (w *walker) netRedirect(v *word) {
	for _, pre := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(v.val, pre); ok {
			host, _, full := strings.Cut(rest, "/")
			if full || v.is(wStatic) {
				w.a.addHost(host)
			}
		}
	}
}

// addHost records a host in its plain form: no user, port, brackets, path or
// trailing dot, lower case.
func (a *analysis) addHost(s string) {
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			s = s[1:i]
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 && strings.Count(s, ":") == 1 {
		s = s[:i]
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || strings.HasPrefix(s, "-") || a.light || len(a.c.Hosts) >= 256 {
		return
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || strings.IndexByte("\"'`$\\(){}<>|;&*!,=", s[i]) >= 0 {
			return
		}
	}
	if !slices.Contains(a.c.Hosts, s) {
		a.c.Hosts = append(a.c.Hosts, s)
	}
}
