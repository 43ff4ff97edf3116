package sandbox

import (
	"path/filepath"
	"slices"
)

// maxRepos is how many repositories get the full treatment; any further one is
// read-only as a whole, so that the number of mounts stays small.
const maxRepos = 32

// protectRepo protects one repository (notes in the package documentation): what
// git executes from, what leads it elsewhere, and everything on the way there.
// Commits stay possible, unless strict or beyond maxRepos.
func (pl *planner) protectRepo(r *Repo, index int) {
	for _, x := range r.Programs {
		if within(x, pl.root) && x != pl.root {
			pl.readOnly(pl.f.real(x), "git runs it")
		}
	}
	if pl.p.Strict || index >= maxRepos {
		if r.Kind != "bare" || r.Path != pl.root {
			pl.readOnly(r.Path, "git folder")
			return
		}
	}
	switch r.Kind {
	case "file", "link":
		pl.readOnlyLinkOnly(r)
		if r.Kind == "file" && r.GitDir != "" {
			pl.linkedRepo(r)
		}
		if r.Kind == "link" && r.GitDir != "" && pl.writer(r.GitDir) != "" {
			pl.gitFolder(r.GitDir, r)
		}
	case "dir", "bare":
		pl.gitFolder(r.GitDir, r)
	}
}

// readOnlyLinkOnly protects the .git file or link itself, not where it leads.
func (pl *planner) readOnlyLinkOnly(r *Repo) {
	w := pl.writer(filepath.Dir(r.Path))
	if w == "" {
		return
	}
	pl.add(Mount{Kind: Read, Path: r.Path, File: true, Link: r.Kind == "link", Why: "leads to a git folder"})
	pl.pinAbove(r.Path, w)
	pl.plan.Watch = append(pl.plan.Watch, r.Path)
}

// linkedRepo lets a linked work tree or submodule commit: its git folder and the
// shared one become writable where they lie, with the same protection. Only the
// root's own link may lead outside; it was checked to lead back (linkedGitDir).
func (pl *planner) linkedRepo(r *Repo) {
	own := r.Path == filepath.Join(pl.root, ".git")
	if pl.mounts[pl.root] == nil || pl.mounts[pl.root].Kind != Write {
		return
	}
	for _, d := range unique([]string{r.CommonDir, r.GitDir}) {
		if d == "" || !own && !within(d, pl.root) {
			continue
		}
		if pl.p.Home != "" && (within(pl.f.real(pl.p.Home), d) || d == "/") {
			continue
		}
		if own || d == r.GitDir {
			pl.add(Mount{Kind: Write, Path: d, Why: "git folder of the root"})
		}
	}
	if own && r.CommonDir != r.GitDir {
		pl.gitFolder(r.CommonDir, r)
	}
	pl.gitFolder(r.GitDir, r)
}

// gitFolder protects the inside of one git folder and pins it.
func (pl *planner) gitFolder(dir string, r *Repo) {
	w := pl.writer(dir)
	if w == "" {
		return
	}
	if w != dir {
		pl.add(Mount{Kind: Pin, Path: dir, Why: "git folder"})
		pl.pinAbove(dir, w)
	}
	linked := r.CommonDir != r.GitDir && dir == r.GitDir
	for _, n := range gitProtected {
		path := filepath.Join(dir, n)
		if _, ok := pl.f.Entries[path]; ok {
			pl.readOnly(path, "git executes or follows it")
			continue
		}
		switch {
		case n == "commondir" && !linked:
			pl.reserve(path, false, ".\n") // the only content that git takes for "here"
		case n == "hooks" && !linked:
			pl.reserve(path, true, "")
		case n == "config" && !linked, n == "config.worktree" && r.WorktreeConfig:
			pl.reserve(path, false, "")
		}
	}
	if linked {
		pl.readOnly(filepath.Join(dir, "gitdir"), "git executes or follows it")
	}
	for _, t := range r.Worktrees {
		if within(t, dir) && !slices.Contains(pl.p.Write, t) {
			pl.add(Mount{Kind: Write, Path: t, Why: "git folder of a work tree in the root"})
		}
	}
}
