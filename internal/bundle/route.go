package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// Route is what a rule declares that it is about, in its METADATA under
// `custom`. Each list that is there must have something that the call has; a
// rule without any list applies to every call. What a rule declares binds it: it
// must not say anything about other calls.
type Route struct {
	// Tools are canonical tool names ("bash"), Kinds kinds of target.
	Tools []string `json:"tools,omitempty"`
	Kinds []string `json:"kinds,omitempty"`
	// Programs are base names of programs that a command runs, at any depth.
	Programs []string `json:"programs,omitempty"`
	// Hosts are hosts that the call names: exact, *.example.com, or * for any.
	Hosts []string `json:"hosts,omitempty"`
	// Paths are how the text of a path, redirection or mention starts ("/dev/").
	Paths []string `json:"paths,omitempty"`
	// Text is what the text of a command contains ("(){").
	Text []string `json:"text,omitempty"`
}

// routeKeys are the keys of METADATA custom, all of them.
var routeKeys = []string{"tools", "kinds", "programs", "hosts", "paths", "text"}

var routeKinds = []string{string(model.KindPath), string(model.KindCommand), string(model.KindURL), string(model.KindInput)}

func (r *Route) list(key string) *[]string {
	return map[string]*[]string{
		"tools": &r.Tools, "kinds": &r.Kinds, "programs": &r.Programs, "hosts": &r.Hosts, "paths": &r.Paths, "text": &r.Text,
	}[key]
}

// readRoute reads the declaration of one rule and tells fail what is wrong.
func readRoute(annotation *ast.Annotations, fail func(format string, args ...any)) (route Route) {
	for _, key := range slices.Sorted(maps.Keys(annotation.Custom)) {
		list := route.list(key)
		if list == nil {
			fail("METADATA custom.%s is unknown (known: %s); put your own keys under labels", key, strings.Join(routeKeys, ", "))
			continue
		}
		values, ok := annotation.Custom[key].([]any)
		if !ok || len(values) == 0 {
			fail("METADATA custom.%s: want a list of texts that is not empty", key)
			continue
		}
		for _, value := range values {
			text, ok := value.(string)
			if !ok || text == "" {
				fail("METADATA custom.%s: %v is no text", key, value)
				continue
			}
			if problem := routeValue(key, text); problem != "" {
				fail("METADATA custom.%s: %q: %s", key, text, problem)
			}
			*list = append(*list, text)
		}
	}
	return route
}

func routeValue(key, text string) string {
	switch {
	case key == "kinds" && !slices.Contains(routeKinds, text):
		return fmt.Sprintf("want one of %s", strings.Join(routeKinds, ", "))
	case key == "programs" && strings.ContainsAny(text, `/\ `):
		return "want the base name of a program"
	case key == "hosts" && text != "*" && strings.Contains(strings.TrimPrefix(text, "*."), "*"):
		return "want a host, *.example.com or *"
	case key == "hosts" && text != strings.ToLower(text):
		return "want lower case"
	}
	return ""
}

// String says what the rule is about.
func (r Route) String() string {
	var words []string
	for _, key := range routeKeys {
		if list := *r.list(key); len(list) > 0 {
			words = append(words, key+" "+strings.Join(list, ", "))
		}
	}
	if len(words) == 0 {
		return "every call"
	}
	return strings.Join(words, "; ")
}

// routes are the compiled routes of a bundle. The zero value skips every call,
// which is right for a bundle without rules.
type routes struct {
	always bool
	// programs is the union of the rules that declare programs and nothing else:
	// one look-up for each program of the call answers for all of them.
	programs map[string]bool
	others   []compiledRoute
}

type compiledRoute struct {
	Route
	programSet map[string]bool
}

func compileRoutes(rules []Rule) (out routes) {
	for _, rule := range rules {
		route := rule.Route
		onlyPrograms := route
		onlyPrograms.Programs = nil
		switch {
		case onlyPrograms.String() != "every call":
			out.others = append(out.others, compiledRoute{route, set(route.Programs)})
		case len(route.Programs) == 0:
			out.always = true
		default:
			if out.programs == nil {
				out.programs = make(map[string]bool)
			}
			maps.Copy(out.programs, set(route.Programs))
		}
	}
	return out
}

func set(words []string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, word := range words {
		out[word] = true
	}
	return out
}

// apply reports whether some rule could say something about the call. It
// allocates nothing, and where it cannot tell it says yes: an opaque command may
// run any program, touch any path and reach any host.
func (r *routes) apply(input *model.Input) bool {
	if r.always {
		return true
	}
	if len(r.programs) > 0 && anyProgram(input, r.programs) {
		return true
	}
	for i := range r.others {
		if r.others[i].applies(input) {
			return true
		}
	}
	return false
}

func (r *compiledRoute) applies(input *model.Input) bool {
	return (len(r.Tools) == 0 || slices.Contains(r.Tools, input.Tool) || slices.Contains(r.Tools, input.Called)) &&
		(len(r.Kinds) == 0 || anyKind(input, r.Kinds)) &&
		(len(r.programSet) == 0 || anyProgram(input, r.programSet)) &&
		(len(r.Hosts) == 0 || anyHost(input, r.Hosts)) &&
		(len(r.Paths) == 0 || anyPath(input, r.Paths)) &&
		(len(r.Text) == 0 || anyText(input, r.Text))
}

func anyKind(input *model.Input, kinds []string) bool {
	for i := range input.Targets {
		if slices.Contains(kinds, string(input.Targets[i].Kind)) {
			return true
		}
	}
	return false
}

func anyProgram(input *model.Input, programs map[string]bool) bool {
	for i := range input.Targets {
		command := input.Targets[i].Command
		if command == nil {
			continue
		}
		if command.Opaque {
			return true
		}
		for j := range command.Parts {
			part := &command.Parts[j]
			if hasProgram(programs, part.Program) {
				return true
			}
			for k := range part.Inner {
				if hasProgram(programs, part.Inner[k].Program) {
					return true
				}
			}
		}
	}
	return false
}

// hasProgram looks a program up by its base name, without letter case where a
// file system does without it.
func hasProgram(programs map[string]bool, program string) bool {
	name := baseName(program)
	if programs[name] {
		return true
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return programs[strings.ToLower(name)]
		}
	}
	return false
}

func baseName(program string) string { return program[strings.LastIndexAny(program, `/\`)+1:] }

func anyHost(input *model.Input, hosts []string) bool {
	for i := range input.Targets {
		target := &input.Targets[i]
		if target.Kind == model.KindURL && (hostIn(target.Host.Host, hosts) || target.IP != "" && hostIn(target.IP, hosts)) {
			return true
		}
		if target.Command == nil {
			continue
		}
		if target.Opaque {
			return true
		}
		for _, host := range target.Hosts {
			if hostIn(host, hosts) {
				return true
			}
		}
	}
	return false
}

func hostIn(host string, patterns []string) bool {
	for _, pattern := range patterns {
		if pattern == "*" || pattern == host || strings.HasPrefix(pattern, "*.") && strings.HasSuffix(host, pattern[1:]) {
			return true
		}
	}
	return false
}

func anyPath(input *model.Input, prefixes []string) bool {
	for i := range input.Targets {
		target := &input.Targets[i]
		if target.Kind == model.KindPath && pathStarts(&target.Path, prefixes) {
			return true
		}
		if target.Command == nil {
			continue
		}
		if target.Opaque {
			return true
		}
		for _, list := range [...][]string{target.Writes, target.Reads} {
			for _, text := range list {
				if starts(text, prefixes) {
					return true
				}
			}
		}
		for _, list := range [...][]model.PathRef{target.Redirections, target.Mentions} {
			for j := range list {
				if list[j].Dynamic || pathStarts(&list[j].Path, prefixes) {
					return true
				}
			}
		}
	}
	return false
}

func pathStarts(path *model.Path, prefixes []string) bool {
	return starts(path.Text, prefixes) || starts(path.Rel, prefixes) || starts(path.Abs, prefixes) ||
		starts(path.Real, prefixes) || starts(path.RealRel, prefixes)
}

func starts(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

func anyText(input *model.Input, texts []string) bool {
	for i := range input.Targets {
		if command := input.Targets[i].Command; command != nil {
			for _, text := range texts {
				if strings.Contains(command.Source, text) {
					return true
				}
			}
		}
	}
	return false
}
