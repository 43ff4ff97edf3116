package rules

import "github.com/lictor-policy/lictor/internal/model"

// pair matches the source and the destination of a copy or move.
func (c *call) pair(i int) {
	src, dst := &c.m.buf.scan, &c.m.buf.other
	from, to := &c.q.Targets[i], &c.q.Targets[i+1]
	src.start(&from.Path, c.s.env.Fold, &c.m.buf.folds, i, -1, -1)
	dst.start(&to.Path, c.s.env.Fold, &c.m.buf.more, i+1, -1, -1)
	src.other, dst.other, src.left = dst, src, true
	src.own, dst.own = true, true
	src.group(c, c.own)
	dst.group(c, c.own)
	src.touched(c, from.Access, "")
	if c.q.Class == "Move" {
		src.touched(c, model.AccessDelete, "") // nothing is left where it was
	}
	src.lift(c, from.Access)
	dst.touched(c, to.Access, "")
	bare := c.bareAllow >= 0
	covered := src.coveredBy(bare) && dst.coveredBy(bare)
	c.m.TargetCovered[i], c.m.TargetCovered[i+1] = covered, covered
	if covered {
		src.use(c)
		dst.use(c)
	}
	src.report(c, true)
	dst.report(c, true)
}

// pairRight notes on the destination what a pair pattern's right side says about
// it, once its left side has matched the source (and, to allow, both sides).
func (c *call) pairRight(dst *pathScan, e *entry, id int32) {
	for i := range dst.forms.list[:dst.forms.cover] {
		for _, g := range e.dst {
			if !g.hits(&dst.forms.list[i], e.effect != allow) {
				continue
			}
			absolute := g.absolute && !g.wide
			if e.effect == allow {
				set(&dst.covered[i], id)
				if absolute {
					set(&dst.absAllow[i], id)
				}
				if g.named {
					set(&dst.namedAllow[i], id)
				}
				continue
			}
			if e.effect != ask {
				continue
			}
			if absolute {
				set(&dst.absAsk[i], id)
			}
			if g.named {
				set(&dst.namedAsk[i], id)
			}
		}
	}
}
