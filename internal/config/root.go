package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// markers are the names that make a folder a project's root. `.git` is a file
// in worktrees and submodules, so any type counts.
var markers = []string{FolderName, ".git"}

// FindRoot fixes the root of a session (SPEC section 1): the flag --root if
// given, else the agent's project folder if it names one, else the nearest
// folder at or above cwd that holds `.lictor` or `.git`. It is never the
// filesystem's root, the home folder or a folder above it. A relative flag starts
// at cwd; the agent's folder, cwd and home must be absolute, for an agent's cwd
// moves while it works and must not move its project. The result is absolute and
// clean, with links kept as they were written.
//
// It is an error if a named root does not exist, is no folder or is one of the
// refused ones, and if no folder with a marker is found.
func FindRoot(flag, agentDir, cwd, home string) (string, error) {
	if home == "" || !filepath.IsAbs(home) {
		return "", fmt.Errorf("home folder %q is not an absolute path: set HOME to one", home)
	}
	switch {
	case flag != "":
		return namedRoot("--root", flag, cwd, home)
	case agentDir != "" && !filepath.IsAbs(agentDir):
		return "", fmt.Errorf("the agent's project folder %q is not an absolute path", agentDir)
	case agentDir != "":
		return namedRoot("the agent's project folder", agentDir, cwd, home)
	}
	if !filepath.IsAbs(cwd) {
		return "", fmt.Errorf("working folder %q is not an absolute path", cwd)
	}
	return nearestRoot(filepath.Clean(cwd), home)
}

// namedRoot checks a root that somebody named.
func namedRoot(who, dir, cwd, home string) (string, error) {
	if !filepath.IsAbs(dir) {
		if !filepath.IsAbs(cwd) {
			return "", fmt.Errorf("%s %q is relative and the working folder is unknown: give an absolute path", who, dir)
		}
		dir = filepath.Join(cwd, dir)
	}
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s %s does not exist", who, dir)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s cannot be read: %w", who, dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s %s is not a folder", who, dir)
	}
	refused, err := refusedRoot(dir, home)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", who, dir, err)
	}
	if refused != "" {
		return "", fmt.Errorf("%s %s is %s, which is never a root: name the project's own folder", who, dir, refused)
	}
	return dir, nil
}

// nearestRoot walks up from dir. The walk ends at the first refused folder: the
// home folder's own .lictor and .git do not make it a project.
func nearestRoot(dir, home string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		refused, err := refusedRoot(at, home)
		if err != nil {
			return "", fmt.Errorf("%s: %w", at, err)
		}
		if refused != "" {
			return "", fmt.Errorf("no project found: neither %s nor .git in %s or a folder above it (up to %s): "+
				"run `lictor init` in the project's folder, or name it with --root", FolderName, dir, refused)
		}
		found, err := hasMarker(at)
		if err != nil {
			return "", err
		}
		if found {
			return at, nil
		}
	}
}

func hasMarker(dir string) (bool, error) {
	for _, name := range markers {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
			return false, fmt.Errorf("looking for the project's root: %w", err)
		}
	}
	return false, nil
}

// refusedRoot says what dir is if it can never be a root, else "". Both
// spellings of dir and home are compared, as written and with links followed,
// and each folder above home by identity, so that neither a link nor another
// letter case hides the home folder.
func refusedRoot(dir, home string) (string, error) {
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if filepath.Dir(realDir) == realDir || filepath.Dir(dir) == dir {
		return "the root of the filesystem", nil
	}
	dirInfo, err := os.Stat(realDir)
	if err != nil {
		return "", err
	}
	home = filepath.Clean(home)
	spellings := []string{home}
	if realHome, err := filepath.EvalSymlinks(home); err == nil && realHome != home {
		spellings = append(spellings, realHome)
	}
	for _, spelling := range spellings {
		for at, what := spelling, "the home folder"; ; at, what = filepath.Dir(at), "a folder above the home folder" {
			if at == dir || at == realDir {
				return what, nil
			}
			if info, err := os.Stat(at); err == nil && os.SameFile(info, dirInfo) {
				return what, nil
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return "", nil
}
