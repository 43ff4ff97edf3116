package rules

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// form is one reading of a path: as written, or where it really leads.
type form struct {
	// in says that it lies in the root, rel is then the path below it ("" is the
	// root). abs is the absolute path and abs2 its other spelling, if the root
	// itself is behind a link; both without the leading slash.
	in             bool
	rel, abs, abs2 string
	real           bool
	// text is what evidence shows.
	text string
}

// forms are the readings of one path. Allow rules must cover the first cover of
// them; deny and ask rules look at all.
type forms struct {
	list         [3]form
	cover, total int
}

// read fills in the readings of p. The buffers are used for folding.
func (f *forms) read(p *model.Path, folded bool, bufs *[6][]byte) {
	f.list[0] = form{in: p.Inside, rel: p.Rel, abs: p.Abs, text: p.Rel}
	f.cover, f.total = 1, 1
	if p.Moved {
		f.list[1] = form{in: p.RealInside, rel: p.RealRel, abs: p.Real, real: true, text: p.RealRel}
		f.cover, f.total = 2, 2
	} else if p.Real != p.Abs {
		f.list[0].abs2 = p.Real
	}
	if p.Place != "" {
		x := form{in: !isAbsolute(p.Place), rel: p.Place, real: true, text: p.Place}
		if !x.in {
			x.abs = p.Place
		}
		f.list[f.total] = x
		f.total++
	}
	for i := range f.list[:f.total] {
		x := &f.list[i]
		if x.text == "" {
			x.text = p.Text
		}
		if folded {
			x.rel = foldInto(&bufs[2*i], x.rel)
			x.abs = foldInto(&bufs[2*i+1], x.abs)
			x.abs2 = pathguard.FoldName(x.abs2)
		}
		if !x.in || x.rel == "." {
			x.rel = ""
		}
		x.abs = strings.TrimPrefix(x.abs, "/")
		x.abs2 = strings.TrimPrefix(x.abs2, "/")
	}
}

// hits reports whether the pattern matches the reading. Deny and ask patterns
// (stops) that start with `**` are not bound to the root.
func (g *pathGlob) hits(f *form, stops bool) bool {
	switch {
	case g.absolute:
		return f.abs != "" && g.match(f.abs) || f.abs2 != "" && g.match(f.abs2)
	case f.in:
		return g.match(f.rel) || stops && f.rel == "" && g.match(".")
	}
	return stops && len(g.segments) > 0 && g.segments[0].deep && g.match(f.abs)
}

func anyHits(globs []*pathGlob, f *form, stops bool) bool {
	for _, g := range globs {
		if g.hits(f, stops) {
			return true
		}
	}
	return false
}

// any reports whether some reading is matched, all whether every one is that
// allow rules must cover.
func (f *forms) any(globs []*pathGlob, stops bool) bool {
	for i := range f.list[:f.total] {
		if anyHits(globs, &f.list[i], stops) {
			return true
		}
	}
	return false
}

func (f *forms) all(globs []*pathGlob) bool {
	for i := range f.list[:f.cover] {
		if !anyHits(globs, &f.list[i], false) {
			return false
		}
	}
	return true
}
