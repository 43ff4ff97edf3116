package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Repo is what a plan needs to know about one git repository or work tree that
// lies in the root.
type Repo struct {
	// Path is the .git entry, or the folder itself if it is a bare repository.
	Path string `json:"path"`
	// Kind is "dir", "file" (work tree or submodule), "link" or "bare".
	Kind string `json:"kind"`
	// GitDir and CommonDir are the real folders; empty if they cannot be trusted or
	// do not exist.
	GitDir    string `json:"gitDir,omitempty"`
	CommonDir string `json:"commonDir,omitempty"`
	// Programs are files of the root that git executes because of the settings.
	Programs []string `json:"programs,omitempty"`
	// WorktreeConfig: the repository reads config.worktree.
	WorktreeConfig bool `json:"worktreeConfig,omitempty"`
	// Worktrees are the git folders of linked work trees that lie in the root.
	Worktrees []string `json:"worktrees,omitempty"`
}

// maxGitFile bounds what is read of a git file.
const maxGitFile = 1 << 20

func readSmall(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlock, 0) // a FIFO must not hang us
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxGitFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxGitFile {
		return "", errors.New("too large for a git file")
	}
	return string(b), nil
}

// inspectRepo looks at one git entry without running git: the engine's own git
// would execute what the repository's settings say.
func inspectRepo(path, home string) Repo {
	r := Repo{Path: path, Kind: "dir"}
	fi, err := os.Lstat(path)
	if err != nil {
		r.Kind = "missing"
		return r
	}
	work := filepath.Dir(path)
	switch {
	case strings.ToLower(filepath.Base(path)) != ".git":
		r.Kind, work = "bare", path
		r.GitDir = path
	case fi.Mode()&os.ModeSymlink != 0:
		r.Kind = "link"
		r.GitDir, _ = filepath.EvalSymlinks(path)
		if tfi, err := os.Lstat(r.GitDir); err == nil && !tfi.IsDir() {
			r.GitDir = ""
		}
	case fi.IsDir():
		r.GitDir = path
	default:
		r.Kind = "file"
		r.GitDir = linkedGitDir(path)
	}
	if r.GitDir == "" {
		return r
	}
	r.CommonDir = commonDir(r.GitDir)
	r.readConfig(work, home)
	return r
}

// commonDir returns the folder that a git folder shares with others, or itself.
func commonDir(gitdir string) string {
	text, err := readSmall(filepath.Join(gitdir, "commondir"))
	if err != nil {
		return gitdir
	}
	dir := strings.TrimSpace(text)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitdir, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return gitdir
}

// linkedGitDir returns the git folder that a .git file names, but only if that
// folder points back: a .git file that came with an archive must not make another
// folder of the user's writable.
func linkedGitDir(file string) string {
	text, err := readSmall(file)
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
	if !ok {
		return ""
	}
	dir = strings.TrimSpace(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !isGitDir(real) {
		return ""
	}
	if back, err := readSmall(filepath.Join(real, "gitdir")); err == nil {
		// <common>/worktrees/<name>/gitdir names the .git file.
		if filepath.Base(filepath.Dir(real)) == "worktrees" && sameFile(pathFrom(real, strings.TrimSpace(back)), file) {
			return real
		}
		return ""
	}
	// A submodule's config names its work tree.
	cfg, err := readSmall(filepath.Join(real, "config"))
	if err != nil {
		return ""
	}
	for _, s := range parseGitConfig(cfg) {
		if s.key == "core.worktree" && sameFile(pathFrom(real, s.value), filepath.Dir(file)) {
			return real
		}
	}
	return ""
}

func pathFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func isGitDir(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	_, common := os.Stat(filepath.Join(dir, "commondir"))
	_, objects := os.Stat(filepath.Join(dir, "objects"))
	return common == nil || objects == nil
}

func (r *Repo) readConfig(work, home string) {
	files := []string{filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree")}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	for _, f := range files {
		text, err := readSmall(f)
		if err != nil {
			continue
		}
		settings := parseGitConfig(text)
		for _, s := range settings {
			if s.key == "extensions.worktreeconfig" && s.value != "false" {
				r.WorktreeConfig = true
			}
		}
		r.Programs = append(r.Programs, gitPrograms(settings, filepath.Dir(f), work, home)...)
	}
}
