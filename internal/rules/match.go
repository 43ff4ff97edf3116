package rules

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// scratch is the memory that a Match keeps from one call to the next.
type scratch struct {
	bare  []int32
	text  []byte
	folds [6][]byte
	more  [6][]byte
	scan  pathScan
	other pathScan
}

// reset forgets the last query and keeps the memory.
func (m *Match) reset() {
	m.Deny, m.Ask, m.Allow = m.Deny[:0], m.Ask[:0], m.Allow[:0]
	m.Paths, m.TargetCovered = m.Paths[:0], m.TargetCovered[:0]
	m.Covered = false
	m.buf.bare = m.buf.bare[:0]
}

// Match fills m with what the rules say about q. It allocates nothing once the
// slices of m have grown to what the calls need.
func (s *Set) Match(q *Query, m *Match) {
	m.reset()
	own := s.groups[q.Class]
	if q.Class == "" {
		own = s.classless(q.Tool)
	}
	s.bareRules(q, own, m)
	bareAllow := s.bareAllow(m)
	if len(q.Targets) == 0 {
		s.bareHits(m, -1)
		m.Covered = bareAllow >= 0 && !q.Unextractable
		if m.Covered {
			s.hit(m, bareAllow, model.Evidence{Target: -1, Part: -1, Ref: -1, Matched: q.Tool})
		}
		return
	}
	for range q.Targets {
		m.TargetCovered = append(m.TargetCovered, false)
	}
	c := call{s: s, q: q, m: m, own: own, bareAllow: bareAllow, form: classShapes[q.Class]}
	for i := 0; i < len(q.Targets); i++ {
		denied, asked := len(m.Deny), len(m.Ask)
		s.bareHits(m, i)
		switch t := &q.Targets[i]; t.Kind {
		case model.KindPath:
			if c.form == shapePair && t.Role == model.RoleSource && c.pairs(i) {
				s.bareHits(m, i+1)
				c.pair(i)
				i++
				break
			}
			c.path(i)
		case model.KindCommand:
			c.command(i)
		case model.KindURL:
			c.url(i)
		default:
			m.TargetCovered[i] = c.descriptor(i, t.Descriptor) || bareAllow >= 0
		}
		s.inOrder(m.Deny[denied:])
		s.inOrder(m.Ask[asked:])
	}
	if q.Unextractable {
		clear(m.TargetCovered)
		m.Allow = m.Allow[:0]
	}
	m.Covered = !slices.Contains(m.TargetCovered, false)
	if m.Covered && bareAllow >= 0 {
		s.hit(m, bareAllow, model.Evidence{Target: 0, Part: -1, Ref: -1, Matched: q.Tool})
	}
}

// call is one Match on its way.
type call struct {
	s         *Set
	q         *Query
	m         *Match
	own       *group
	bareAllow int32
	form      shape
}

// classless finds the group of a tool without a class without building its key.
func (s *Set) classless(tool string) *group { return s.loners[tool] }

// bareRules collects the entries without a pattern that hold for the call.
func (s *Set) bareRules(q *Query, own *group, m *Match) {
	m.buf.bare = append(m.buf.bare, s.bare[q.Tool]...)
	for _, n := range s.lengths {
		if n <= len(q.Tool) {
			m.buf.bare = append(m.buf.bare, s.begins[q.Tool[:n]]...)
		}
		if n <= len(q.Called) && (n > len(q.Tool) || q.Called[:n] != q.Tool[:n]) {
			m.buf.bare = append(m.buf.bare, s.begins[q.Called[:n]]...)
		}
	}
	if own != nil {
		m.buf.bare = append(m.buf.bare, own.bare...)
	}
}

// bareAllow returns the first allow entry without a pattern, or -1.
func (s *Set) bareAllow(m *Match) int32 {
	for _, id := range m.buf.bare {
		if s.entries[id].effect == allow {
			return id
		}
	}
	return -1
}

// bareHits records the deny and ask rules without a pattern for a target.
func (s *Set) bareHits(m *Match, target int) {
	for _, id := range m.buf.bare {
		if s.entries[id].effect != allow {
			s.hit(m, id, model.Evidence{Target: target, Part: -1, Ref: -1, Matched: s.rules[s.entries[id].rule].Tool})
		}
	}
}

// dedupe is how many hits of one target are looked through for the same rule;
// beyond it a rule may be listed twice, which only costs room.
const dedupe = 64

// hit records evidence once per rule, target and reference.
func (s *Set) hit(m *Match, id int32, ev model.Evidence) {
	e := &s.entries[id]
	ev.Rule = &s.rules[e.rule]
	list := &m.Allow
	switch e.effect {
	case deny:
		list = &m.Deny
	case ask:
		list = &m.Ask
	}
	all := *list
	for i := len(all) - 1; i >= 0 && i >= len(all)-dedupe; i-- {
		if all[i].Target != ev.Target {
			break
		}
		if all[i].Rule == ev.Rule && all[i].Ref == ev.Ref {
			return
		}
	}
	*list = append(all, ev)
}

// inOrder sorts the hits of one target: its own before those of references, and
// in rule order.
func (s *Set) inOrder(list []model.Evidence) {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && s.before(&list[j], &list[j-1]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
		if i == dedupe {
			slices.SortStableFunc(list, func(a, b model.Evidence) int {
				if s.before(&a, &b) {
					return -1
				}
				if s.before(&b, &a) {
					return 1
				}
				return 0
			})
			return
		}
	}
}

func (s *Set) before(a, b *model.Evidence) bool {
	if a.Target != b.Target {
		return a.Target < b.Target
	}
	if a.Ref != b.Ref {
		return a.Ref < b.Ref
	}
	return s.number(a.Rule) < s.number(b.Rule)
}

// pairs reports whether a destination follows the source.
func (c *call) pairs(i int) bool {
	return i+1 < len(c.q.Targets) && c.q.Targets[i+1].Kind == model.KindPath && c.q.Targets[i+1].Role == model.RoleMain
}

// url matches a url target: hosts in settings, the URL in permission files.
func (c *call) url(i int) {
	t := &c.q.Targets[i]
	covered := c.bareAllow >= 0
	if c.own != nil {
		covered = c.host(i, t.Host.Host) || covered
		if t.IP != "" && t.IP != t.Host.Host {
			covered = c.host(i, t.IP) || covered
		}
		text := t.Descriptor
		if text == "" {
			text = t.URL
		}
		covered = c.descriptor(i, text) || covered
		c.urlSpellings(i, text)
	}
	c.m.TargetCovered[i] = covered
}

// urlSpellings tries deny and ask patterns on the URL as a server reads it:
// percent-encoded letters decoded, empty segments of the path dropped.
func (c *call) urlSpellings(i int, text string) {
	if !c.own.stops || c.own.str == nil {
		return
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.IndexByte(rest, '%') < 0 && !strings.Contains(rest, "//") {
		return
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	where, query, asked := strings.Cut(rest, "?")
	for strings.Contains(where, "//") {
		where = strings.ReplaceAll(where, "//", "/")
	}
	if asked {
		where += "?" + query
	}
	c.stops(c.own, i, -1, scheme+"://"+where)
}

// host matches the host rules of the call's group.
func (c *call) host(i int, host string) (covered bool) {
	x := c.own.hosts
	if x == nil || host == "" {
		return false
	}
	covered = c.hostItems(i, host, x.exact[host])
	for at := 0; at < len(host) && len(x.below) > 0; at++ {
		if host[at] == '.' && c.hostItems(i, host, x.below[host[at+1:]]) {
			covered = true
		}
	}
	return covered
}

func (c *call) hostItems(i int, host string, items []int32) (covered bool) {
	for _, id := range items {
		if e := &c.s.entries[id]; e.speaksOf(c.q) {
			c.s.hit(c.m, id, model.Evidence{Target: i, Part: -1, Ref: -1, Matched: host})
			covered = covered || e.effect == allow
		}
	}
	return covered
}

// descriptor matches the string patterns of the call's group, and reports
// whether an allow rule covers the text.
func (c *call) descriptor(i int, text string) (covered bool) {
	if c.own == nil {
		return false
	}
	isGit := c.q.Class == "Git"
	covers := !isGit || c.s.gitMayAllow(text)
	for l := c.own.str.find(text); ; {
		items, ok := l.next()
		if !ok {
			break
		}
		for _, id := range items {
			e := &c.s.entries[id]
			if !e.speaksOf(c.q) || !e.str.match(text) || e.effect == allow && !covers {
				continue
			}
			c.s.hit(c.m, id, model.Evidence{Target: i, Part: -1, Ref: -1, Matched: text})
			covered = covered || e.effect == allow
		}
	}
	if isGit {
		c.gitForms(i, text)
	}
	return covered
}
