package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Facts is what the disk says about the paths of a policy: the only thing besides
// the policy that a plan depends on.
type Facts struct {
	// Entries describes paths by name: those of the policy, and their ancestors
	// where a plan needs them. A path that is not in it is missing.
	Entries map[string]Entry `json:"entries"`
	// Found are protected names below the root, Repos its repositories, Denied the
	// paths that denyPaths name.
	Found  []string `json:"found,omitempty"`
	Repos  []Repo   `json:"repos,omitempty"`
	Denied []string `json:"denied,omitempty"`
	// Aliases are other names of unreadable or protected files: hard links found in
	// the root, and second mounts of the same file system.
	Aliases []Alias `json:"aliases,omitempty"`
	// Notices are things that a person should know, one line each.
	Notices []string `json:"notices,omitempty"`
	// Run lists entries of /run that stay visible, because the system needs them.
	Run []string `json:"run,omitempty"`
	// PathDirs are the real folders of PATH.
	PathDirs []string `json:"pathDirs,omitempty"`
	// Real maps a policy path to its real path where they differ.
	Real map[string]string `json:"real,omitempty"`
	// Self is this program's own file.
	Self string `json:"self,omitempty"`
	UID  int    `json:"uid"`

	// folders remembers where folders lead, missing what is not there, while the
	// facts are gathered.
	folders map[string]string
	missing map[string]bool
}

// Entry is one path on the disk.
type Entry struct {
	// Kind is "dir", "file", "link" or "other".
	Kind string `json:"kind"`
	// Target is where a link leads in the end; empty if nowhere.
	Target string `json:"target,omitempty"`
	Dev    uint64 `json:"-"`
	Ino    uint64 `json:"-"`
	Links  uint64 `json:"-"`
}

// Alias is another name of a path.
type Alias struct {
	Of   string `json:"of"`
	Path string `json:"path"`
	// Why is "hard link" or "mount".
	Why string `json:"why"`
	// Unreadable: the path must not be read; else it must not be written.
	Unreadable bool `json:"unreadable"`
}

// Inspect gathers the facts for p. It reads the disk and changes nothing. Errors
// are those of ExpandDeny, a root that cannot be searched, and in the strict
// profile a secret with a name that cannot be found.
func Inspect(ctx context.Context, p *ExecPolicy) (*Facts, error) {
	f := &Facts{Entries: make(map[string]Entry, 256), Real: map[string]string{}, UID: os.Getuid(), folders: make(map[string]string, 64), missing: make(map[string]bool, 64)}
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return nil, fmt.Errorf("exec policy: root: %w", err)
	}
	f.note(p.Root, root)
	for _, list := range [][]string{p.Write, p.Temp, p.Protected, p.Unreadable, {p.Home, p.StateDir, p.PrivateTemp}} {
		for _, path := range list {
			f.resolve(path)
		}
	}
	f.Self, _ = os.Executable()
	for _, d := range filepath.SplitList(lookup(p.Env)["PATH"]) {
		if real := f.folder(d); real != "" {
			f.look(real)
			f.PathDirs = append(f.PathDirs, real)
		}
	}
	for _, n := range []string{"/run/current-system", "/run/wrappers", "/run/opengl-driver"} {
		if _, err := os.Lstat(n); err == nil {
			f.look(n)
			f.Run = append(f.Run, n)
		}
	}
	if err := f.search(ctx, p, root); err != nil {
		return nil, err
	}
	return f, f.findAliases(p, root)
}

// search walks the root once for protected names, repositories, denied paths and
// hard links.
func (f *Facts) search(ctx context.Context, p *ExecPolicy, root string) error {
	s := &scanner{ctx: ctx, root: root, deny: p.Deny}
	s.names = newNameSet(p.ProtectedNames)
	s.inodes, s.links = f.linkedInodes(p), map[uint64][]string{}
	if len(s.inodes) == 0 {
		s.inodes = nil
	}
	if err := s.walk(root, ""); err != nil {
		return err
	}
	slices.Sort(s.gits)
	for i, g := range s.gits {
		r := inspectRepo(g, p.Home)
		f.Repos = append(f.Repos, r)
		f.lookRepo(&f.Repos[i])
	}
	for i := range f.Repos {
		for _, o := range f.Repos {
			if o.Kind == "file" && o.GitDir != "" && o.CommonDir == f.Repos[i].GitDir && f.Repos[i].Kind != "file" {
				f.Repos[i].Worktrees = append(f.Repos[i].Worktrees, o.GitDir)
			}
		}
	}
	f.Found = s.found
	for _, path := range s.found {
		f.resolve(path)
	}
	f.Denied = s.denied
	for _, path := range s.denied {
		f.resolve(path)
	}
	for ino, names := range s.links {
		for _, of := range s.inodes[ino] {
			f.hardLinks(of, names, p)
		}
	}
	return nil
}

// lookRepo records the entries of a repository that a plan protects.
func (f *Facts) lookRepo(r *Repo) {
	f.look(r.Path)
	for _, d := range unique([]string{r.GitDir, r.CommonDir}) {
		if d == "" {
			continue
		}
		f.look(d)
		for _, n := range append([]string{"gitdir", "HEAD"}, gitProtected...) {
			f.look(filepath.Join(d, n))
		}
	}
	for _, x := range r.Programs {
		f.resolve(x)
	}
}

// look records one path as it is, and every folder above it.
func (f *Facts) look(path string) (Entry, bool) {
	if e, ok := f.Entries[path]; ok {
		return e, true
	}
	if f.missing[path] || f.missing[filepath.Dir(path)] {
		f.missing[path] = true // it is in a folder that does not exist
		return Entry{}, false
	}
	fi, err := os.Lstat(path)
	if err != nil {
		f.missing[path] = true
		return Entry{}, false
	}
	e := Entry{Kind: "other"}
	e.Dev, e.Ino, e.Links = identity(fi)
	switch {
	case fi.IsDir():
		e.Kind = "dir"
	case fi.Mode().IsRegular():
		e.Kind = "file"
	case fi.Mode()&os.ModeSymlink != 0:
		e.Kind = "link"
		e.Target, _ = filepath.EvalSymlinks(path)
	}
	f.Entries[path] = e
	return e, true
}

// resolve records a path of the policy: its folder with links followed, itself as
// it is, and where it leads.
func (f *Facts) resolve(path string) {
	if path == "" {
		return
	}
	at := path
	if dir := f.folder(filepath.Dir(path)); dir != "" {
		at = filepath.Join(dir, filepath.Base(path))
	} else {
		at = f.realPrefix(path)
	}
	f.note(path, at)
	if e, ok := f.look(at); ok && e.Target != "" {
		f.look(e.Target)
	}
}

// folder returns where a folder leads, "" if it does not exist. Every folder is
// looked at once, below its parent's real path.
func (f *Facts) folder(dir string) string {
	if real, ok := f.folders[dir]; ok {
		return real
	}
	real := dir
	if up := filepath.Dir(dir); up != dir {
		if real = f.folder(up); real != "" {
			real = filepath.Join(real, filepath.Base(dir))
			if e, ok := f.look(real); !ok {
				real = ""
			} else if e.Kind == "link" {
				real = e.Target
			}
		}
	}
	f.folders[dir] = real
	return real
}

func (f *Facts) note(path, real string) {
	if path != real {
		f.Real[path] = real
	}
	f.look(real)
}

// realPrefix resolves the deepest existing folder above path.
func (f *Facts) realPrefix(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if real := f.folder(dir); real != "" {
			return filepath.Join(real, strings.TrimPrefix(path, dir))
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}
