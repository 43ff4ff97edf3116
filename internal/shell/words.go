package shell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"mvdan.cc/sh/v3/syntax"
)

// Words splits a string of plain shell words: blanks part them, single quotes,
// double quotes and backslashes quote. It returns an error that names the
// character if the text holds an operator, an expansion, a redirection, a brace
// list, a comment or an unclosed quote, so that a list of arguments given as one
// string never means more than its words.
func Words(text string) ([]string, error) {
	var out []string
	var b strings.Builder
	in := false
	end := func() {
		if in {
			out = append(out, b.String())
			b.Reset()
			in = false
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			end()
		case c == '\\':
			if i++; i >= len(text) {
				return nil, errors.New("a lone backslash at the end; remove it or quote it")
			}
			if text[i] == '\n' {
				continue
			}
			in = true
			b.WriteByte(text[i])
		case c == '\'':
			j := strings.IndexByte(text[i+1:], '\'')
			if j < 0 {
				return nil, errors.New("an unclosed single quote; close it")
			}
			in = true
			b.WriteString(text[i+1 : i+1+j])
			i += j + 1
		case c == '"':
			in = true
			n, err := doubleQuoted(text[i+1:], &b)
			if err != nil {
				return nil, err
			}
			i += n
		case strings.IndexByte(";&|<>()\n\r", c) >= 0:
			return nil, fmt.Errorf("the operator %q is not allowed among plain words; quote it if it is part of an argument", string(c))
		case c == '$' || c == '`':
			return nil, fmt.Errorf("the expansion %q is not allowed among plain words; quote it if it is part of an argument", string(c))
		case c == '#' && !in:
			return nil, errors.New("a comment is not allowed among plain words; quote the '#'")
		case c < 0x20 || c == 0x7f:
			return nil, fmt.Errorf("the control character %q is not allowed", string(c))
		case c == '{' && strings.Contains(text[i:], ",") && strings.Contains(text[i:], "}"):
			if list, _, _ := strings.Cut(text[i:], "}"); strings.Contains(list, ",") && !strings.ContainsAny(list, " \t") {
				return nil, errors.New("a brace list is not allowed among plain words; quote it if it is part of an argument")
			}
			in = true
			b.WriteByte(c)
		default:
			in = true
			b.WriteByte(c)
		}
	}
	end()
	return out, nil
}

// doubleQuoted reads the inside of double quotes and returns how much it read.
func doubleQuoted(s string, b *strings.Builder) (int, error) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return i + 1, nil
		case '$', '`':
			return 0, fmt.Errorf("the expansion %q is not allowed among plain words; use single quotes", string(c))
		case 0:
			return 0, errors.New("a NUL byte is not allowed")
		case '\\':
			if i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				if i++; s[i] != '\n' {
					b.WriteByte(s[i])
				}
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return 0, errors.New("an unclosed double quote; close it")
}

// Key returns a key that two texts share exactly if they have the same syntax
// tree, so that a session rule for "this command" holds for `pnpm  test` too and
// never for anything else. A text that does not parse, or whose tree cannot be
// trusted, is its own key.
func Key(text string, sh model.Shell) string {
	c := Analyze(text, sh)
	if c.Grade == model.GradeUnparseable {
		return "text:" + text
	}
	for _, code := range c.Reasons {
		if reasonByCode[code].distrust() || code == reasonTable[rTooMany].code {
			return "text:" + text
		}
	}
	g := gBash
	if sh == model.ShellPOSIX {
		g = gPOSIX
	}
	f, err := parse(text, g)
	if err != nil {
		return "text:" + text
	}
	var b strings.Builder
	b.WriteString("tree:")
	if err := printTree(&b, f); err != nil {
		return "text:" + text
	}
	return b.String()
}

func printTree(b *strings.Builder, f *syntax.File) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the tree cannot be printed")
		}
	}()
	return syntax.NewPrinter(syntax.SingleLine(true)).Print(b, f)
}

// SameTree reports whether two texts have the same syntax tree, whitespace
// aside (see Key).
func SameTree(a, b string, sh model.Shell) bool { return a == b || Key(a, sh) == Key(b, sh) }
