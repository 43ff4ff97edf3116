package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Kind says what a mount does.
type Kind string

// The kinds of mount, weakest first: of two for the same path the stronger wins.
const (
	// Write makes a folder or file writable.
	Write Kind = "write"
	// Pin keeps a folder in place without changing what may be done in it.
	Pin Kind = "pin"
	// Read makes a path inside a writable folder read-only.
	Read Kind = "read"
	// Mask hides a path.
	Mask Kind = "mask"
	// Proc, Dev and Empty are the system folders: a fresh /proc, a minimal /dev, an
	// empty in-memory folder.
	Proc  Kind = "proc"
	Dev   Kind = "dev"
	Empty Kind = "empty"
)

var strength = map[Kind]int{Write: 1, Pin: 2, Read: 3, Mask: 4}

// Mount is one step of a plan.
type Mount struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	// Source is the host's folder that appears at Path, if it is another.
	Source string `json:"source,omitempty"`
	// File: Path is not a folder. Link: Path is a symbolic link that is pinned
	// itself.
	File bool `json:"file,omitempty"`
	Link bool `json:"link,omitempty"`
	// Holes are mount points to make inside an empty or masked folder, relative to
	// Path; those that end with "/" are folders.
	Holes []string `json:"holes,omitempty"`
	Why   string   `json:"why"`
}

// Placeholder is a file or folder that is made before the command starts because
// its name must not appear by itself, and removed afterwards.
type Placeholder struct {
	Path string `json:"path"`
	Dir  bool   `json:"dir"`
	// Content of a file.
	Content string `json:"content,omitempty"`
}

// Plan is what an executor carries out, in order: first "/" becomes read-only, then
// every mount from the first to the last. It is a pure function of an ExecPolicy
// and Facts.
type Plan struct {
	Root   string  `json:"root"`
	Mounts []Mount `json:"mounts"`
	// Create are folders made before the start and kept; MountPoints are made in
	// private temp folders.
	Create       []string      `json:"create,omitempty"`
	MountPoints  []string      `json:"mountPoints,omitempty"`
	Placeholders []Placeholder `json:"placeholders,omitempty"`
	// Watch are paths whose identity and content must be the same after the run.
	Watch []string `json:"watch,omitempty"`
	// Network is "none", "proxy" or "host".
	Network     string   `json:"network"`
	UnixSockets bool     `json:"unixSockets"`
	Limits      Limits   `json:"limits"`
	Env         []string `json:"env"`
	// Notices are for a person; Gaps are what a degraded executor cannot hold.
	Notices []string `json:"notices,omitempty"`
	Gaps    []string `json:"gaps,omitempty"`
}

// planner collects mounts by path.
type planner struct {
	p      *ExecPolicy
	f      *Facts
	root   string
	mounts map[string]*Mount
	plan   *Plan
	// temps are private temp folders; shown are the paths below them that are
	// visible.
	temps, shown []string
}

// MakePlan turns a policy and the facts into a plan. Errors: a root in a system
// folder, a root that is hidden by the policy.
func MakePlan(p *ExecPolicy, f *Facts) (*Plan, error) {
	pl := &planner{p: p, f: f, root: f.real(p.Root), mounts: map[string]*Mount{}}
	pl.plan = &Plan{
		Root: pl.root, Network: "none", UnixSockets: p.UnixSockets, Limits: p.Limits, Env: slices.Clone(p.Env),
		Notices: slices.Clone(f.Notices),
	}
	switch {
	case p.Network:
		pl.plan.Network = "host"
	case p.Proxy:
		pl.plan.Network = "proxy"
	}
	for _, s := range systemFolders {
		if within(pl.root, s) {
			return nil, fmt.Errorf("exec policy: root %q lies in %s, which a sandbox replaces; move the project", pl.root, s)
		}
	}
	if e, ok := f.Entries[pl.root]; !ok || e.Kind != "dir" {
		return nil, fmt.Errorf("exec policy: root %q is not a folder", pl.root)
	}
	pl.writable()
	pl.protect()
	pl.hide()
	if err := pl.order(); err != nil {
		return nil, err
	}
	return pl.plan, nil
}

// systemFolders cannot hold writable paths.
var systemFolders = []string{"/proc", "/dev", "/sys"}

// writable adds the writable folders and the temp folders.
func (pl *planner) writable() {
	for i, t := range pl.p.Temp {
		real := pl.target(t)
		if e, ok := pl.f.Entries[real]; !ok || e.Kind != "dir" || pl.mounts[real] != nil {
			continue
		}
		if pl.p.PrivateTemp == "" {
			pl.add(Mount{Kind: Write, Path: real, Why: "temp folder"})
			continue
		}
		src := filepath.Join(pl.p.PrivateTemp, fmt.Sprintf("temp%d", i))
		pl.plan.MountPoints = append(pl.plan.MountPoints, src+"/")
		pl.add(Mount{Kind: Write, Path: real, Source: src, Why: "temp folder of this project"})
		pl.temps = append(pl.temps, real)
	}
	for _, t := range pl.temps {
		for _, shown := range []string{pl.root, pl.f.real(pl.p.Home)} {
			if rel, ok := strings.CutPrefix(shown, t+"/"); ok {
				first, _, _ := strings.Cut(rel, "/")
				dir := filepath.Join(t, first)
				pl.shown = append(pl.shown, dir)
				if dir != pl.root || pl.p.ReadOnlyRoot {
					pl.add(Mount{Kind: Read, Path: dir, Why: "around the root or the home folder, in a temp folder"})
				}
			}
		}
	}
	for _, c := range pl.p.Create {
		real := pl.f.real(c)
		if _, ok := pl.f.Entries[real]; !ok && !pl.p.ReadOnlyRoot {
			pl.plan.Create = append(pl.plan.Create, real)
		}
	}
	for _, w := range pl.p.Write {
		pl.addWrite(w)
	}
}

func (pl *planner) addWrite(w string) {
	real := pl.target(w)
	e, ok := pl.f.Entries[real]
	switch {
	case slices.Contains(pl.plan.Create, real):
		e = Entry{Kind: "dir"}
	case !ok:
		if slices.Contains(pl.p.named, w) {
			pl.plan.Notices = append(pl.plan.Notices, fmt.Sprintf("sandbox.writePaths: %s does not exist, so commands cannot write there: make it first", w))
		}
		return // the command could not create it either
	}
	for _, s := range append([]string{"/run"}, systemFolders...) {
		if within(real, s) && (s != "/run" || real == "/run") {
			pl.plan.Notices = append(pl.plan.Notices, fmt.Sprintf("%s stays read-only: it lies in %s", w, s))
			return
		}
	}
	if e.Kind == "other" {
		return // a socket or device gets no writer
	}
	if q := pl.protectedBy(real); q != "" {
		pl.plan.Notices = append(pl.plan.Notices, fmt.Sprintf("%s stays read-only: it lies in %s, which is protected", w, q))
		return
	}
	why := "writable"
	if real == pl.root {
		why = "the root"
	}
	for _, t := range pl.temps {
		if within(real, t) && real != t && !anyWithin(pl.shown, real) {
			pl.shown = append(pl.shown, real)
		}
	}
	pl.add(Mount{Kind: Write, Path: real, File: e.Kind != "dir", Why: why})
}

// protectedBy returns the protected path that a write path lies in. The root of
// plan mode is one; what is written besides it must not be in it.
func (pl *planner) protectedBy(path string) string {
	for _, q := range pl.p.Protected {
		if real := pl.target(q); within(path, real) && path != pl.root {
			return q
		}
	}
	return ""
}

// target is where a policy path leads in the end.
func (pl *planner) target(path string) string {
	real := pl.f.real(path)
	if e := pl.f.Entries[real]; e.Kind == "link" && e.Target != "" {
		return e.Target
	}
	return real
}

// add records a mount; of two for one path the stronger stays.
func (pl *planner) add(m Mount) {
	if old := pl.mounts[m.Path]; old != nil && strength[old.Kind] >= strength[m.Kind] {
		return
	} else if old != nil && old.Source != "" && m.Source == "" && m.Kind == Pin {
		return
	}
	pl.mounts[m.Path] = &m
}

// writer returns the deepest writable mount that holds path, or "".
func (pl *planner) writer(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if m := pl.mounts[dir]; m != nil && m.Kind == Write && !slices.Contains(pl.temps, dir) {
			return dir
		} else if m != nil && (m.Kind == Read && dir != path || slices.Contains(pl.temps, dir)) {
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// protect makes what must not change read-only.
func (pl *planner) protect() {
	for i := range pl.f.Repos {
		pl.protectRepo(&pl.f.Repos[i], i)
	}
	for _, q := range pl.p.Protected {
		if !pl.gitInner(q) && pl.f.real(q) != pl.root {
			pl.readOnly(pl.f.real(q), "protected")
		}
	}
	for _, q := range pl.f.Found {
		pl.readOnly(q, "protected name")
	}
	for _, d := range pl.f.PathDirs {
		if w := pl.writer(d); w != "" && d != pl.root && !within(pl.root, d) {
			pl.readOnly(d, "a folder of PATH")
		}
	}
	for _, a := range pl.f.Aliases {
		if !a.Unreadable {
			pl.readOnly(a.Path, a.Why+" of "+a.Of)
		}
	}
	if pl.f.Self != "" {
		pl.readOnly(pl.f.Self, "lictor itself")
	}
	if pl.mounts[pl.root] == nil || pl.mounts[pl.root].Kind != Write {
		return
	}
	for _, n := range reservedNames {
		path := filepath.Join(pl.root, n)
		if _, there := pl.f.Entries[path]; !there {
			pl.reserve(path, true, "")
		}
	}
}

// gitInner reports a protected path inside a git folder: protectRepo decides about
// those with the repository in view.
func (pl *planner) gitInner(path string) bool {
	return within(path, filepath.Join(pl.p.Root, ".git")) && filepath.Base(path) != ".git"
}

// readOnly protects one path and pins the folders above it. A link is pinned itself
// and what it leads to is protected.
func (pl *planner) readOnly(path, why string) {
	e, ok := pl.f.Entries[path]
	if !ok {
		return
	}
	if e.Kind == "link" {
		if w := pl.writer(filepath.Dir(path)); w != "" {
			pl.add(Mount{Kind: Read, Path: path, Link: true, File: true, Why: why})
			pl.pinAbove(path, w)
			pl.plan.Watch = append(pl.plan.Watch, path)
		}
		if e.Target == "" || e.Target == path {
			return
		}
		path = e.Target
		if e, ok = pl.f.Entries[path]; !ok {
			return
		}
	}
	w := pl.writer(path)
	if w == "" || e.Kind == "other" {
		return
	}
	pl.add(Mount{Kind: Read, Path: path, File: e.Kind != "dir", Why: why})
	pl.pinAbove(path, w)
	pl.plan.Watch = append(pl.plan.Watch, path)
}

// pinAbove pins every folder between a path and the writable folder that holds it:
// else the folder could be moved aside and made anew.
func (pl *planner) pinAbove(path, writer string) {
	for dir := filepath.Dir(path); dir != writer && len(dir) > len(writer); dir = filepath.Dir(dir) {
		pl.add(Mount{Kind: Pin, Path: dir, Why: "holds a protected path"})
	}
}

// reserve adds a placeholder for a missing name and protects it.
func (pl *planner) reserve(path string, dir bool, content string) {
	w := pl.writer(filepath.Dir(path))
	if w == "" {
		return
	}
	pl.plan.Placeholders = append(pl.plan.Placeholders, Placeholder{Path: path, Dir: dir, Content: content})
	pl.add(Mount{Kind: Read, Path: path, File: !dir, Why: "reserved name"})
	pl.pinAbove(path, w)
}

// hide covers what must not be read.
func (pl *planner) hide() {
	for _, u := range pl.p.Unreadable {
		pl.mask(pl.target(u), "unreadable")
	}
	for _, d := range pl.f.Denied {
		pl.mask(pl.target(d), "denied by the team's policy")
		if real := pl.f.real(d); real != pl.target(d) {
			pl.readOnly(real, "denied by the team's policy")
		}
	}
	for _, a := range pl.f.Aliases {
		if a.Unreadable {
			pl.mask(a.Path, a.Why+" of "+a.Of)
		}
	}
}

func (pl *planner) mask(path, why string) {
	e, ok := pl.f.Entries[path]
	if !ok || path == "/" || e.Kind == "link" {
		return
	}
	pl.add(Mount{Kind: Mask, Path: path, File: e.Kind != "dir", Why: why})
	if w := pl.writer(filepath.Dir(path)); w != "" {
		pl.pinAbove(path, w) // else it could be moved to where no rule names it
	}
}

// order sorts the mounts, drops what changes nothing, and makes room in empty and
// masked folders for what lies below them.
func (pl *planner) order() error {
	base := []Mount{
		{Kind: Proc, Path: "/proc", Why: "processes of the sandbox only, read-only"},
		{Kind: Dev, Path: "/dev", Why: "null zero full random urandom tty pts shm"},
		{Kind: Empty, Path: "/run", Why: "sockets of the host's services"},
	}
	for _, r := range pl.f.Run {
		e := pl.f.Entries[r]
		if e.Kind == "dir" {
			pl.mounts[r] = &Mount{Kind: Read, Path: r, Why: "needed by the system"}
		}
	}
	paths := make([]string, 0, len(pl.mounts))
	for p := range pl.mounts {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
	})
	var kept []*Mount
	for _, path := range paths {
		m := pl.mounts[path]
		if pl.invisible(path) {
			continue
		}
		above := deepest(kept, path)
		switch {
		case above != nil && above.Kind == Mask && m.Kind != Write && path != pl.root:
			continue
		case above != nil && above.Kind == Mask && path == pl.root:
			return fmt.Errorf("exec policy: root %q lies inside %q, which commands may not read", pl.root, above.Path)
		case m.Kind == Write && m.Source == "" && above != nil && (above.Kind == Write || above.Kind == Pin) && above.Source == "" && path != pl.root:
			continue // writable already
		case m.Kind == Read && !m.Link && above == nil && !within(path, "/run"):
			continue // everything is read-only already
		}
		kept = append(kept, m)
	}
	all := base
	for _, m := range kept {
		all = append(all, *m)
	}
	for i := range all {
		pl.holes(all, i)
	}
	pl.plan.Mounts = all
	pl.plan.Watch = pl.watched(all)
	return nil
}

// invisible reports a path that a private temp folder replaces.
func (pl *planner) invisible(path string) bool {
	for _, t := range pl.temps {
		if path != t && within(path, t) && !anyWithin(pl.shown, path) {
			return true
		}
	}
	return false
}

// deepest returns the kept mount that path lies in.
func deepest(kept []*Mount, path string) *Mount {
	for i := len(kept) - 1; i >= 0; i-- {
		if within(path, kept[i].Path) && path != kept[i].Path {
			return kept[i]
		}
	}
	return nil
}

// holes records the mount points that mount i must have for later ones: in folders
// that are empty, and in private temp folders of the host.
func (pl *planner) holes(all []Mount, i int) {
	m := &all[i]
	if m.Kind != Empty && (m.Kind != Mask || m.File) && m.Source == "" {
		return
	}
	for j := i + 1; j < len(all); j++ {
		o := &all[j]
		rel, ok := strings.CutPrefix(o.Path, m.Path+"/")
		if !ok || between(all, i, j) {
			continue
		}
		if !o.File {
			rel += "/"
		}
		if m.Source != "" {
			pl.plan.MountPoints = append(pl.plan.MountPoints, filepath.Join(m.Source, rel)+suffix(rel))
		} else {
			m.Holes = append(m.Holes, rel)
		}
	}
}

func suffix(rel string) string {
	if strings.HasSuffix(rel, "/") {
		return "/"
	}
	return ""
}

// between reports whether another mount between i and j brings j's mount point.
func between(all []Mount, i, j int) bool {
	for k := i + 1; k < j; k++ {
		if all[k].Path != all[j].Path && within(all[j].Path, all[k].Path) && within(all[k].Path, all[i].Path) {
			return true
		}
	}
	return false
}

// watched are the paths to compare after the run: those that were really mounted.
func (pl *planner) watched(all []Mount) []string {
	keep := map[string]bool{}
	for _, m := range all {
		if m.Kind == Read {
			keep[m.Path] = true
		}
	}
	var out []string
	for _, w := range unique(pl.plan.Watch) {
		if keep[w] {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}
