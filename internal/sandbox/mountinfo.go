package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mountEntry is one line of /proc/self/mountinfo.
type mountEntry struct {
	device, root, point string
}

// parseMountinfo reads the format of proc(5). Lines that do not have it are left
// out.
func parseMountinfo(text string) []mountEntry {
	var out []mountEntry
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		out = append(out, mountEntry{f[2], unescapeMount(f[3]), unescapeMount(f[4])})
	}
	return out
}

// unescapeMount undoes the octal escapes of space, tab, newline and backslash.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountAliasesOf returns the other paths under which the same place of the same
// file system is mounted (a bind mount of a folder above or below it).
func mountAliasesOf(path string, mounts []mountEntry) []string {
	own := -1
	for i, m := range mounts {
		// A later line with the same point covers an earlier one.
		if within(path, m.point) && (own < 0 || len(m.point) >= len(mounts[own].point)) {
			own = i
		}
	}
	if own < 0 {
		return nil
	}
	place := filepath.Join(mounts[own].root, strings.TrimPrefix(path, mounts[own].point))
	var out []string
	for i, m := range mounts {
		if i == own || m.device != mounts[own].device {
			continue
		}
		switch {
		case within(place, m.root):
			rel := strings.TrimPrefix(place, m.root)
			if p := filepath.Join(m.point, rel); p != path {
				out = append(out, p)
			}
		case within(m.root, place):
			out = append(out, m.point) // a part of it is mounted elsewhere
		}
	}
	return out
}

// mountAliases records second mounts of unreadable and protected paths.
func (f *Facts) mountAliases(p *ExecPolicy) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return // not Linux
	}
	mounts := parseMountinfo(string(b))
	devices := map[string]int{}
	for _, m := range mounts {
		devices[m.device]++
	}
	twice := false
	for _, n := range devices {
		twice = twice || n > 1
	}
	if !twice {
		return
	}
	add := func(path string, unreadable bool) {
		path = f.real(path)
		if e, ok := f.Entries[path]; !ok {
			return
		} else if e.Target != "" {
			path = e.Target
		}
		for _, a := range mountAliasesOf(path, mounts) {
			if within(a, path) && unreadable {
				continue // below the mask already
			}
			if e, ok := f.look(a); ok && e.Kind != "link" {
				f.Aliases = append(f.Aliases, Alias{Of: path, Path: a, Why: "mount", Unreadable: unreadable})
			}
		}
	}
	for _, list := range [][]string{p.Unreadable, f.Denied} {
		for _, u := range list {
			add(u, true)
		}
	}
	for _, list := range [][]string{p.Protected, f.Found} {
		for _, q := range list {
			add(q, false)
		}
	}
}
