package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// WarningKind says what a Warning is about.
type WarningKind string

// The kinds of warnings.
const (
	WarnUnknown  WarningKind = "unknown"  // no class or tool of this name
	WarnRisky    WarningKind = "risky"    // an allow rule that allows more than it seems
	WarnShadowed WarningKind = "shadowed" // an allow rule that a deny rule always beats
	WarnNever    WarningKind = "never"    // a rule that can never match
	WarnOutside  WarningKind = "outside"  // a settings rule that seems to speak of a path outside the root
)

// Warning is advice about a rule; it changes nothing.
type Warning struct {
	Kind WarningKind
	Rule model.Rule
	// Text says what is wrong and what to do, without the rule.
	Text string
}

// String returns the warning with file and rule in front.
func (w Warning) String() string {
	s := fmt.Sprintf("%s rule %s: %s", w.Rule.Effect, w.Rule.Text, w.Text)
	if w.Rule.Source != "" {
		s = w.Rule.Source + ": " + s
	}
	return s
}

// Lint advises about rules, in rule order: unknown classes, risky allow rules,
// allow rules that a deny rule shadows, and rules that can never match. It never
// fails: a rule that does not compile is one that never matches.
func Lint(rules []model.Rule, env Env) []Warning {
	var out []Warning
	denied := newShadows(rules, env)
	for i := range rules {
		r := &rules[i]
		if text := unknownTool(r, env); text != "" {
			out = append(out, Warning{WarnUnknown, *r, text})
			continue
		}
		out = append(out, never(r, env)...)
		if text := outside(r, env); text != "" {
			out = append(out, Warning{WarnOutside, *r, text})
		}
		if r.Effect != model.EffectAllow {
			continue
		}
		if text := risky(r, env); text != "" {
			out = append(out, Warning{WarnRisky, *r, text})
		}
		if d := denied.over(r); d != nil {
			out = append(out, Warning{WarnShadowed, *r, "shadowed by the deny rule " + d.Text + ", which always wins: remove one of them"})
		}
	}
	return out
}

// unknownTool says that a permission-file rule has no known class or tool.
func unknownTool(r *model.Rule, env Env) string {
	if r.Syntax != model.SyntaxPermissions || KnownClass(r.Tool) || strings.HasSuffix(r.Tool, "*") {
		return ""
	}
	tool := env.canonical(r.Tool)
	if env.classOf(tool) != "" || env.kindOf(tool) != "" {
		return ""
	}
	return "unknown class or tool " + r.Tool + ": write one of the classes, as in Bash(go test *)"
}

// never returns what compiling the rule by itself says.
func never(r *model.Rule, env Env) []Warning {
	_, notices, err := Compile([]model.Rule{*r}, env)
	if err != nil {
		return []Warning{{WarnNever, *r, err.Error()}}
	}
	var out []Warning
	for _, n := range notices {
		out = append(out, Warning{WarnNever, *r, n.Text})
	}
	return out
}

// machineFolders are the folders of a machine that a leading / most likely means.
var machineFolders = []string{"bin", "etc", "home", "mnt", "opt", "private", "root", "run", "srv", "tmp", "usr", "var", "Users", "Volumes"}

// outside says that a path rule of the settings looks absolute. There a leading /
// is the project's root, so the rule speaks of something else than its author
// means.
func outside(r *model.Rule, env Env) string {
	if r.Syntax != model.SyntaxSettings || r.Bare || env.kindOf(env.canonical(r.Tool)) != model.KindPath {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.Pattern, "/"), "/")
	if !strings.HasPrefix(r.Pattern, "~/") && !(strings.HasPrefix(r.Pattern, "/") && slices.Contains(machineFolders, first)) {
		return ""
	}
	return "in settings a path starts at the project's root, also with / or ~/ in front: for one outside of it, put the rule into a permission file, as in Write(/tmp/build/**)"
}

// classOfRule returns the class that a rule speaks of, or "".
func classOfRule(r *model.Rule, env Env) string {
	if r.Syntax == model.SyntaxPermissions && KnownClass(r.Tool) {
		return r.Tool
	}
	return env.classOf(env.canonical(r.Tool))
}

// risky says why an allow rule allows more than it seems, or "".
func risky(r *model.Rule, env Env) string {
	class := classOfRule(r, env)
	pattern := blanks(r.Pattern)
	all := r.Bare || strings.Trim(pattern, "*/ ") == ""
	switch class {
	case "Bash", "Tests":
		if all {
			return "allows every command: name the programs"
		}
		first, _, _ := strings.Cut(pattern, " ")
		word := strings.TrimRight(first, "*")
		if i := strings.LastIndexByte(word, '/'); i >= 0 {
			word = word[i+1:]
		}
		if strings.Contains(pattern, "*") && (word == "" || dangerous(word)) {
			return "allows " + first + ", which can run anything or destroy files: allow the exact commands instead"
		}
	case "Git":
		first, _, _ := strings.Cut(pattern, " ")
		switch {
		case all:
			return "allows every git command, push and config among them: name the verbs"
		case strings.HasPrefix(first, "-"):
			return "starts with a global option of git, which can work elsewhere or run other programs: name the verbs"
		case refusedVerbs[strings.TrimRight(first, "*")]:
			return "allows git " + first + ", which publishes or runs other programs: allow the exact commands instead"
		}
	case "Github", "MCP":
		if all && r.Tool == class {
			return "allows every action of " + class + ", also those that write: name them"
		}
	case "Delete", "Write", "Edit", "Move":
		if all || class == "Delete" && wholeRoot(pattern, env) {
			return "allows " + strings.ToLower(class) + " everywhere in the project: name a folder"
		}
	case "Fetch":
		if all {
			return "allows every URL: name the hosts"
		}
	}
	return ""
}

// wholeRoot reports whether a path pattern covers everything in the root.
func wholeRoot(pattern string, env Env) bool {
	globs, err := newPaths(env).permission(pattern)
	if err != nil {
		return false
	}
	for _, g := range globs {
		if !g.absolute && len(g.segments) == 1 && g.segments[0].deep {
			return true
		}
	}
	return false
}
