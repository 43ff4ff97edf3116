package shell

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// grammar is one of the grammars that a text is parsed with.
type grammar uint8

const (
	gBash grammar = iota
	gZsh
	gPOSIX
	grammars
)

var variants = [grammars]syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangPOSIX}

// parser is one reusable parser of one grammar, with the reader it needs.
type parser struct {
	p  *syntax.Parser
	rd strings.Reader
}

var parserPools [grammars]sync.Pool

// parse reads text with the grammar g. The file returned beside an error is a
// partial tree: good for deny rules, never for allow.
func parse(text string, g grammar) (*syntax.File, error) {
	p, _ := parserPools[g].Get().(*parser)
	if p == nil {
		p = &parser{p: syntax.NewParser(syntax.Variant(variants[g]))}
	}
	p.rd.Reset(text)
	f, err := p.p.Parse(&p.rd, "")
	p.rd.Reset("")
	parserPools[g].Put(p)
	return f, err
}
