package sandbox

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sandboxExec is macOS's own program; never one from PATH.
const sandboxExec = "/usr/bin/sandbox-exec"

// Profile is a Seatbelt profile: its text and the parameters that it refers to.
// Paths are parameters, never part of the text.
type Profile struct {
	Text   string
	Params [][2]string
}

// Argv is the command line of sandbox-exec for a command.
func (p Profile) Argv(command []string) []string {
	a := []string{sandboxExec, "-p", p.Text}
	for _, kv := range p.Params {
		a = append(a, "-D", kv[0]+"="+kv[1])
	}
	return append(append(a, "--"), command...)
}

// SeatbeltProfile renders a plan as a Seatbelt profile (SPEC section 8). The last
// matching rule wins, but an allow with require-all may beat a plain deny, so what
// is protected is an exclusion inside the allow and a deny after it. Each folder
// above a protected or hidden path may not be unlinked, or it could be moved aside.
// proxyPort is lictor's port on the loopback interface, 0 for none.
func SeatbeltProfile(p *ExecPolicy, pl *Plan, proxyPort int) Profile {
	b := &profile{}
	b.line("(version 1)")
	b.line("(deny default)")
	b.line("(allow process-exec process-fork)")
	b.line("(allow signal process-info* (target same-sandbox))")
	b.line("(allow sysctl-read ipc-posix-sem pseudo-tty)")
	b.line(`(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.cfprefsd.daemon") (global-name "com.apple.cfprefsd.agent") (global-name "com.apple.PowerManagement.control"))`)
	b.line(`(allow file-read*)`)
	b.line(`(allow file-write-data file-ioctl (require-all (vnode-type CHARACTER-DEVICE) (require-any (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$") (literal "/dev/ptmx"))))`)
	var write, read, hidden []string
	for _, m := range pl.Mounts {
		switch m.Kind {
		case Write:
			w := m.Path
			if m.Source != "" {
				w = m.Source
			}
			write = append(write, w)
		case Read:
			read = append(read, m.Path)
		case Mask:
			hidden = append(hidden, m.Path)
		}
	}
	read = unique(append(read, missingProtected(p, write)...))
	b.writes(p, write, read, hidden)
	b.denials(p, write, read, hidden)
	b.network(p, pl, proxyPort)
	return Profile{Text: strings.Join(b.lines, "\n") + "\n", Params: b.params}
}

// missingProtected are protected paths below writable folders that do not exist:
// a profile protects names, so they need no placeholder.
func missingProtected(p *ExecPolicy, write []string) []string {
	var out []string
	for _, q := range p.Protected {
		for _, w := range write {
			if within(q, w) && q != w {
				out = append(out, q)
			}
		}
	}
	return out
}

type profile struct {
	lines  []string
	params [][2]string
	names  map[string]string
}

func (b *profile) line(s string) { b.lines = append(b.lines, s) }

// param returns the reference to a path.
func (b *profile) param(path string) string {
	if b.names == nil {
		b.names = map[string]string{}
	}
	n, ok := b.names[path]
	if !ok {
		n = fmt.Sprintf("P%d", len(b.params))
		b.names[path] = n
		b.params = append(b.params, [2]string{n, path})
	}
	return `(param "` + n + `")`
}

func (b *profile) writes(p *ExecPolicy, write, read, hidden []string) {
	for _, w := range write {
		out := "(allow file-write* (require-all (subpath " + b.param(w) + ")"
		for _, x := range slices.Concat(read, hidden) {
			if within(x, w) && x != w {
				out += "\n  (require-not (literal " + b.param(x) + ")) (require-not (subpath " + b.param(x) + "))"
			}
		}
		for _, re := range nameRegexps(p, w) {
			out += "\n  (require-not (regex " + re + "))"
		}
		b.line(out + "))")
	}
}

// nameRegexps protect names at any depth below a folder, existing or not.
func nameRegexps(p *ExecPolicy, dir string) []string {
	if dir != p.Root {
		return nil
	}
	var out []string
	at := "^" + regexp.QuoteMeta(dir) + "/(.*/)?"
	for _, n := range p.ProtectedNames {
		out = append(out, quoteRegexp(at+insensitive(n)+"(/.*)?$"))
	}
	git := `[.][gG][iI][tT]`
	if p.Strict {
		return append(out, quoteRegexp(at+git+"(/.*)?$"))
	}
	return append(out,
		quoteRegexp(at+git+"/((modules|worktrees)/.*/)?(hooks|config|config[.]worktree|commondir|modules|worktrees)(/.*)?$"))
}

// insensitive makes a name match in any letter case: the usual macOS file system
// does not tell them apart (CVE-2025-59944).
func insensitive(name string) string {
	var b strings.Builder
	for _, r := range name {
		lo, up := strings.ToLower(string(r)), strings.ToUpper(string(r))
		switch {
		case lo != up:
			b.WriteString("[" + lo + up + "]")
		case r == '.':
			b.WriteString("[.]")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// quoteRegexp writes a regular expression literal of the profile language.
func quoteRegexp(re string) string { return `#"` + strings.ReplaceAll(re, `"`, `[\"]`) + `"` }

func (b *profile) denials(p *ExecPolicy, write, read, hidden []string) {
	for _, h := range hidden {
		b.line("(deny file-read* file-write* (literal " + b.param(h) + ") (subpath " + b.param(h) + "))")
	}
	var above []string
	for _, x := range slices.Concat(read, hidden) {
		for dir := x; dir != "/" && dir != "."; dir = path.Dir(dir) {
			if slices.Contains(write, dir) && dir != x {
				break
			}
			above = append(above, dir)
		}
	}
	for _, dir := range unique(above) {
		b.line("(deny file-write-unlink (literal " + b.param(dir) + "))")
	}
	_ = p
}

func (b *profile) network(p *ExecPolicy, pl *Plan, proxyPort int) {
	switch {
	case pl.Network == "host":
		b.line("(allow network*)")
		b.line("(allow system-socket)")
	case pl.Network == "proxy" && proxyPort > 0:
		b.line(fmt.Sprintf(`(allow network-outbound (remote ip "localhost:%d"))`, proxyPort))
		b.line("(allow system-socket (require-all (socket-domain AF_INET) (socket-type SOCK_STREAM)))")
	}
	if p.UnixSockets {
		b.line("(allow network* (local unix-socket (subpath " + b.param(pl.Root) + ")))")
	}
}
