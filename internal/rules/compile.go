package rules

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// maxRules bounds a set; a file with more is no file that a person wrote.
const maxRules = 200_000

// maxReadings bounds what all patterns together stand for: with braces a small
// file could otherwise fill the memory.
const maxReadings = 500_000

var errTooMany = fmt.Errorf("the patterns stand for more than %d patterns together: use fewer braces", maxReadings)

// compiler collects entries until the index is built.
type compiler struct {
	env     Env
	paths   paths
	rules   []model.Rule
	entries []entry
	groups  map[string]*draft
	bare    map[string][]int32
	begins  map[string][]int32
	notices []Notice
	folders map[string]bool
	// readings counts the compiled path patterns.
	readings int
}

// draft is a group that is being filled.
type draft struct {
	bare, bareAllow []int32
	str, rel, abs   []pending
	hosts           hostIndex
	options         map[string]*optionGroup
	stops           bool
}

// add compiles one rule.
func (c *compiler) add(i int) error {
	r := &c.rules[i]
	e := entry{rule: int32(i), effect: effectOf(r.Effect)}
	if r.Syntax == model.SyntaxPermissions && KnownClass(r.Tool) {
		return c.pattern(r, e, r.Tool, classShapes[r.Tool])
	}
	if name, ok := strings.CutSuffix(r.Tool, "*"); ok {
		e.tool, e.prefix = name, true
		return c.prefixRule(r, e)
	}
	e.tool = c.env.canonical(r.Tool)
	class := c.env.classOf(e.tool)
	form := c.shape(r, e.tool, class)
	key := groupKey(class, e.tool)
	if r.Bare {
		c.bareRule(e, key, form)
		return nil
	}
	if r.Syntax == model.SyntaxSettings && KnownClass(r.Tool) && form == shapeNone {
		c.notice(r, classInSettings(r.Tool))
		return nil
	}
	if r.Syntax == model.SyntaxPermissions && class == "" && c.env.kindOf(e.tool) == "" {
		c.notice(r, "no class and no tool of this name is known, so the rule never matches: write one of the classes, as in Bash(…)")
	}
	if e.effect != allow && speaksForClass(form) {
		e.tool = ""
	}
	return c.pattern(r, e, key, form)
}

// classInSettings says what to write in place of a class that no tool is named after.
func classInSettings(class string) string {
	text := class + " is a class of permission files and no tool, so the rule never matches here: put it into .lictor/permissions.json, or write a tool's name"
	if class == "MCP" {
		text += ", as in mcp__SERVER__TOOL"
	}
	return text
}

// groupKey is the name of a tool's group.
func groupKey(class, tool string) string {
	if class != "" {
		return class
	}
	return lonerKey + tool
}

// lonerKey starts the group name of a tool without a class; no class has it.
const lonerKey = "tool "

// shape says what a rule's pattern is matched against: in permission files that
// is the class's business, in settings the kind of target.
func (c *compiler) shape(r *model.Rule, tool, class string) shape {
	kind := c.env.kindOf(tool)
	form := classShapes[class]
	if r.Syntax == model.SyntaxPermissions && class != "" {
		return form
	}
	switch kind {
	case model.KindPath:
		if form == shapePair {
			return shapePair
		}
		return shapePath
	case model.KindCommand:
		return shapeCommand
	case model.KindURL:
		return shapeHost
	case model.KindInput:
		if r.Syntax == model.SyntaxPermissions {
			return shapeString
		}
		return shapeNone
	}
	switch {
	case r.Syntax == model.SyntaxPermissions:
		return shapeString
	case form == shapeURL:
		return shapeHost
	case form == shapeString:
		return shapeNone
	}
	return form
}

// bareRule places a rule without a pattern.
func (c *compiler) bareRule(e entry, key string, form shape) {
	item := c.item(e)
	g := c.group(key)
	switch {
	case e.effect == allow:
		g.bareAllow = append(g.bareAllow, item)
		c.bare[e.tool] = append(c.bare[e.tool], item)
	case speaksForClass(form) && KnownClass(key):
		g.bare = append(g.bare, item)
		g.stops = true
	default:
		c.bare[e.tool] = append(c.bare[e.tool], item)
	}
}

// prefixRule places a rule whose tool name ends in a star. It holds for every
// tool of that start, known or not; a deny or ask rule also for the classes of
// the known ones.
func (c *compiler) prefixRule(r *model.Rule, e entry) error {
	classes := map[string]bool{}
	for _, tool := range c.env.Tools {
		if strings.HasPrefix(tool, e.tool) {
			if class := c.env.classOf(tool); class != "" {
				classes[class] = true
			}
		}
	}
	if r.Bare {
		item := c.item(e)
		c.begins[e.tool] = append(c.begins[e.tool], item)
		for class := range classes {
			if e.effect != allow && speaksForClass(classShapes[class]) {
				g := c.group(class)
				g.bare = append(g.bare, item)
				g.stops = true
			}
			if e.effect == allow {
				g := c.group(class)
				g.bareAllow = append(g.bareAllow, item)
			}
		}
		return nil
	}
	used := false
	for class, form := range classShapes {
		if r.Syntax == model.SyntaxSettings {
			if form == shapeURL {
				form = shapeHost
			}
			if form == shapeString && class != "Grep" && class != "Glob" {
				continue
			}
			if form == shapeString {
				form = shapePath
			}
		}
		own := e
		if e.effect != allow && classes[class] && speaksForClass(form) {
			own.tool, own.prefix = "", false
		}
		if err := c.pattern(r, own, class, form); err != nil {
			if len(classes) > 0 && !classes[class] || form == shapeHost {
				continue
			}
			return err
		}
		used = true
	}
	if !used {
		c.notice(r, "no tool of this start takes a pattern like this, so the rule never matches")
	}
	return nil
}

// pattern places an entry with a pattern into a group.
func (c *compiler) pattern(r *model.Rule, e entry, key string, form shape) error {
	text := r.Pattern
	switch form {
	case shapeNone:
		what := "calls of this tool have nothing that a pattern is matched against"
		if tool := c.env.canonical(r.Tool); r.Syntax == model.SyntaxSettings && c.env.kindOf(tool) == "" && !strings.HasPrefix(tool, "mcp__") {
			what = "no tool of this name is known" + Suggest(r.Tool, c.env.Tools) + ", and calls of an unknown one have nothing that a pattern is matched against"
		}
		c.notice(r, what+", so the rule never matches: write "+r.Tool+" alone")
		return nil
	case shapeCommand:
		return c.commandPattern(r, e, key)
	case shapeString:
		glob := newStringGlob(text, r.Syntax == model.SyntaxPermissions)
		if descriptor, one := mcpDescriptor(c.env.canonical(r.Tool)); one && !glob.match(descriptor) {
			c.notice(r, "the pattern is matched against "+descriptor+", so the rule never matches: write "+r.Tool+"(*), or MCP("+descriptor+")")
		}
		return c.stringPattern(e, key, glob)
	case shapeURL:
		if lacksScheme(text) {
			c.notice(r, "the pattern is matched against the whole URL, so the rule never matches: write it with its scheme, as in "+r.Tool+"(https://example.com/*)")
			return nil
		}
		return c.stringPattern(e, key, newStringGlob(lowerOrigin(strings.TrimSpace(text)), true))
	case shapeHost:
		g := c.group(key)
		if err := g.hosts.add(text, string(r.Effect)+" rule "+shorten(r.Text), int32(len(c.entries))); err != nil {
			if errors.Is(err, errLoneStar) {
				c.notice(r, err.Error())
				return nil
			}
			return fmt.Errorf("%s: %w", r.Source, err)
		}
		c.item(e)
		g.stops = g.stops || e.effect != allow
		return nil
	case shapePair:
		return c.pairPattern(r, e, key)
	}
	globs, err := c.globs(r, text)
	if err != nil {
		return c.globError(r, err)
	}
	if len(globs) == 0 {
		c.notice(r, "a path is never empty, so the rule never matches")
	}
	for _, g := range globs {
		c.pathEntry(e, key, g)
	}
	return nil
}

// mcpDescriptor is the one descriptor that calls of an MCP server's tool have.
func mcpDescriptor(canonical string) (string, bool) {
	name, mcp := strings.CutPrefix(canonical, "mcp__")
	server, tool, both := strings.Cut(name, "__")
	if !mcp || !both || strings.HasSuffix(tool, "*") {
		return "", false
	}
	return server + "/" + tool, true
}

// lacksScheme reports whether a pattern starts like a host, so that no URL matches.
func lacksScheme(pattern string) bool {
	start := strings.TrimSpace(pattern)
	if i := strings.IndexAny(start, `*?[{\`); i >= 0 {
		start = start[:i]
	}
	before, _, found := strings.Cut(start, ".")
	return found && !strings.Contains(before, ":")
}

func (c *compiler) stringPattern(e entry, key string, s *stringGlob) error {
	g := c.group(key)
	e.str = s
	p := pending{item: c.item(e)}
	p.prefix, p.suffix = s.keys()
	p.inside = s.inside()
	g.str = append(g.str, p)
	g.stops = g.stops || e.effect != allow
	return nil
}

// commandPattern places a command pattern; deny and ask patterns are read as
// options and operands too.
func (c *compiler) commandPattern(r *model.Rule, e entry, key string) error {
	text := blanks(r.Pattern)
	if text == "" {
		c.notice(r, "a command is never empty, so the rule never matches")
		return nil
	}
	if e.effect != allow {
		g := c.group(key)
		if o, ok := shell.OptionMatch(text); ok {
			own := e
			own.option = o
			program, _, _ := strings.Cut(text, " ")
			program = shell.Fold(path.Base(program))
			if g.options == nil {
				g.options = map[string]*optionGroup{}
			}
			if g.options[program] == nil {
				g.options[program] = &optionGroup{}
			}
			g.options[program].add(text, c.item(own))
		}
		text = shell.Fold(text)
	}
	return c.stringPattern(e, key, newStringGlob(text, r.Syntax == model.SyntaxPermissions))
}

// pairPattern places the pattern of a copy or move: `src -> dst`, or one
// pattern for both sides.
func (c *compiler) pairPattern(r *model.Rule, e entry, key string) error {
	left, right, pair := strings.Cut(r.Pattern, " -> ")
	globs, err := c.globs(r, left)
	if err != nil {
		return c.globError(r, err)
	}
	if pair {
		if e.dst, err = c.globs(r, right); err != nil {
			return c.globError(r, err)
		}
		if len(e.dst) == 0 {
			globs = nil
		}
	} else {
		e.dst, e.both = globs, true
	}
	if len(globs) == 0 {
		c.notice(r, "a path is never empty, so the rule never matches")
	}
	for _, g := range globs {
		c.pathEntry(e, key, g)
	}
	return nil
}

func (c *compiler) pathEntry(e entry, key string, glob *pathGlob) {
	g := c.group(key)
	e.path = glob
	e.names = glob.names(c.paths.fold, c.folders)
	for _, g := range e.dst {
		g.named = g.names(c.paths.fold, c.folders)
	}
	p := pending{item: c.item(e)}
	p.prefix, p.suffix = glob.keys()
	if glob.absolute {
		g.abs = append(g.abs, p)
	} else {
		g.rel = append(g.rel, p)
	}
	g.stops = g.stops || e.effect != allow
}

// globs compiles a path pattern in the rule's dialect.
func (c *compiler) globs(r *model.Rule, text string) ([]*pathGlob, error) {
	read := func() ([]*pathGlob, error) {
		if r.Syntax == model.SyntaxPermissions {
			return c.paths.permission(text)
		}
		return c.paths.settings(text, r.Effect != model.EffectAllow)
	}
	out, err := read()
	if c.readings += len(out); c.readings > maxReadings {
		return nil, errTooMany
	}
	return out, err
}

// globError turns a pattern that cannot match for want of a home into a notice.
func (c *compiler) globError(r *model.Rule, err error) error {
	if errors.Is(err, errNoHome) {
		c.notice(r, err.Error())
		return nil
	}
	return c.bad(r, err)
}

func (c *compiler) bad(r *model.Rule, err error) error {
	return fmt.Errorf("%s: %s rule %q: %w", r.Source, r.Effect, shorten(r.Text), err)
}

func (c *compiler) notice(r *model.Rule, text string) {
	c.notices = append(c.notices, Notice{Rule: *r, Text: text})
}

func (c *compiler) item(e entry) int32 {
	c.entries = append(c.entries, e)
	return int32(len(c.entries) - 1)
}

func (c *compiler) group(key string) *draft {
	g := c.groups[key]
	if g == nil {
		g = &draft{}
		c.groups[key] = g
	}
	return g
}

// lowerOrigin lower-cases scheme and host of a URL pattern.
func lowerOrigin(pattern string) string {
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return pattern
	}
	host := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = i
	}
	return strings.ToLower(scheme) + "://" + strings.ToLower(rest[:host]) + rest[host:]
}
