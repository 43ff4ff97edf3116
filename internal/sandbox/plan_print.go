package sandbox

import (
	"fmt"
	"strings"
)

// String renders a plan as a readable list, in the order in which it is carried
// out.
func (pl *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "root     %s\nnetwork  %s\n", pl.Root, pl.Network)
	fmt.Fprintf(&b, "%-9s%s\n", "read", "/  (everything else, read-only)")
	for _, m := range pl.Mounts {
		path := m.Path
		if m.Source != "" {
			path += "  <-  " + m.Source
		}
		if m.Link {
			path += "  (the link itself)"
		}
		fmt.Fprintf(&b, "%-9s%s  (%s)\n", m.Kind, path, m.Why)
	}
	for _, h := range pl.Placeholders {
		fmt.Fprintf(&b, "%-9s%s  (while a command runs)\n", "reserve", h.Path)
	}
	for _, c := range pl.Create {
		fmt.Fprintf(&b, "%-9s%s\n", "create", c)
	}
	for _, l := range limitLines(pl.Limits) {
		fmt.Fprintf(&b, "%-9s%s\n", "limit", l)
	}
	for _, n := range pl.Notices {
		fmt.Fprintf(&b, "%-9s%s\n", "notice", n)
	}
	for _, g := range pl.Gaps {
		fmt.Fprintf(&b, "%-9s%s\n", "gap", g)
	}
	return b.String()
}

func limitLines(l Limits) []string {
	var out []string
	add := func(ok bool, format string, v any) {
		if ok {
			out = append(out, fmt.Sprintf(format, v))
		}
	}
	add(l.Pids > 0, "%d processes", l.Pids)
	add(l.Memory > 0, "%d bytes of memory", l.Memory)
	add(l.FileSize > 0, "%d bytes per file", l.FileSize)
	add(l.OpenFiles > 0, "%d open files", l.OpenFiles)
	add(l.CPU > 0, "%s of processor time", l.CPU)
	return out
}
