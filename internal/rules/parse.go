package rules

import (
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// maxRule is the longest rule text in bytes. Longer ones are mistakes, and the
// cost of matching grows with the pattern.
const maxRule = 4096

// Parse reads one rule. In settings it is `tool` or `tool(pattern)`, and an
// empty pattern is an error; in permission files the parentheses are required
// and an empty pattern is one that matches an empty descriptor only. The last
// `)` closes, so `bash(a) b)` has the pattern `a) b`. Blanks around the rule
// are dropped, those inside the parentheses are kept.
//
// The error names the source and the rule. An invalid glob is not found here
// but by Compile, which knows what the pattern is matched against.
func Parse(text string, syntax model.Syntax, effect model.Effect, source string) (model.Rule, error) {
	rule := model.Rule{Text: strings.TrimSpace(text), Effect: effect, Syntax: syntax, Source: source}
	fail := func(why string) (model.Rule, error) {
		where := ""
		if source != "" {
			where = source + ": "
		}
		return model.Rule{}, fmt.Errorf("%sinvalid permission rule %q: %s", where, shorten(rule.Text), why)
	}
	if len(rule.Text) > maxRule {
		return fail(fmt.Sprintf("longer than %d bytes", maxRule))
	}
	if strings.ContainsRune(rule.Text, 0) {
		return fail("it holds a NUL byte")
	}
	name, rest, open := strings.Cut(rule.Text, "(")
	if why := checkName(name); why != "" {
		return fail(why)
	}
	rule.Tool = name
	if !open {
		if syntax == model.SyntaxPermissions {
			return fail("parentheses are required here: write " + name + "(*) for every call")
		}
		rule.Bare = true
		return rule, nil
	}
	pattern, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return fail("the closing parenthesis is missing")
	}
	if syntax == model.SyntaxSettings && strings.TrimSpace(pattern) == "" {
		return fail("empty pattern: write " + name + " alone for every call")
	}
	rule.Pattern = pattern
	return rule, nil
}

// checkName says what is wrong with a tool name, or "".
func checkName(name string) string {
	if name == "" {
		return "the tool name is missing"
	}
	if c := name[0]; !isLetter(c) && c != '_' {
		return "a tool name must start with a letter or underscore"
	}
	body := strings.TrimSuffix(name, "*")
	for i := 0; i < len(body); i++ {
		if c := body[i]; !isLetter(c) && !isDigit(c) && c != '_' && c != '-' {
			return fmt.Sprintf("a tool name holds letters, digits, '_' and '-' only, not %q: write tool or tool(pattern)", c)
		}
	}
	return ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// shorten cuts a text for a message.
func shorten(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
