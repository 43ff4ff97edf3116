package rules

import (
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/shell"
)

// PathList matches paths against patterns of the settings dialect, read widely
// as deny rules are (the team policy's denyPaths, sandbox.denyRead): a pattern
// without wildcards in its last segment also covers everything below it.
type PathList struct {
	patterns []string
	globs    []listed
	rel, abs *index
	fold     bool
}

type listed struct {
	glob    *pathGlob
	pattern int
}

// NewPathList compiles the patterns for a root and home. An invalid pattern, or
// an empty one, is an error that names it; one that starts with `~/` where the
// home folder is unknown is an error too, since it would protect nothing.
func NewPathList(patterns []string, env Env) (*PathList, error) {
	l := &PathList{patterns: patterns, fold: env.Fold}
	p := newPaths(env)
	var rel, abs []pending
	for i, pattern := range patterns {
		if strings.TrimSpace(pattern) == "" {
			return nil, fmt.Errorf("path pattern %d is empty", i+1)
		}
		globs, err := p.settings(pattern, true)
		if err != nil {
			return nil, fmt.Errorf("path pattern %q: %w", shorten(pattern), err)
		}
		if len(l.globs) > maxReadings {
			return nil, fmt.Errorf("path pattern %q: %w", shorten(pattern), errTooMany)
		}
		for _, g := range globs {
			for _, g := range []*pathGlob{g, g.andBelow()} {
				if g == nil {
					continue
				}
				e := pending{item: int32(len(l.globs))}
				e.prefix, e.suffix = g.keys()
				l.globs = append(l.globs, listed{g, i})
				if g.absolute {
					abs = append(abs, e)
				} else {
					rel = append(rel, e)
				}
			}
		}
	}
	l.rel, l.abs = newIndex(rel), newIndex(abs)
	return l, nil
}

// andBelow returns the pattern for everything below what g names, or nil if its
// last segment has wildcards.
func (g *pathGlob) andBelow() *pathGlob {
	n := len(g.segments)
	if n == 0 || g.segments[n-1].deep || g.segments[n-1].tokens != nil {
		return nil
	}
	below := *g
	below.segments = append(append([]segment{}, g.segments...), segment{deep: true})
	return &below
}

// Patterns returns the patterns in order.
func (l *PathList) Patterns() []string { return l.patterns }

// Match returns the first pattern, in the order of the list, that matches p as
// written, or else as the real path behind links.
func (l *PathList) Match(p *model.Path) (pattern string, viaReal, ok bool) {
	if len(l.globs) == 0 {
		return "", false, false
	}
	var bufs [6][]byte
	var f forms
	f.read(p, l.fold, &bufs)
	for i := range f.list[:f.total] {
		if n := l.first(&f.list[i]); n >= 0 {
			return l.patterns[n], f.list[i].real, true
		}
	}
	return "", false, false
}

// MatchRel returns the first pattern that matches a clean path relative to the
// root.
func (l *PathList) MatchRel(rel string) (pattern string, ok bool) {
	if len(l.globs) == 0 {
		return "", false
	}
	if l.fold {
		rel = pathguard.FoldName(rel)
	}
	if rel == "." {
		rel = ""
	}
	if n := l.first(&form{in: true, rel: rel}); n >= 0 {
		return l.patterns[n], true
	}
	return "", false
}

// first returns the number of the first pattern that matches a reading, or -1.
func (l *PathList) first(f *form) int {
	best := -1
	try := func(x *index, text string) {
		for w := x.find(text); ; {
			items, ok := w.next()
			if !ok {
				return
			}
			for _, id := range items {
				if g := &l.globs[id]; (best < 0 || g.pattern < best) && g.glob.hits(f, true) {
					best = g.pattern
				}
			}
		}
	}
	if f.in {
		try(l.rel, f.rel)
	} else {
		try(l.rel, f.abs)
	}
	if f.abs != "" {
		try(l.abs, f.abs)
	}
	if f.abs2 != "" {
		try(l.abs, f.abs2)
	}
	return best
}

// CommandList matches commands against patterns as deny rules of settings do
// (the team policy's disallowedCommands).
type CommandList struct {
	patterns []string
	set      *Set
}

// NewCommandList compiles the patterns; an empty one is an error.
func NewCommandList(patterns []string) (*CommandList, error) {
	l := &CommandList{patterns: patterns}
	rules := make([]model.Rule, len(patterns))
	for i, pattern := range patterns {
		if blanks(pattern) == "" {
			return nil, fmt.Errorf("command pattern %d is empty", i+1)
		}
		rules[i] = model.Rule{Tool: listTool, Pattern: pattern, Text: pattern, Effect: model.EffectDeny, Syntax: model.SyntaxSettings}
	}
	var err error
	l.set, _, err = Compile(rules, Env{
		ClassOf: func(string) string { return "Bash" },
		KindOf:  func(string) model.Kind { return model.KindCommand },
	})
	return l, err
}

const listTool = "bash"

// Patterns returns the patterns in order.
func (l *CommandList) Patterns() []string { return l.patterns }

// Match returns the first pattern, in the order of the list, that a spelling of
// the command or of something that it runs matches, and that spelling. It is
// tried on every command, also on one that could not be understood.
func (l *CommandList) Match(cmd *model.Command) (pattern, matched string, ok bool) {
	g := l.set.groups["Bash"]
	if cmd == nil || g == nil {
		return "", "", false
	}
	best := int32(-1)
	note := func(id int32, text string) {
		if n := l.set.entries[id].rule; best < 0 || n < best {
			best, matched = n, text
		}
	}
	shell.DenyForms(cmd, func(text string, _ int) bool {
		if shell.FoldsCase {
			text = shell.Fold(text)
		}
		for w := g.str.find(text); ; {
			items, more := w.next()
			if !more {
				return true
			}
			for _, id := range items {
				if l.set.entries[id].str.match(text) {
					note(id, text)
				}
			}
		}
	})
	for id := range l.set.entries {
		if o := l.set.entries[id].option; o != nil {
			if _, text, hit := o.CoversCommand(cmd); hit {
				note(int32(id), text)
			}
		}
	}
	if best < 0 {
		return "", "", false
	}
	return l.patterns[best], matched, true
}
