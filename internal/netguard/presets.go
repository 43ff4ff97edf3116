package netguard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Presets are the names that network.allow knows besides hosts, sorted.
var Presets = []string{"cargo", "github", "go", "maven", "npm", "pypi"}

// The values of ListedHost.Source that are no file and no variable.
const (
	SourceBuiltIn  = "built in"
	SourceSettings = "network.allow"
)

// Resolved is what the entries of network.allow stand for on this machine.
type Resolved struct {
	// Hosts are in the order of the entries, each pattern once.
	Hosts []ListedHost `json:"hosts"`
	// Notes say in one line each what the user's configuration names but the proxy
	// cannot serve, and why.
	Notes []string `json:"notes,omitempty"`
	// files are the configuration files that were looked at, read or missing.
	files []fileStamp
}

// Names are the patterns in order, for showing and pinning.
func (r Resolved) Names() []string {
	out := make([]string, len(r.Hosts))
	for i, h := range r.Hosts {
		out[i] = h.Pattern
	}
	return out
}

// List indexes the hosts.
func (r Resolved) List() (List, error) { return NewList(r.Hosts) }

// Hash is a hash of what the list opens: patterns and whether they may be
// non-public, whatever their order and source.
func (r Resolved) Hash() string {
	type opened struct {
		Pattern   string
		NonPublic bool
	}
	list := make([]opened, len(r.Hosts))
	for i, h := range r.Hosts {
		list[i] = opened{h.Pattern, h.NonPublic}
	}
	slices.SortFunc(list, func(a, b opened) int { return strings.Compare(a.Pattern, b.Pattern) })
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings and booleans always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Lines explain the list for people, one line a host:
//
//	npm.example.com  npm, from registry in ~/.npmrc (may be a private address)
func (r Resolved) Lines() []string {
	width := 0
	for _, h := range r.Hosts {
		width = max(width, len(h.Pattern))
	}
	var out []string
	for _, h := range r.Hosts {
		line := fmt.Sprintf("%-*s  ", width, h.Pattern)
		switch h.Source {
		case SourceSettings:
			line += "from network.allow"
		case SourceBuiltIn:
			line += h.Entry + ", built in"
		default:
			line += h.Entry + ", from " + h.Source
		}
		if h.NonPublic {
			line += " (may be a private address)"
		}
		out = append(out, line)
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// preset finds the hosts of a tool.
type preset func(*finder) error

var presetTable = map[string]preset{
	"npm": presetNPM, "go": presetGo, "pypi": presetPyPI, "maven": presetMaven, "cargo": presetCargo, "github": presetGitHub,
}

// Resolve turns the entries of network.allow into hosts: presets by the user's
// own configuration of the tool, host patterns as they are. It reads files and
// the given environment only; no program runs, and no file of a project is read.
// What is in the configuration but of no use to the proxy becomes a note.
//
// Errors: an entry that is neither a preset nor a host (a settings error), a
// configuration file that cannot be read or understood, a context that ended.
func Resolve(ctx context.Context, entries []string, user UserConfig) (Resolved, error) {
	f := &finder{user: user}
	for _, text := range entries {
		if err := ctx.Err(); err != nil {
			return Resolved{}, err
		}
		name := strings.ToLower(strings.TrimSpace(text))
		if find, ok := presetTable[name]; ok {
			f.entry = name
			if err := find(f); err != nil {
				return Resolved{}, err
			}
			continue
		}
		h, err := listedEntry(text)
		if err != nil {
			return Resolved{}, err
		}
		f.add(h)
	}
	return Resolved{Hosts: f.hosts, Notes: f.notes, files: f.files}, nil
}

// listedEntry reads an entry that is no preset.
func listedEntry(text string) (ListedHost, error) {
	p, err := ParsePattern(text, "network.allow")
	if err != nil {
		return ListedHost{}, err
	}
	presets := strings.Join(Presets, ", ")
	if p.Never() {
		return ListedHost{}, fmt.Errorf("network.allow: %q matches nothing: name a host, *.example.com for its subdomains, or a preset (%s)", text, presets)
	}
	name := p.Exact()
	if name == "" {
		return ListedHost{Pattern: "*" + p.Suffix(), Entry: "*" + p.Suffix(), Source: SourceSettings}, nil
	}
	if endsInNumber(name) || strings.Contains(name, ":") {
		return ListedHost{}, fmt.Errorf("network.allow: %q is an address: only host names are allowed", text)
	}
	if !strings.Contains(name, ".") && name != "localhost" {
		return ListedHost{}, fmt.Errorf("network.allow: %q is neither a preset (%s) nor a host with a dot", text, presets)
	}
	return ListedHost{Pattern: name, Entry: name, Source: SourceSettings, NonPublic: true}, nil
}

// finder collects hosts.
type finder struct {
	user  UserConfig
	entry string
	hosts []ListedHost
	notes []string
	files []fileStamp
}

// add appends a host once. If it comes twice, the more open one counts.
func (f *finder) add(h ListedHost) {
	for i := range f.hosts {
		if f.hosts[i].Pattern == h.Pattern {
			if h.NonPublic && !f.hosts[i].NonPublic {
				f.hosts[i] = h
			}
			return
		}
	}
	f.hosts = append(f.hosts, h)
}

// builtIn adds public hosts.
func (f *finder) builtIn(hosts ...string) {
	for _, h := range hosts {
		f.add(ListedHost{Pattern: h, Entry: f.entry, Source: SourceBuiltIn})
	}
}

// note records what is left out. A value is never shown: it can hold a password.
func (f *finder) note(source, text string) {
	if n := source + ": " + text; !slices.Contains(f.notes, n) {
		f.notes = append(f.notes, n)
	}
}

// url adds the host of a web address in the user's configuration; source names
// its place.
func (f *finder) url(value, source string) {
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		f.note(source, "no http address: left out")
		return
	}
	f.name(u.Hostname(), source)
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		if n, err := strconv.Atoi(port); err == nil {
			f.note(source, fmt.Sprintf("port %d is closed: only ports 80 and 443 are open", n))
		}
	}
}

// name adds a host of the user's configuration.
func (f *finder) name(host, source string) {
	h, err := NormalizeHost(host)
	switch {
	case err != nil:
		f.note(source, "no valid host: left out")
	case h.IP != "":
		f.note(source, "left out: the proxy takes host names, not the address "+h.IP)
	default:
		f.add(ListedHost{Pattern: h.Host, Entry: f.entry, Source: source, NonPublic: true})
	}
}

// presetGitHub is the fixed list: pages, API, archives, raw files, releases and
// large files.
func presetGitHub(f *finder) error {
	f.builtIn("github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com",
		"objects.githubusercontent.com", "release-assets.githubusercontent.com", "media.githubusercontent.com")
	return nil
}
