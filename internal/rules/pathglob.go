package rules

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lictor-policy/lictor/internal/pathguard"
)

// pathGlob is one compiled path pattern over a clean path without its leading
// slash ("" is the folder that the pattern starts at). `**` is a whole segment;
// only the last one is tried again, so the time is at most len(path) times the
// pattern, whatever the pattern.
type pathGlob struct {
	segments []segment
	// below says that a trailing `**` needs at least one segment (settings).
	below bool
	// absolute says that the pattern starts at the file system's root.
	absolute bool
	// wide marks a second reading that only deny and ask rules have: it may not
	// lift anything.
	wide bool
	// rooted says that the pattern was written with the root's absolute path.
	rooted bool
	// named says that it names what it matches (names.go); set for the right side
	// of pairs.
	named bool
}

// match reports whether the pattern matches all of s.
func (g *pathGlob) match(s string) bool {
	seg, at := 0, 0
	if s == "" {
		at = 1
	}
	back, backAt := -1, 0
	for {
		if at > len(s) {
			return g.onlyDeep(seg)
		}
		end := at + strings.IndexByte(s[at:], '/')
		if end < at {
			end = len(s)
		}
		if seg < len(g.segments) {
			if g.segments[seg].deep {
				seg++
				if seg == len(g.segments) {
					return true
				}
				back, backAt = seg, at
				continue
			}
			if g.segments[seg].match(s[at:end]) {
				seg, at = seg+1, end+1
				continue
			}
		}
		if back < 0 {
			return false
		}
		next := strings.IndexByte(s[backAt:], '/')
		if next < 0 {
			return false
		}
		backAt += next + 1
		seg, at = back, backAt
	}
}

// onlyDeep reports whether what is left of the pattern matches nothing at all.
func (g *pathGlob) onlyDeep(seg int) bool {
	for i := seg; i < len(g.segments); i++ {
		if !g.segments[i].deep {
			return false
		}
	}
	return seg == len(g.segments) || !g.below || len(g.segments) == 1
}

// catchAll says that the pattern is `**` itself.
func (g *pathGlob) catchAll() bool {
	return !g.absolute && !g.rooted && len(g.segments) == 1 && g.segments[0].deep
}

// keys returns the literal text that every match starts and ends with.
func (g *pathGlob) keys() (prefix, suffix string) {
	for i := range g.segments {
		s := &g.segments[i]
		if s.deep {
			if i > 0 && !g.onlyDeepAfter(i) {
				prefix += "/"
			}
			break
		}
		if i > 0 {
			prefix += "/"
		}
		prefix += s.head()
		if s.tokens != nil {
			break
		}
	}
	if n := len(g.segments); n > 0 && !g.segments[n-1].deep {
		suffix = g.segments[n-1].tail()
	}
	return prefix, suffix
}

func (g *pathGlob) onlyDeepAfter(seg int) bool {
	for i := seg; i < len(g.segments); i++ {
		if !g.segments[i].deep {
			return false
		}
	}
	return true
}

// build compiles the segments of a clean pattern.
func (g *pathGlob) build(clean string, plain, folded bool) {
	clean = strings.TrimPrefix(clean, "/")
	if clean == "" || clean == "." {
		return
	}
	for text := range strings.SplitSeq(clean, "/") {
		s := newSegment(text, plain, folded)
		if n := len(g.segments); s.deep && n > 0 && g.segments[n-1].deep {
			continue
		}
		g.segments = append(g.segments, s)
	}
}

// paths compiles path patterns for one root and home.
type paths struct {
	root, real, home string
	fold             bool
}

func newPaths(env Env) paths {
	p := paths{root: slash(env.Root), real: slash(env.RealRoot), home: slash(env.Home), fold: env.Fold}
	if p.real == "" {
		p.real = p.root
	}
	return p
}

// slash returns a host path with '/' between its segments.
func slash(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(p))
}

var (
	errBadGlob = errors.New("invalid glob: a bracket, brace or backslash is not closed")
	errSlash   = errors.New("invalid glob: a class in brackets cannot hold a slash")
	errNoHome  = errors.New("the home folder is not known, so a `~/` pattern never matches")
)

// permission compiles a permission-file path pattern: doublestar globs relative
// to the root, absolute ones, and `~/`. An absolute pattern below the root is
// turned into a relative one, so that it holds for the root's real path too.
func (p paths) permission(pattern string) ([]*pathGlob, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, errBadGlob
	}
	texts, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	var out []*pathGlob
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if slashInClass(text) {
			return nil, errSlash
		}
		text, err = p.expandHome(text, escapeGlob)
		if err != nil {
			return nil, err
		}
		clean := path.Clean(strings.ReplaceAll(text, `\/`, "/"))
		if clean == ".." || strings.HasPrefix(clean, "../") {
			clean = path.Join(escapeGlob(p.root), clean)
		}
		g := &pathGlob{absolute: isAbsolute(clean)}
		if g.absolute {
			if rel, ok := p.below(clean); ok {
				clean, g.absolute, g.rooted = rel, false, true
			}
		}
		g.build(clean, false, p.fold)
		out = append(out, g)
	}
	return out, nil
}

// slashInClass reports a class that a slash would cut in two.
func slashInClass(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			n := classEnd(text[i:])
			if n == 0 || strings.Contains(text[i:i+n], "/") {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// settings compiles a settings path pattern: `*`, `?` and `**` only, at any
// depth without a slash, else anchored at the root. Wide (for deny and ask)
// reads what is ambiguous as more: `/etc/x` is below the root and absolute too,
// `dir/` is everything below it as well, and `dir/**` is the folder itself too,
// since who deletes it deletes what is in it.
func (p paths) settings(pattern string, wide bool) ([]*pathGlob, error) {
	pattern = strings.TrimSpace(pattern)
	out, err := p.settingsText(pattern)
	if err != nil || !wide {
		return out, err
	}
	for _, g := range out {
		g.below = false
	}
	var extra []string
	if dir, ok := strings.CutSuffix(pattern, "/"); ok && dir != "" {
		extra = append(extra, dir+"/**")
	}
	if strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "//") {
		extra = append(extra, "/"+pattern)
	}
	for _, text := range extra {
		more, err := p.settingsText(text)
		if err != nil {
			return nil, err
		}
		for _, g := range more {
			g.wide = true
			out = append(out, g)
		}
	}
	return out, nil
}

// settingsText compiles one reading; a leading `//` marks an absolute one.
func (p paths) settingsText(text string) ([]*pathGlob, error) {
	text, absolute := strings.CutPrefix(text, "//")
	if absolute {
		text = "/" + strings.TrimLeft(text, "/")
	}
	if strings.HasPrefix(text, "~/") || text == "~" {
		expanded, err := p.expandHome(text, func(s string) string { return s })
		if err != nil {
			return nil, err
		}
		text, absolute = expanded, true
	}
	if !absolute && !strings.Contains(text, "/") && text != ".." && text != "." {
		text = "**/" + text
	}
	texts, err := expandDeep(text)
	if err != nil {
		return nil, err
	}
	var out []*pathGlob
	for _, text := range texts {
		clean := path.Clean(text)
		if !absolute {
			clean = strings.TrimPrefix(clean, "/")
			if clean == ".." || strings.HasPrefix(clean, "../") {
				clean, absolute = path.Join(p.root, clean), true
			}
		}
		g := &pathGlob{absolute: absolute, below: true}
		if absolute {
			if rel, ok := p.below(clean); ok {
				clean, g.absolute, g.rooted = rel, false, true
			}
		}
		g.build(clean, true, p.fold)
		out = append(out, g)
	}
	return out, nil
}

// expandHome replaces a leading `~`.
func (p paths) expandHome(text string, quote func(string) string) (string, error) {
	if text != "~" && !strings.HasPrefix(text, "~/") {
		return text, nil
	}
	if p.home == "" {
		return "", errNoHome
	}
	return quote(p.home) + text[1:], nil
}

// below returns the pattern relative to the root if its literal start is the
// root, as written or as real path, with or without backslashes.
func (p paths) below(pattern string) (string, bool) {
	for _, root := range []string{p.root, p.real} {
		if root == "" || root == "/" {
			continue
		}
		for _, start := range []string{root, escapeGlob(root)} {
			if len(pattern) < len(start) || !p.same(pattern[:len(start)], start) {
				continue
			}
			switch rest := pattern[len(start):]; {
			case rest == "":
				return ".", true
			case rest[0] == '/':
				return rest[1:], true
			}
		}
	}
	return "", false
}

func (p paths) same(a, b string) bool {
	return a == b || p.fold && pathguard.FoldName(a) == pathguard.FoldName(b)
}

// isAbsolute reports whether a pattern starts at a file system's root.
func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && isLetter(p[0]) && p[1] == ':' && p[2] == '/'
}

// escapeGlob quotes everything that a permission-file glob reads as special.
func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `*?[]{}\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]{}\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
