package rules

import (
	"path"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// command matches a command target.
func (c *call) command(i int) {
	t := &c.q.Targets[i]
	cmd := t.Command
	if cmd == nil {
		return
	}
	c.commandStops(i, cmd)
	c.gitCommands(i, cmd)
	c.hostMentions(i, cmd)
	covered := c.commandCovered(i, cmd)
	for n := range t.Redirections {
		if !c.redirection(i, n, &t.Redirections[n]) {
			covered = false
		}
	}
	for n := range t.Mentions {
		if !c.mention(i, len(t.Redirections)+n, &t.Mentions[n]) {
			covered = false
		}
	}
	c.m.TargetCovered[i] = covered
}

// commandStops tries deny and ask rules on every spelling of the command.
func (c *call) commandStops(i int, cmd *model.Command) {
	if c.own == nil || !c.own.stops {
		return
	}
	if c.own.str != nil {
		shell.DenyForms(cmd, func(text string, part int) bool {
			c.commandText(i, part, text)
			return true
		})
	}
	c.commandOptions(i, cmd)
}

func (c *call) commandText(i, part int, text string) {
	if shell.FoldsCase {
		text = shell.Fold(text)
	}
	for l := c.own.str.find(text); ; {
		items, ok := l.next()
		if !ok {
			return
		}
		for _, id := range items {
			if e := &c.s.entries[id]; e.effect != allow && e.speaksOf(c.q) && e.str.match(text) {
				c.s.hit(c.m, id, model.Evidence{Target: i, Part: part, Ref: -1, Matched: text})
			}
		}
	}
}

// commandOptions tries the deny and ask rules that read a pattern as options,
// for the programs that the command runs.
func (c *call) commandOptions(i int, cmd *model.Command) {
	if len(c.own.options) == 0 {
		return
	}
	for p := range cmd.Parts {
		part := &cmd.Parts[p]
		c.programOptions(i, part.Program, part.Args, cmd)
		for n := range part.Inner {
			c.programOptions(i, part.Inner[n].Program, part.Inner[n].Args, cmd)
		}
	}
	for _, text := range cmd.Naive {
		if words := strings.Fields(text); len(words) > 0 {
			c.programOptions(i, words[0], words[1:], cmd)
		}
	}
}

func (c *call) programOptions(i int, program string, args []string, cmd *model.Command) {
	if program == "" {
		return
	}
	g := c.own.options[shell.Fold(path.Base(program))]
	if g == nil {
		return
	}
	c.tryOptions(i, g.any, cmd)
	if g.word != nil {
		for _, arg := range args {
			c.tryOptions(i, g.word[arg], cmd)
		}
	}
}

func (c *call) tryOptions(i int, items []int32, cmd *model.Command) {
	for _, id := range items {
		e := &c.s.entries[id]
		if !e.speaksOf(c.q) {
			continue
		}
		if part, text, ok := e.option.CoversCommand(cmd); ok {
			c.s.hit(c.m, id, model.Evidence{Target: i, Part: part, Ref: -1, Matched: text})
		}
	}
}

// hostMentions tries the deny and ask rules of everything that fetches on the
// hosts that the command names: their host patterns, and their URL patterns on
// the host's front page.
func (c *call) hostMentions(i int, cmd *model.Command) {
	g := c.s.groups["Fetch"]
	if g == nil || !g.stops {
		return
	}
	for _, host := range cmd.Hosts {
		if g.hosts != nil {
			c.hostStops(i, host, g.hosts.exact[host])
			for at := 0; at < len(host) && len(g.hosts.below) > 0; at++ {
				if host[at] == '.' {
					c.hostStops(i, host, g.hosts.below[host[at+1:]])
				}
			}
		}
		if g.str == nil {
			continue
		}
		for _, scheme := range [...]string{"https://", "http://"} {
			b := append(append(append(c.m.buf.text[:0], scheme...), host...), '/')
			c.m.buf.text = b
			c.stops(g, i, -1, view(b))
			c.stops(g, i, -1, view(b[:len(b)-1]))
		}
	}
}

func (c *call) hostStops(i int, host string, items []int32) {
	for _, id := range items {
		if c.s.entries[id].effect != allow {
			c.s.hit(c.m, id, model.Evidence{Target: i, Part: -1, Ref: -1, Matched: host})
		}
	}
}

// commandCovered reports whether allow rules cover every part. Nothing covers
// what could not be parsed; a rule for every command covers what is dynamic,
// and what has no part to match.
func (c *call) commandCovered(i int, cmd *model.Command) bool {
	if cmd.Grade == model.GradeUnparseable {
		return false
	}
	every := c.everyCommand(i)
	if cmd.Opaque {
		return every
	}
	matched := false
	for p := range cmd.Parts {
		part := &cmd.Parts[p]
		if part.Neutral {
			continue
		}
		if !every && part.Program == "git" && !c.s.gitMayAllow(c.join(part.Args)) {
			return false // as for the git tool: other configuration, programs or places
		}
		if !every && !c.partCovered(i, p, part.Text) && (part.Canonical == part.Text || !c.partCovered(i, p, part.Canonical)) {
			return false
		}
		matched = true
	}
	return matched || every
}

// everyCommand reports whether a bare rule or one with the pattern `*` holds.
func (c *call) everyCommand(i int) bool {
	if c.bareAllow >= 0 {
		return true
	}
	if c.own == nil || c.own.str == nil {
		return false
	}
	for _, id := range c.own.str.general {
		if e := &c.s.entries[id]; e.effect == allow && e.str.any && e.speaksOf(c.q) {
			c.s.hit(c.m, id, model.Evidence{Target: i, Part: -1, Ref: -1, Matched: "*"})
			return true
		}
	}
	return false
}

// partCovered reports whether an allow rule matches a spelling of a part.
func (c *call) partCovered(i, part int, text string) bool {
	if c.own == nil {
		return false
	}
	for l := c.own.str.find(text); ; {
		items, ok := l.next()
		if !ok {
			return false
		}
		for _, id := range items {
			if e := &c.s.entries[id]; e.effect == allow && e.speaksOf(c.q) && e.str.match(text) {
				c.s.hit(c.m, id, model.Evidence{Target: i, Part: part, Ref: -1, Matched: text})
				return true
			}
		}
	}
}

// redirection matches a redirection, and reports whether allow rules cover it.
func (c *call) redirection(i, n int, ref *model.PathRef) bool {
	x := &c.m.buf.scan
	x.start(&ref.Path, c.s.env.Fold, &c.m.buf.folds, i, ref.Part, n)
	if ref.Dynamic {
		return c.dynamic(x, ref)
	}
	x.touched(c, ref.Access, "")
	if !ref.Access.Changes() {
		x.lift(c, ref.Access)
		x.report(c, false)
		return x.lifted()
	}
	x.own, x.wants = false, allow
	bare := false
	for _, g := range c.s.cover {
		x.group(c, g)
		bare = bare || len(g.bareAllow) > 0
	}
	x.report(c, false)
	if !x.coveredBy(bare) {
		return false
	}
	x.use(c)
	return true
}

// dynamic matches a redirection whose target the text does not say: only rules
// for every path speak of it.
func (c *call) dynamic(x *pathScan, ref *model.PathRef) bool {
	covered := !ref.Access.Changes()
	for _, g := range c.s.touch[ref.Access] {
		x.bare(c, g)
		if g.rel == nil {
			continue
		}
		for _, id := range g.rel.general {
			if e := &c.s.entries[id]; e.effect != allow && e.tool == "" && e.path.catchAll() {
				c.s.hit(c.m, id, model.Evidence{Target: x.target, Part: x.part, Ref: x.ref, Matched: ref.Text})
			}
		}
	}
	for _, g := range c.s.cover {
		covered = covered || len(g.bareAllow) > 0
		if g.rel == nil {
			continue
		}
		for _, id := range g.rel.general {
			if e := &c.s.entries[id]; e.effect == allow && !e.prefix && e.path.catchAll() {
				c.s.hit(c.m, id, model.Evidence{Target: x.target, Part: x.part, Ref: x.ref, Matched: ref.Text})
				covered = true
			}
		}
	}
	c.m.Paths = append(c.m.Paths, PathMatch{Target: x.target, Ref: x.ref})
	return covered
}

// mention matches a file operand: it never allows, and one outside the root
// takes coverage away unless an absolute allow rule speaks of it, or it is a guess.
func (c *call) mention(i, n int, ref *model.PathRef) bool {
	x := &c.m.buf.scan
	x.start(&ref.Path, c.s.env.Fold, &c.m.buf.folds, i, ref.Part, n)
	x.touched(c, ref.Access, ref.Program)
	x.lift(c, ref.Access)
	x.report(c, false)
	return x.lifted() || ref.Guess
}
