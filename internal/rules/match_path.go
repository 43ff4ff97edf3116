package rules

import (
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// pathScan matches one path against groups.
type pathScan struct {
	forms forms
	// other is the other side of a pair, nil for a single path; left says that
	// this is the source.
	other *pathScan
	left  bool

	target, part, ref int
	// own says that the group is the call's own, so that a rule must speak of its
	// tool; else allow entries count only if wants says so.
	own   bool
	wants effect

	// What was found, per reading that must be covered: allow entries, absolute
	// allow and ask entries, and entries that name the path; -1 is none.
	covered, absAllow, absAsk, namedAllow, namedAsk [2]int32
}

// start prepares a scan of p.
func (x *pathScan) start(p *model.Path, folded bool, bufs *[6][]byte, target, part, ref int) {
	*x = pathScan{target: target, part: part, ref: ref}
	none := [2]int32{-1, -1}
	x.covered, x.absAllow, x.absAsk, x.namedAllow, x.namedAsk = none, none, none, none, none
	x.forms.read(p, folded, bufs)
}

// group tries the entries of a group on every reading.
func (x *pathScan) group(c *call, g *group) {
	if g == nil {
		return
	}
	for i := range x.forms.list[:x.forms.total] {
		f := &x.forms.list[i]
		if f.in {
			x.index(c, g.rel, f.rel, i)
		} else {
			x.index(c, g.rel, f.abs, i)
		}
		if f.abs != "" {
			x.index(c, g.abs, f.abs, i)
		}
		if f.abs2 != "" {
			x.index(c, g.abs, f.abs2, i)
		}
	}
}

func (x *pathScan) index(c *call, idx *index, text string, reading int) {
	for l := idx.find(text); ; {
		items, ok := l.next()
		if !ok {
			return
		}
		for _, id := range items {
			x.try(c, id, reading)
		}
	}
}

// try matches one candidate.
func (x *pathScan) try(c *call, id int32, reading int) {
	e := &c.s.entries[id]
	switch {
	case x.own:
		if !e.speaksOf(c.q) {
			return
		}
	case e.effect&x.wants == 0 || e.prefix || e.tool != "" && e.effect != allow:
		return
	}
	f := &x.forms.list[reading]
	if !x.matches(e, f) {
		return
	}
	if e.effect != allow {
		c.s.hit(c.m, id, model.Evidence{Target: x.target, Part: x.part, Ref: x.ref, Matched: f.text, ViaReal: f.real})
	}
	if x.other != nil && x.left && !e.both {
		c.pairRight(x.other, e, id)
	}
	if reading >= x.forms.cover {
		return
	}
	absolute := e.path.absolute && !e.path.wide
	switch e.effect {
	case allow:
		set(&x.covered[reading], id)
		if absolute {
			set(&x.absAllow[reading], id)
		}
		if e.names {
			set(&x.namedAllow[reading], id)
		}
	case ask:
		if absolute {
			set(&x.absAsk[reading], id)
		}
		if e.names {
			set(&x.namedAsk[reading], id)
		}
	}
}

func set(to *int32, id int32) {
	if *to < 0 {
		*to = id
	}
}

// matches reports whether the entry's pattern matches the reading; an allow
// pattern of a pair must match all readings of both sides.
func (x *pathScan) matches(e *entry, f *form) bool {
	stops := e.effect != allow
	if x.other == nil {
		return (e.dst == nil || e.both || stops) && e.path.hits(f, stops)
	}
	if !e.both && !x.left {
		return false
	}
	if !e.path.hits(f, stops) {
		return false
	}
	if stops {
		return e.both || x.other.forms.any(e.dst, true)
	}
	if e.both {
		return x.forms.all(e.dst) && x.other.forms.all(e.dst)
	}
	for i := range x.forms.list[:x.forms.cover] {
		if !e.path.hits(&x.forms.list[i], false) {
			return false
		}
	}
	return x.other.forms.all(e.dst)
}

// inside reports whether every reading lies in the root.
func (x *pathScan) inside() bool {
	for i := range x.forms.list[:x.forms.cover] {
		if !x.forms.list[i].in {
			return false
		}
	}
	return true
}

// coveredBy reports whether allow patterns cover every reading; bare says that
// a rule without a pattern covers what is inside.
func (x *pathScan) coveredBy(bare bool) bool {
	for i := range x.forms.list[:x.forms.cover] {
		if x.covered[i] < 0 && (!bare || !x.forms.list[i].in) {
			return false
		}
	}
	return true
}

// lifted reports whether every reading outside the root has an absolute allow
// pattern.
func (x *pathScan) lifted() bool {
	for i := range x.forms.list[:x.forms.cover] {
		if !x.forms.list[i].in && x.absAllow[i] < 0 {
			return false
		}
	}
	return true
}

// report appends what was found to Match.Paths.
func (x *pathScan) report(c *call, named bool) {
	p := PathMatch{Target: x.target, Ref: x.ref}
	outside := func(f *form) bool { return !f.in }
	p.AbsAllow = x.pick(c, &x.absAllow, outside)
	p.AbsAsk = x.pick(c, &x.absAsk, outside)
	if named && x.forms.cover > 0 {
		sensitive := func(f *form) bool { return pathguard.Sensitive(f.text, c.s.env.Fold) }
		p.NamedAllow = x.pick(c, &x.namedAllow, sensitive)
		p.NamedAsk = x.pick(c, &x.namedAsk, sensitive)
	}
	c.m.Paths = append(c.m.Paths, p)
}

// pick returns a rule found for the readings that need one, or nil if one of
// them has none or none needs one.
func (x *pathScan) pick(c *call, found *[2]int32, needs func(*form) bool) *model.Rule {
	if found[0] < 0 && found[1] < 0 {
		return nil
	}
	var rule *model.Rule
	for i := range x.forms.list[:x.forms.cover] {
		if !needs(&x.forms.list[i]) {
			continue
		}
		if found[i] < 0 {
			return nil
		}
		rule = &c.s.rules[c.s.entries[found[i]].rule]
	}
	return rule
}

// use records the allow entries that covered the path.
func (x *pathScan) use(c *call) {
	for i := range x.forms.list[:x.forms.cover] {
		if id := x.covered[i]; id >= 0 {
			f := &x.forms.list[i]
			c.s.hit(c.m, id, model.Evidence{Target: x.target, Part: x.part, Ref: x.ref, Matched: f.text, ViaReal: f.real})
		}
	}
}

// touched tries the deny and ask rules of every class with the access.
func (x *pathScan) touched(c *call, access model.Access, program string) {
	x.own, x.wants, x.other = false, stop, nil
	for _, g := range c.s.touch[access] {
		if !g.stops || g == c.own && x.ref < 0 {
			continue
		}
		x.bare(c, g)
		x.group(c, g)
	}
	if g := c.s.programs[program]; g != nil && g.stops {
		x.bare(c, g)
		x.group(c, g)
	}
}

// bare records the rules of a group that speak of every path.
func (x *pathScan) bare(c *call, g *group) {
	for _, id := range g.bare {
		c.s.hit(c.m, id, model.Evidence{Target: x.target, Part: x.part, Ref: x.ref, Matched: x.forms.list[0].text})
	}
}

// path matches a path target.
func (c *call) path(i int) {
	t := &c.q.Targets[i]
	x := &c.m.buf.scan
	x.start(&t.Path, c.s.env.Fold, &c.m.buf.folds, i, -1, -1)
	x.own = true
	x.group(c, c.own)
	// Where the class's patterns are strings, the descriptor is what they match.
	byText := c.form == shapeString && c.descriptor(i, t.Descriptor)
	if t.Role != model.RoleMain {
		x.touched(c, t.Access, "")
		x.lift(c, t.Access)
	} else if t.Access == model.AccessDelete && c.q.Class != "Delete" {
		x.touched(c, t.Access, "") // a diff that deletes a file
	}
	whole := byText || c.bareAllow >= 0
	covered := whole && x.lifted() || x.coveredBy(whole)
	if covered {
		x.use(c)
	}
	c.m.TargetCovered[i] = covered
	x.report(c, true)
}

// lift looks for absolute allow rules of every class with the access: such a
// rule lets a search or a command reach outside the root.
func (x *pathScan) lift(c *call, access model.Access) {
	if x.inside() {
		return
	}
	covered, named := x.covered, x.namedAllow
	x.own, x.wants, x.other = false, allow, nil
	for _, g := range c.s.touch[access] {
		x.group(c, g)
	}
	x.covered, x.namedAllow = covered, named
}
