package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// maxSecretFiles bounds how many files of unreadable folders are looked at for
// other names.
const maxSecretFiles = 2000

// linkedInodes returns the files that must not be read or written and that have
// more than one name, by inode.
func (f *Facts) linkedInodes(p *ExecPolicy) map[uint64][]string {
	out := map[uint64][]string{}
	left := maxSecretFiles
	add := func(path string) {
		if e, ok := f.look(path); ok && e.Kind == "file" && e.Links > 1 {
			out[e.Ino] = append(out[e.Ino], path)
		}
	}
	for _, u := range p.Unreadable {
		path := f.real(u)
		e, ok := f.Entries[path]
		if ok && e.Kind == "link" && e.Target != "" {
			path = e.Target
			e, ok = f.Entries[path]
		}
		switch {
		case !ok:
		case e.Kind == "file":
			add(path)
		case e.Kind == "dir":
			left = secretFiles(path, left, add)
		}
	}
	for _, q := range p.Protected {
		if e, ok := f.Entries[f.real(q)]; ok && e.Kind == "file" {
			add(f.real(q))
		}
	}
	return out
}

// secretFiles calls add for the files below dir, at most left of them.
func secretFiles(dir string, left int, add func(string)) int {
	list, err := readDir(dir)
	if err != nil {
		return left
	}
	for _, e := range list {
		if left <= 0 {
			return 0
		}
		left--
		path := filepath.Join(dir, e.name)
		switch {
		case e.dir:
			left = secretFiles(path, left, add)
		case !e.link:
			add(path)
		}
	}
	return left
}

// hardLinks records the names of the root that are the same file as of.
func (f *Facts) hardLinks(of string, names []string, p *ExecPolicy) {
	a, err := os.Lstat(of)
	if err != nil {
		return
	}
	for _, n := range names {
		b, err := os.Lstat(n)
		if err != nil || n == of || !os.SameFile(a, b) {
			continue
		}
		f.look(n)
		f.Aliases = append(f.Aliases, Alias{Of: of, Path: n, Why: "hard link", Unreadable: f.secret(of, p)})
	}
}

func (f *Facts) secret(path string, p *ExecPolicy) bool {
	for _, u := range p.Unreadable {
		real := f.real(u)
		if within(path, real) || within(path, f.Entries[real].Target) {
			return true
		}
	}
	return false
}

// findAliases adds second mounts, and says or refuses what has names that were not
// found.
func (f *Facts) findAliases(p *ExecPolicy, root string) error {
	f.mountAliases(p)
	for ino, files := range f.linkedInodes(p) {
		e := f.Entries[files[0]]
		known := uint64(1)
		for _, a := range f.Aliases {
			if f.Entries[a.Path].Ino == ino && a.Why == "hard link" {
				known++
			}
		}
		if e.Links <= known {
			continue
		}
		text := fmt.Sprintf("%s has %d more names (hard links) outside the root that were not looked for; whoever reads or writes those reads or writes it", files[0], e.Links-known)
		if p.Strict && f.secret(files[0], p) {
			return fmt.Errorf("%s; the strict profile does not run commands until they are removed", text)
		}
		f.Notices = append(f.Notices, text)
	}
	slices.SortFunc(f.Aliases, func(a, b Alias) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	slices.Sort(f.Notices)
	_ = root
	return nil
}

// real returns where a policy path lies.
func (f *Facts) real(path string) string {
	if r, ok := f.Real[path]; ok {
		return r
	}
	return path
}
