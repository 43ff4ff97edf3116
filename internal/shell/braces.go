package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds the words that one brace list may make.
const maxBraces = 64

// hasBraces reports a word that may hold an active brace list or sequence.
func hasBraces(n *syntax.Word) bool {
	open, sep := false, false
	for _, p := range n.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		v := l.Value
		if !open && strings.IndexByte(v, '{') < 0 {
			continue
		}
		for i := 0; i < len(v); i++ {
			switch v[i] {
			case '\\':
				i++
			case '{':
				open = true
			case ',':
				sep = sep || open
			case '.':
				sep = sep || open && i+1 < len(v) && v[i+1] == '.'
			case '}':
				if sep {
					return true
				}
			}
		}
	}
	return false
}

// braces expands the lists of a word without expansions: {a,b}. Sequences, and
// lists with expansions in them, stay as written.
func (w *walker) braces(n *syntax.Word, cx ctx) ([]word, bool) {
	for _, p := range n.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if _, ok := q.(*syntax.Lit); !ok {
					return nil, false
				}
			}
		default:
			return nil, false
		}
	}
	c := syntax.Word{Parts: append([]syntax.WordPart(nil), n.Parts...)}
	if !syntax.SplitBraces(&c) {
		return nil, false
	}
	all, ok := expandBraces(c.Parts)
	if !ok {
		return nil, false
	}
	var out []word
	for _, parts := range all {
		if len(parts) == 0 {
			continue // an empty alternative is no word
		}
		one := &syntax.Word{Parts: parts}
		e := w.word(one, cx)
		e.wflag = e.wflag&^wBrace | wBraced
		var src strings.Builder
		for _, p := range parts {
			if l, ok := p.(*syntax.Lit); ok {
				src.WriteString(l.Value)
				continue
			}
			src.WriteString(w.slice(p.Pos(), p.End()))
		}
		e.src, e.node = src.String(), nil
		if e.plain() && bare(e.val) {
			e.src = e.val
			e.wflag |= wBare
		}
		out = append(out, e)
	}
	return out, true
}

// expandBraces lists the words that parts stand for.
func expandBraces(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	all := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range all {
				all[i] = append(all[i][:len(all[i]):len(all[i])], p)
			}
			continue
		}
		if b.Sequence {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, head := range all {
			for _, el := range b.Elems {
				tails, ok := expandBraces(el.Parts)
				if !ok || len(next)+len(tails) > maxBraces {
					return nil, false
				}
				for _, tail := range tails {
					next = append(next, append(head[:len(head):len(head)], tail...))
				}
			}
		}
		all = next
	}
	return all, true
}
