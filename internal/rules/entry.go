package rules

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// effect is a bit per effect, so that one walk can look for several.
type effect uint8

const (
	allow effect = 1 << iota
	ask
	deny
	stop = ask | deny
)

func effectOf(e model.Effect) effect {
	switch e {
	case model.EffectDeny:
		return deny
	case model.EffectAsk:
		return ask
	}
	return allow
}

// entry is one compiled reading of a rule: a rule whose pattern has braces, or
// that speaks for several classes, has several.
type entry struct {
	rule   int32
	effect effect
	// tool limits the entry to one canonical tool ("" is the whole group), or to
	// the tools that start with it.
	tool   string
	prefix bool
	// str or path is the pattern. dst is the right side of a pair pattern; where
	// both is set the pattern had one side, and dst is all readings of it.
	str  *stringGlob
	path *pathGlob
	dst  []*pathGlob
	both bool
	// names says that the pattern names what it matches (names.go).
	names bool
	// option reads a command pattern as options and operands (deny and ask).
	option *shell.OptionPattern
}

// speaksOf reports whether the entry holds for the query's own tool.
func (e *entry) speaksOf(q *Query) bool {
	switch {
	case e.tool == "":
		return true
	case e.prefix:
		return strings.HasPrefix(q.Tool, e.tool) || strings.HasPrefix(q.Called, e.tool)
	}
	return e.tool == q.Tool
}

// optionGroup holds the option patterns of one program: by the word that follows
// the program's name where that is no option, since every command that such a
// pattern covers has the word among its arguments.
type optionGroup struct {
	word map[string][]int32
	any  []int32
}

func (g *optionGroup) add(pattern string, item int32) {
	words := strings.Fields(pattern)
	if len(words) > 2 && words[1][0] != '-' && !strings.ContainsAny(words[1], "*?+") {
		if g.word == nil {
			g.word = map[string][]int32{}
		}
		g.word[words[1]] = append(g.word[words[1]], item)
		return
	}
	g.any = append(g.any, item)
}

// group holds the entries of one class, or of one tool without a class.
type group struct {
	// bare are the deny and ask rules without a pattern that speak for the whole
	// group; bareAllow the allow rules of any of its tools (for redirections).
	bare, bareAllow []int32
	str, rel, abs   *index
	hosts           *hostIndex
	options         map[string]*optionGroup
	// stops says that the group has a deny or ask entry at all.
	stops bool
}
