package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// DeriveAllowRules proposes the permission-file rules that "always" adds for a
// call, in the order of its parts or targets, without repeats (SPEC section 4).
// It returns nil where no rule should be offered: a command that is opaque,
// substitutes or starts with a dangerous word, a path in a system folder, a
// class that is answered one by one. A rule that would not cover the very call
// is never proposed.
//
// normalize, if not nil, rewrites the absolute paths first (a temporary
// worktree to the project that it stands for).
func DeriveAllowRules(q *Query, env Env, normalize func(abs string) string) []string {
	if normalize != nil {
		q = rewrite(q, env, normalize)
	}
	rules := proposeAllow(q, env)
	if len(rules) == 0 || !agrees(q, env, rules, model.EffectAllow) {
		return nil
	}
	return rules
}

// DeriveDenyRule proposes the rule that "never" adds for a call, or "": the
// leading verb of a Bash or Git call, dangerous and compound ones too.
func DeriveDenyRule(q *Query, env Env) string {
	rule := proposeDeny(q)
	if rule == "" || !agrees(q, env, []string{rule}, model.EffectDeny) {
		return ""
	}
	return rule
}

// agrees compiles the rules and looks whether they say of the call what they
// were made for.
func agrees(q *Query, env Env, texts []string, effect model.Effect) bool {
	parsed := make([]model.Rule, len(texts))
	for i, text := range texts {
		rule, err := Parse(text, model.SyntaxPermissions, effect, "")
		if err != nil {
			return false
		}
		parsed[i] = rule
	}
	set, _, err := Compile(parsed, env)
	if err != nil {
		return false
	}
	var m Match
	set.Match(q, &m)
	if effect == model.EffectDeny {
		return len(m.Deny) > 0
	}
	return m.Covered
}

func proposeAllow(q *Query, env Env) []string {
	if len(q.Targets) == 0 {
		return nil
	}
	switch q.Class {
	case "Bash", "Tests":
		return proposeCommands(q)
	case "Copy", "Move":
		return proposePairs(q, env)
	case "Git":
		verb := gitFirst(q.Targets[0].Descriptor)
		if verb == "" || refusedVerbs[verb] {
			return nil
		}
		return []string{"Git(" + verb + " *)"}
	case "MCP":
		name := q.Targets[0].Descriptor
		if len(q.Targets) != 1 || name == "" || !printable(name) || strings.ContainsAny(name, "*?") {
			return nil
		}
		return []string{"MCP(" + name + ")"}
	}
	if classShapes[q.Class] != shapePath {
		return nil
	}
	var out []string
	for i := range q.Targets {
		side, ok := proposeFolder(&q.Targets[i], env)
		if !ok {
			return nil
		}
		out = appendNew(out, q.Class+"("+side+")")
	}
	return out
}

// proposeCommands proposes a rule per part, all or nothing.
func proposeCommands(q *Query) []string {
	var out []string
	for i := range q.Targets {
		cmd := q.Targets[i].Command
		if cmd == nil || cmd.Opaque || substitutes(cmd.Source) {
			return nil
		}
		for p := range cmd.Parts {
			part := &cmd.Parts[p]
			if part.Neutral || len(part.Assignments) > 0 || !plainWord(part.Program) || dangerous(part.Program) {
				return nil
			}
			out = appendNew(out, q.Class+"("+part.Program+" *)")
		}
	}
	return out
}

// substitutes reports whether a command may hold a substitution; one in quotes
// counts too, since a missed rule only costs a question.
func substitutes(text string) bool {
	for _, mark := range []string{"$(", "${", "`", "<(", ">("} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// plainWord reports whether a command name is a word and no path or pattern.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte("_-.+@", c) < 0 {
			return false
		}
	}
	return s != "" && s[0] != '-'
}

func dangerous(program string) bool {
	name := strings.ToLower(program)
	if dangerousWords[program] || dangerousWords[name] {
		return true
	}
	for _, start := range dangerousStarts {
		if rest, ok := strings.CutPrefix(name, start); ok && (rest == "" || strings.IndexByte("0123456789.-", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// proposePairs proposes `source -> destination` for a copy or move.
func proposePairs(q *Query, env Env) []string {
	if len(q.Targets)%2 != 0 {
		return nil
	}
	var out []string
	for i := 0; i < len(q.Targets); i += 2 {
		from, ok := proposeFolder(&q.Targets[i], env)
		to, too := proposeFolder(&q.Targets[i+1], env)
		if !ok || !too {
			return nil
		}
		out = appendNew(out, q.Class+"("+from+" -> "+to+")")
	}
	return out
}

// proposeFolder returns the pattern for the folder that a path target lies in:
// the whole root inside, else its parent.
func proposeFolder(t *model.Target, env Env) (string, bool) {
	if t.Kind != model.KindPath || t.Abs == "" {
		return "", false
	}
	root := slash(env.Root)
	if t.Inside && t.RealInside {
		if root == "" || root == "/" || root == slash(env.Home) || !printable(root) {
			return "", false
		}
		return escapeGlob(root) + "/**", true
	}
	if t.Moved {
		return "", false
	}
	dir := path.Dir(slash(t.Abs))
	if !printable(dir) || !mayOpen(dir, slash(env.Home)) {
		return "", false
	}
	return escapeGlob(dir) + "/**", true
}

// mayOpen reports whether a rule may be made for everything below dir: not for
// the root of a file system, a system folder, or what holds the home folder
// (but for the temporary folder, where only a test's home lies).
func mayOpen(dir, home string) bool {
	if !isAbsolute(dir) || dir == "/" || len(dir) == 3 && dir[1] == ':' {
		return false
	}
	if dir == "/tmp" {
		return dir != home
	}
	if contains(dir, home) || slices.Contains(homeParents, dir) {
		return false
	}
	if home != "" && contains(home, dir) {
		return true
	}
	for _, system := range systemRoots {
		if contains(system, dir) || contains(strings.ToLower(system), strings.ToLower(dir)) {
			return false
		}
	}
	return true
}

// contains reports whether p is dir or lies below it.
func contains(dir, p string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// printable reports whether a text is safe to write into a rule.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}

func proposeDeny(q *Query) string {
	if len(q.Targets) == 0 {
		return ""
	}
	t := &q.Targets[0]
	switch q.Class {
	case "Bash":
		if t.Command == nil {
			return ""
		}
		for p := range t.Parts {
			if part := &t.Parts[p]; !part.Neutral && part.Program != "" {
				if verb := path.Base(part.Program); plainWord(verb) {
					return "Bash(" + verb + " *)"
				}
				return ""
			}
		}
	case "Git":
		if verb := gitFirst(t.Descriptor); verb != "" {
			return "Git(" + verb + " *)"
		}
	}
	return ""
}

// gitFirst returns the verb of a git descriptor without its global options.
func gitFirst(descriptor string) string {
	verb := gitVerb(strings.Fields(descriptor))
	if len(verb) == 0 || !isVerb(verb[0]) {
		return ""
	}
	return verb[0]
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// rewrite returns the query with the paths of its targets rewritten.
func rewrite(q *Query, env Env, normalize func(string) string) *Query {
	out := *q
	out.Targets = slices.Clone(q.Targets)
	root := slash(env.Root)
	for i := range out.Targets {
		t := &out.Targets[i]
		if t.Kind != model.KindPath || t.Abs == "" {
			continue
		}
		abs := slash(normalize(t.Abs))
		if abs == t.Abs {
			continue
		}
		p := model.Path{Text: t.Text, Abs: abs, Real: abs, Rel: abs, RealRel: abs}
		if contains(root, abs) {
			rel := path.Clean(strings.TrimPrefix(abs[len(root):], "/"))
			p.Rel, p.RealRel, p.Inside, p.RealInside = rel, rel, true, true
		}
		t.Path = p
	}
	return &out
}
