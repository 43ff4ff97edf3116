package shell

import "github.com/lictor-policy/lictor/internal/model"

// DenyForms calls yield with every spelling of the command that a deny or ask
// rule must be tried on (SPEC section 4, "command"): the text, each part as
// written, canonical and flat, everything that the parts run, the pipelines and
// the whole in canonical form, and the naive split of an opaque text. part is
// the index of the part that a spelling belongs to, -1 for none. It stops when
// yield returns false, and allocates nothing. Allow rules must not use it.
func DenyForms(c *model.Command, yield func(form string, part int) bool) {
	if !yield(c.Source, -1) {
		return
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Canonical != c.Source && !yield(p.Canonical, i) ||
			p.Text != p.Canonical && p.Text != c.Source && !yield(p.Text, i) ||
			p.Flat != p.Canonical && p.Flat != p.Text && !yield(p.Flat, i) {
			return
		}
		for k := range p.Inner {
			s := &p.Inner[k]
			if !yield(s.Canonical, i) ||
				s.Flat != s.Canonical && !yield(s.Flat, i) ||
				s.Text != s.Canonical && s.Text != s.Flat && !yield(s.Text, i) {
				return
			}
		}
	}
	for _, s := range c.Lines {
		if !yield(s, -1) {
			return
		}
	}
	for _, s := range c.Naive {
		if !yield(s, -1) {
			return
		}
	}
}
