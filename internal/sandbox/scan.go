package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MaxDenied is how many paths the team's denyPaths may name in one root. Beyond
// it the command does not run (SPEC section 8).
const MaxDenied = 1000

// maxScan bounds the search of one root. A larger tree is an error, not a gap.
const maxScan = 5_000_000

// PathsOverflowError is returned when denyPaths name more than MaxDenied paths:
// "PolicyPathsOverflow; the command does not run".
type PathsOverflowError struct{ Root string }

func (e *PathsOverflowError) Error() string {
	return fmt.Sprintf("PolicyPathsOverflow; the command does not run: denyPaths name more than %d paths below %s; name their folders instead of single files", MaxDenied, e.Root)
}

// ExpandDeny returns the paths below root that match names, absolute and in the
// order of the search. Every folder is searched, links are not followed; a folder
// that matches stands for everything below it. More than MaxDenied matches are a
// *PathsOverflowError; a folder that cannot be listed is skipped, because the
// command cannot list it either.
func ExpandDeny(ctx context.Context, root string, match func(rel string, dir bool) bool) ([]string, error) {
	s := &scanner{ctx: ctx, root: root, deny: match}
	if err := s.walk(root, ""); err != nil {
		return nil, err
	}
	return s.denied, nil
}

// scanner searches a root once for everything that a plan needs to know.
type scanner struct {
	ctx   context.Context
	root  string
	deny  func(rel string, dir bool) bool
	names *nameSet
	// inodes are files of which other names matter.
	inodes map[uint64][]string

	denied []string
	// found are protected names, gits the .git entries and bare repositories.
	found, gits []string
	links       map[uint64][]string
	entries     int
}

// nameSet answers which protected name a path ends in. Names are compared without
// case: the file system may do the same (CVE-2025-59944).
type nameSet struct {
	single map[string]bool
	// pairs maps a second segment to the first segments it needs.
	pairs map[string][]string
}

func newNameSet(names []string) *nameSet {
	s := &nameSet{single: map[string]bool{}, pairs: map[string][]string{}}
	for _, n := range names {
		n = strings.ToLower(n)
		if dir, base, ok := strings.Cut(n, "/"); ok {
			s.pairs[base] = append(s.pairs[base], dir)
		} else {
			s.single[n] = true
		}
	}
	return s
}

func (s *nameSet) has(parent, name string) bool {
	if len(s.single) == 0 && len(s.pairs) == 0 {
		return false
	}
	name = lower(name)
	if s.single[name] {
		return true
	}
	for _, dir := range s.pairs[name] {
		if lower(parent) == dir {
			return true
		}
	}
	return false
}

// lower avoids an allocation for names without capitals.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(s)
		}
	}
	return s
}

// dirent is one entry of a folder.
type dirent struct {
	name string
	ino  uint64
	// dir: a folder (not a link to one).
	dir, link bool
}

var errTooLarge = errors.New("the root has more than 5,000,000 entries; choose a smaller root")

// walk searches dir; rel is its path below the root.
func (s *scanner) walk(dir, rel string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.deny == nil && s.inodes == nil {
		if n, ok := cached(dir); ok {
			return s.visitCached(dir, rel, n)
		}
	}
	list, err := readDir(dir)
	if err != nil {
		if os.IsPermission(err) || os.IsNotExist(err) {
			return nil
		}
		return fmt.Errorf("search %s: %w", dir, err)
	}
	if s.entries += len(list); s.entries > maxScan {
		return errTooLarge
	}
	return s.visit(dir, rel, list)
}

// visit looks at the entries of one folder and descends.
func (s *scanner) visit(dir, rel string, list []dirent) error {
	node := &cacheNode{}
	base := filepath.Base(dir)
	var down []string
	for i := range list {
		e := &list[i]
		sub := e.name
		if rel != "" {
			sub = rel + "/" + e.name
		}
		if s.inodes != nil && !e.dir {
			if _, ok := s.inodes[e.ino]; ok {
				s.links[e.ino] = append(s.links[e.ino], filepath.Join(dir, e.name))
			}
		}
		if s.deny != nil && s.deny(sub, e.dir) {
			if s.denied = append(s.denied, filepath.Join(dir, e.name)); len(s.denied) > MaxDenied {
				return &PathsOverflowError{s.root}
			}
			continue
		}
		switch {
		case s.names == nil:
			if e.dir {
				down = append(down, e.name)
			}
		case lower(e.name) == ".git":
			node.gits = append(node.gits, e.name)
			if e.dir && (s.deny != nil || s.inodes != nil) {
				if err := s.plain(filepath.Join(dir, e.name), sub); err != nil {
					return err
				}
			}
		case s.names.has(base, e.name):
			node.found = append(node.found, e.name)
			if e.dir && (s.deny != nil || s.inodes != nil) {
				if err := s.plain(filepath.Join(dir, e.name), sub); err != nil {
					return err
				}
			}
		case e.dir && e.name == "node_modules" && s.deny == nil && s.inodes == nil:
			// Dependencies hold no files of the user's agents; only denyPaths look here.
		case e.dir:
			down = append(down, e.name)
		}
	}
	node.bare = isBare(list)
	node.down = down
	if s.names != nil && s.deny == nil && s.inodes == nil {
		remember(dir, node)
	}
	return s.visitCached(dir, rel, node)
}

// plain searches a folder for denied paths and other names only.
func (s *scanner) plain(dir, rel string) error {
	names := s.names
	s.names = nil
	err := s.walk(dir, rel)
	s.names = names
	return err
}

func (s *scanner) visitCached(dir, rel string, n *cacheNode) error {
	for _, g := range n.gits {
		s.gits = append(s.gits, filepath.Join(dir, g))
	}
	if n.bare && s.names != nil {
		s.gits = append(s.gits, dir)
	}
	for _, f := range n.found {
		s.found = append(s.found, filepath.Join(dir, f))
	}
	for _, d := range n.down {
		sub := d
		if rel != "" {
			sub = rel + "/" + d
		}
		if err := s.walk(filepath.Join(dir, d), sub); err != nil {
			return err
		}
	}
	return nil
}

// isBare reports whether a folder would be taken for a bare repository by git.
func isBare(list []dirent) bool {
	var head, objects, refs, common bool
	for i := range list {
		switch list[i].name {
		case "HEAD":
			head = true
		case "objects":
			objects = true
		case "refs":
			refs = true
		case "commondir":
			common = true
		}
	}
	return head && (objects && refs || common)
}
