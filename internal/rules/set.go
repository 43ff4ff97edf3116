package rules

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/lictor-policy/lictor/internal/model"
)

// Set is an immutable compiled set of rules, safe for concurrent use.
type Set struct {
	env     Env
	rules   []model.Rule
	entries []entry
	groups  map[string]*group
	// loners are the groups of tools without a class, by tool.
	loners map[string]*group
	// bare are rules without a pattern by canonical tool, begins those whose tool
	// ends in a star by their literal start, lengths the lengths of those.
	bare, begins map[string][]int32
	lengths      []int
	// touch are the groups whose deny and ask rules speak of every path with an
	// access, cover those whose allow rules cover a write redirection, programs
	// the pair groups by program.
	touch    map[model.Access][]*group
	cover    []*group
	programs map[string]*group
	git      *group
}

// Compile builds the index of the rules, which it keeps: do not change them
// afterwards. An invalid pattern is an error that names the file and the rule;
// a rule that can never match is a Notice, in rule order.
func Compile(rules []model.Rule, env Env) (*Set, []Notice, error) {
	if len(rules) > maxRules {
		return nil, nil, fmt.Errorf("%d rules: at most %d are possible", len(rules), maxRules)
	}
	c := compiler{
		env: env, paths: newPaths(env), rules: rules, entries: make([]entry, 0, len(rules)),
		groups: map[string]*draft{}, bare: map[string][]int32{}, begins: map[string][]int32{}, folders: map[string]bool{},
	}
	for i := range rules {
		if err := c.add(i); err != nil {
			return nil, nil, err
		}
		if len(c.entries) > maxReadings {
			return nil, nil, c.bad(&rules[i], errTooMany)
		}
	}
	return c.finish(), c.notices, nil
}

// finish builds the indexes.
func (c *compiler) finish() *Set {
	s := &Set{env: c.env, rules: c.rules, entries: c.entries, bare: c.bare, begins: c.begins, groups: map[string]*group{}, loners: map[string]*group{}}
	for key, d := range c.groups {
		g := &group{
			bare: d.bare, bareAllow: d.bareAllow, options: d.options, stops: d.stops,
			str: newIndex(d.str), rel: newIndex(d.rel), abs: newIndex(d.abs),
		}
		if d.hosts.exact != nil {
			g.hosts = &d.hosts
		}
		if tool, ok := strings.CutPrefix(key, lonerKey); ok {
			s.loners[tool] = g
		} else {
			s.groups[key] = g
		}
	}
	for start := range s.begins {
		s.lengths = append(s.lengths, len(start))
	}
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	s.touch = map[model.Access][]*group{}
	for access, classes := range accessClasses {
		s.touch[access] = s.present(classes)
	}
	s.cover = s.present(writeClasses)
	s.programs = map[string]*group{}
	for program, class := range programClasses {
		if g := s.groups[class]; g != nil {
			s.programs[program] = g
		}
	}
	if g := s.groups["Git"]; g != nil && g.stops && g.str != nil {
		s.git = g
	}
	return s
}

// present returns the groups of the classes that have rules.
func (s *Set) present(classes []string) []*group {
	var out []*group
	for _, class := range classes {
		if g := s.groups[class]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// Rules returns the rules of the set in the order they were given. Read only.
func (s *Set) Rules() []model.Rule { return s.rules }

// number returns the place of one of the set's own rules in rule order.
func (s *Set) number(r *model.Rule) int {
	return int((uintptr(unsafe.Pointer(r)) - uintptr(unsafe.Pointer(unsafe.SliceData(s.rules)))) / unsafe.Sizeof(*r))
}
