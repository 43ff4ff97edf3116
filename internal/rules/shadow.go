package rules

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// shadows finds the deny rule that matches everything an allow rule matches. It
// errs on the side of silence.
type shadows struct {
	env   Env
	paths paths
	// classes are the deny rules by class (or tool) and syntax.
	classes map[string]*shadowClass
}

type shadowClass struct {
	bare          *model.Rule
	same          map[string]*model.Rule
	globs         []shadowGlob
	str, rel, abs *index
}

type shadowGlob struct {
	rule *model.Rule
	str  *stringGlob
	path *pathGlob
}

// newShadows indexes the deny rules.
func newShadows(rules []model.Rule, env Env) *shadows {
	s := &shadows{env: env, paths: newPaths(env), classes: map[string]*shadowClass{}}
	waiting := map[*shadowClass]*draft{}
	for i := range rules {
		r := &rules[i]
		if r.Effect != model.EffectDeny {
			continue
		}
		key, form := s.key(r)
		c := s.classes[key]
		if c == nil {
			c = &shadowClass{same: map[string]*model.Rule{}}
			s.classes[key], waiting[c] = c, &draft{}
		}
		if r.Bare {
			c.bare = r
			continue
		}
		c.same[r.Pattern] = r
		c.add(s, waiting[c], r, form)
	}
	for c, d := range waiting {
		c.str, c.rel, c.abs = newIndex(d.str), newIndex(d.rel), newIndex(d.abs)
	}
	return s
}

// key names the rules that can shadow each other, and says what their patterns
// are matched against. Tools of string classes do different things.
func (s *shadows) key(r *model.Rule) (string, shape) {
	class := classOfRule(r, s.env)
	form := classShapes[class]
	if class == "" || form == shapeString && r.Tool != class {
		class = lonerKey + r.Tool
	}
	return string(r.Syntax) + " " + class, form
}

func (c *shadowClass) add(s *shadows, d *draft, r *model.Rule, form shape) {
	e := pending{item: int32(len(c.globs))}
	switch form {
	case shapeCommand, shapeString, shapeURL:
		g := newStringGlob(blanks(r.Pattern), r.Syntax == model.SyntaxPermissions)
		e.prefix, e.suffix = g.keys()
		c.globs = append(c.globs, shadowGlob{rule: r, str: g})
		d.str = append(d.str, e)
	case shapePath:
		globs, err := s.globs(r)
		if err != nil || len(c.globs) > maxReadings {
			return
		}
		for _, g := range globs {
			e := pending{item: int32(len(c.globs))}
			e.prefix, e.suffix = g.keys()
			c.globs = append(c.globs, shadowGlob{rule: r, path: g})
			if g.absolute {
				d.abs = append(d.abs, e)
			} else {
				d.rel = append(d.rel, e)
			}
		}
	}
}

func (s *shadows) globs(r *model.Rule) ([]*pathGlob, error) {
	if r.Syntax == model.SyntaxPermissions {
		return s.paths.permission(r.Pattern)
	}
	return s.paths.settings(r.Pattern, false)
}

// over returns a deny rule that shadows the allow rule, or nil.
func (s *shadows) over(a *model.Rule) *model.Rule {
	key, form := s.key(a)
	c := s.classes[key]
	switch {
	case c == nil:
		return nil
	case c.bare != nil || a.Bare:
		return c.bare
	case c.same[a.Pattern] != nil:
		return c.same[a.Pattern]
	}
	switch form {
	case shapeCommand, shapeString, shapeURL:
		narrow := blanks(a.Pattern)
		if narrow == "" {
			return nil
		}
		texts := []string{probe(narrow)}
		if head, ok := strings.CutSuffix(narrow, " *"); ok {
			texts = append(texts, probe(head))
		}
		return c.first(c.str, texts, func(g *shadowGlob, text string) bool { return g.str.match(text) })
	case shapePath:
		return s.overPath(c, a)
	}
	return nil
}

// overPath treats the allow pattern as paths: a trailing `**` stands for the
// folder and for what lies below it.
func (s *shadows) overPath(c *shadowClass, a *model.Rule) *model.Rule {
	if strings.ContainsAny(a.Pattern, `{[\`) || strings.HasPrefix(a.Pattern, "~") {
		return nil
	}
	globs, err := s.globs(a)
	if err != nil || len(globs) != 1 {
		return nil
	}
	g := globs[0]
	var names []string
	deep := false
	for i := range g.segments {
		switch seg := &g.segments[i]; {
		case seg.deep && i == len(g.segments)-1:
			deep = true
		case seg.tokens == nil && !seg.deep:
			names = append(names, seg.lit)
		default:
			names = append(names, "\uE000")
		}
	}
	base := strings.Join(names, "/")
	texts := []string{base}
	if deep {
		texts = append(texts, strings.TrimPrefix(base+"/\uE000", "/"), strings.TrimPrefix(base+"/\uE000/\uE001", "/"))
		if g.below {
			texts = texts[1:]
		}
	}
	index := c.rel
	if g.absolute {
		index = c.abs
	}
	return c.first(index, texts, func(d *shadowGlob, text string) bool { return d.path.match(text) })
}

// first returns the rule of the first glob that matches all texts.
func (c *shadowClass) first(x *index, texts []string, match func(*shadowGlob, string) bool) *model.Rule {
	for w := x.find(texts[0]); ; {
		items, ok := w.next()
		if !ok {
			return nil
		}
	next:
		for _, id := range items {
			for _, text := range texts {
				if !match(&c.globs[id], text) {
					continue next
				}
			}
			return c.globs[id].rule
		}
	}
}

// probe replaces wildcards by a letter that no pattern holds, so that only a
// wildcard of a wider pattern matches it.
func probe(pattern string) string {
	return strings.NewReplacer("*", "\uE000", "?", "\uE000").Replace(pattern)
}
