package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Violation is one thing that the post-check found: a protected name that appeared
// or changed while a command ran.
type Violation struct {
	Path string `json:"path"`
	// What is "appeared", "changed" or "removed".
	What string `json:"what"`
	// Why says what makes it harmful.
	Why string `json:"why"`
	// Quarantine is where it was moved to; empty if it could not be moved.
	Quarantine string `json:"quarantine,omitempty"`
}

func (v Violation) String() string {
	s := fmt.Sprintf("%s %s: %s", v.Path, v.What, v.Why)
	if v.Quarantine != "" {
		s += "; moved to " + v.Quarantine
	}
	return s
}

// snapshot is the state of the protected paths before a command.
type snapshot struct {
	files map[string]fileState
	names map[string]bool
	gits  map[string]bool
	// heads are the HEAD files of repositories: without one, git looks for a
	// repository elsewhere, in the work tree itself.
	heads map[string][]byte
	// inner are the git folders of submodules and linked work trees.
	inner map[string]bool
	// deep are protected folders whose content is compared too, because nothing was
	// mounted on them.
	deep []string
}

type fileState struct {
	dev, ino uint64
	dir      bool
	link     string
	content  []byte
}

func stateOf(path string) (fileState, bool) {
	fi, err := os.Lstat(path)
	if err != nil {
		return fileState{}, false
	}
	s := fileState{dir: fi.IsDir()}
	s.dev, s.ino, _ = identity(fi)
	switch {
	case fi.Mode()&os.ModeSymlink != 0:
		s.link, _ = os.Readlink(path)
	case fi.Mode().IsRegular():
		if text, err := readSmall(path); err == nil {
			s.content = []byte(text)
		}
	}
	return s, true
}

func takeSnapshot(e Executor, p *ExecPolicy, pl *Plan, f *Facts, reg *registration) *snapshot {
	s := &snapshot{files: map[string]fileState{}, names: map[string]bool{}, gits: map[string]bool{}, heads: map[string][]byte{}, inner: map[string]bool{}}
	if p.ReadOnlyRoot {
		return s
	}
	for _, it := range reg.Items {
		s.names[it.Path] = true
	}
	for _, w := range pl.Watch {
		// Another run's placeholder goes when the last run that relies on it does.
		if st, ok := stateOf(w); ok && !s.names[w] {
			s.files[w] = st
		}
	}
	if e != Native && e != Bubblewrap {
		for _, w := range pl.Watch {
			if s.files[w].dir {
				s.deep = append(s.deep, w)
				for _, path := range filesBelow(w) {
					s.files[path], _ = stateOf(path)
				}
			}
		}
	}
	for _, n := range f.Found {
		s.names[n] = true
	}
	for _, r := range f.Repos {
		s.gits[r.Path] = true
		if r.GitDir == "" {
			continue
		}
		if text, err := readSmall(filepath.Join(r.GitDir, "HEAD")); err == nil {
			s.heads[filepath.Join(r.GitDir, "HEAD")] = []byte(text)
		}
		for _, g := range innerGitDirs(r.GitDir) {
			s.inner[g] = true
		}
	}
	return s
}

// maxDeep bounds how many files of protected folders are compared.
const maxDeep = 20000

// filesBelow lists the files of a folder, at any depth.
func filesBelow(dir string) []string {
	var out []string
	var walk func(string)
	walk = func(d string) {
		list, err := readDir(d)
		if err != nil {
			return
		}
		for _, e := range list {
			path := filepath.Join(d, e.name)
			switch {
			case len(out) >= maxDeep:
				return
			case e.dir:
				walk(path)
			default:
				out = append(out, path)
			}
		}
	}
	walk(dir)
	return out
}

// innerGitDirs lists the git folders of submodules and linked work trees.
func innerGitDirs(gitdir string) []string {
	var out []string
	for _, n := range []string{"modules", "worktrees"} {
		list, err := readDir(filepath.Join(gitdir, n))
		if err != nil {
			continue
		}
		for _, e := range list {
			if e.dir {
				out = append(out, filepath.Join(gitdir, n, e.name))
			}
		}
	}
	return out
}

// postcheck compares, moves what is harmful into quarantine, and reports it. The
// command is over; only other sandboxes may still change the root, so nothing here
// follows a link.
func (pr *prepared) postcheck(p *ExecPolicy) []Violation {
	if p.ReadOnlyRoot {
		return nil
	}
	var out []Violation
	q := &quarantine{p: p, root: pr.plan.Root}
	for _, path := range sortedKeys(pr.before.files) {
		if v, bad := pr.changed(path); bad {
			v.Quarantine = q.move(path, pr.before.files[path].content)
			out = append(out, v)
		}
	}
	for _, dir := range pr.before.deep {
		for _, path := range filesBelow(dir) {
			if _, known := pr.before.files[path]; !known {
				out = append(out, Violation{Path: path, What: "appeared", Why: "it is in a protected folder", Quarantine: q.move(path, nil)})
			}
		}
	}
	for _, path := range sortedKeys(pr.before.heads) {
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			v := Violation{Path: path, What: "removed", Why: "without it git takes the work tree for a repository"}
			_ = os.WriteFile(path, pr.before.heads[path], 0o644)
			out = append(out, v)
		}
	}
	s := &scanner{ctx: context.Background(), root: pr.plan.Root, names: newNameSet(p.ProtectedNames)}
	if err := s.walk(pr.plan.Root, ""); err != nil {
		return append(out, Violation{Path: pr.plan.Root, What: "changed", Why: "the root cannot be searched any more: " + err.Error()})
	}
	var reserved map[string]bool
	for _, path := range s.found {
		if pr.before.names[path] {
			continue
		}
		if reserved == nil {
			reserved = pr.dir.reserved()
		}
		if !reserved[path] {
			out = append(out, Violation{Path: path, What: "appeared", Why: "programs outside run what such files say", Quarantine: q.move(path, nil)})
		}
	}
	for _, path := range s.gits {
		out = append(out, pr.newGit(path, q, p)...)
	}
	return out
}

// changed reports a protected path that is not what it was. A folder's content is
// not compared: only a program outside can have changed it, since the folder itself
// is a read-only mount.
func (pr *prepared) changed(path string) (Violation, bool) {
	old := pr.before.files[path]
	now, ok := stateOf(path)
	v := Violation{Path: path, What: "changed", Why: "it is protected"}
	switch {
	case !ok:
		if old.dir || old.link != "" {
			v.What = "removed"
			return v, true
		}
		return v, false // a file that is gone runs nothing
	case now.dir != old.dir || now.link != old.link:
		return v, true
	case old.dir:
		return v, now.ino != old.ino || now.dev != old.dev
	case bytes.Equal(now.content, old.content):
		return v, false
	}
	// A program outside may rewrite a file by rename, which also takes the read-only
	// mount away (lock and rename is how git config works). The content decides.
	if base := filepath.Base(path); base == "config" || base == "config.worktree" {
		bad, ok := harmlessChange(old.content, now.content)
		v.Why = "git setting " + bad
		return v, !ok
	}
	return v, true
}

// harmlessChange reports whether a git configuration has no new setting that makes
// git run something.
func harmlessChange(before, after []byte) (bad string, ok bool) {
	old := map[gitSetting]bool{}
	for _, s := range parseGitConfig(string(before)) {
		old[s] = true
	}
	var fresh []gitSetting
	for _, s := range parseGitConfig(string(after)) {
		if !old[s] {
			fresh = append(fresh, s)
		}
	}
	return harmlessGitConfig(fresh)
}

// newGit looks at one git entry after the run. A repository that the command made
// (git init, git clone) may stay if git would run nothing from it.
func (pr *prepared) newGit(path string, q *quarantine, p *ExecPolicy) []Violation {
	r := inspectRepo(path, "")
	var dirs []string
	if !pr.before.gits[path] {
		why := ""
		switch r.Kind {
		case "missing":
			return nil
		case "link":
			why = "a link that is taken for a git folder"
		case "file":
			if r.GitDir == "" || !within(r.GitDir, pr.plan.Root) {
				why = "it leads to a git folder that does not lead back"
			}
		}
		if why != "" {
			return []Violation{{Path: path, What: "appeared", Why: why, Quarantine: q.move(path, nil)}}
		}
		dirs = append(dirs, path)
	}
	if r.GitDir != "" && within(r.GitDir, pr.plan.Root) {
		for _, d := range innerGitDirs(r.GitDir) {
			if !pr.before.inner[d] {
				dirs = append(dirs, d)
			}
		}
	}
	var out []Violation
	for _, d := range dirs {
		if why := harmfulGitDir(d); why != "" {
			out = append(out, Violation{Path: d, What: "appeared", Why: why, Quarantine: q.move(d, nil)})
		}
	}
	_ = p
	return out
}

// harmfulGitDir says why git would run something from a new git folder, or "".
func harmfulGitDir(dir string) string {
	fi, err := os.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return ""
	}
	for _, n := range []string{"config", "config.worktree"} {
		fi, err := os.Lstat(filepath.Join(dir, n))
		if err != nil {
			continue
		}
		if !fi.Mode().IsRegular() {
			return n + " is not a file"
		}
		text, err := readSmall(filepath.Join(dir, n))
		if err != nil {
			return n + " cannot be read"
		}
		if bad, ok := harmlessGitConfig(parseGitConfig(text)); !ok {
			return "git setting " + bad
		}
	}
	if list, err := readDir(filepath.Join(dir, "hooks")); err == nil {
		for _, e := range list {
			if !strings.HasSuffix(e.name, ".sample") && e.name != "README.sample" {
				return "git hook " + e.name
			}
		}
	} else if fi, err := os.Lstat(filepath.Join(dir, "hooks")); err == nil && !fi.IsDir() {
		return "hooks is not a folder"
	}
	if text, err := readSmall(filepath.Join(dir, "commondir")); err == nil {
		// A linked work tree's folder says ../..; anything else leads away.
		t := strings.TrimSpace(text)
		if t != "." && (t != "../.." || filepath.Base(filepath.Dir(dir)) != "worktrees") {
			return "commondir leads to " + t
		}
	} else if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
		return "commondir is not a plain file"
	}
	return ""
}

// reserved are the placeholders of runs that go on.
func (r *registry) reserved() map[string]bool {
	out := map[string]bool{}
	_ = r.locked(func() error {
		for p := range r.sweep("") {
			out[p] = true
		}
		return nil
	})
	return out
}

// quarantine is where harmful files go.
type quarantine struct {
	p    *ExecPolicy
	root string
	dir  string
	n    int
}

// move takes a path out of the root, without following links on the way, and puts
// back the content that it had before. It returns where it went.
func (q *quarantine) move(path string, before []byte) string {
	if q.dir == "" {
		q.dir = filepath.Join(q.p.StateDir, "quarantine", time.Now().UTC().Format("20060102T150405.000000000"))
		if err := os.MkdirAll(q.dir, 0o700); err != nil {
			q.dir = ""
		}
	}
	q.n++
	rel, err := filepath.Rel(q.root, path)
	if err != nil {
		rel = path
	}
	to := ""
	if q.dir != "" {
		to = filepath.Join(q.dir, fmt.Sprintf("%d-%s", q.n, strings.NewReplacer("/", "_", `\`, "_").Replace(rel)))
	}
	got := moveAside(q.root, path, to)
	if before != nil && got != "" {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			_, _ = f.Write(before)
			_ = f.Close()
		}
	}
	return got
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
