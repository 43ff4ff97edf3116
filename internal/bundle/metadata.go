package bundle

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Rule is one deny or ask rule of a bundle.
type Rule struct {
	// Effect is "deny" or "ask".
	Effect string `json:"effect"`
	// ID is the id of its findings, if the rule says it as a plain text.
	ID string `json:"id,omitempty"`
	// Title and Description are its METADATA.
	Title       string `json:"title"`
	Description string `json:"description"`
	// File and Line say where it stands in the bundle.
	File string `json:"file"`
	Line int    `json:"line"`
	// Route is what it is about.
	Route Route `json:"route"`
}

// findingRules are the names of the rules that say findings.
var findingRules = []string{"deny", "ask"}

// readRule reads the METADATA of a deny or ask rule, which must be there.
func readRule(rule *ast.Rule, r *refusal) Rule {
	name := string(rule.Head.Ref()[0].Value.(ast.Var))
	file, line := place(rule.Loc())
	fail := func(format string, args ...any) { r.add(file, line, name, format, args...) }
	out := Rule{Effect: name, File: file, Line: line, ID: literalID(rule)}
	var own *ast.Annotations
	for _, annotation := range rule.Annotations {
		if annotation.Scope == "rule" {
			own = annotation
		}
	}
	if own == nil {
		fail("no METADATA above it; give it a title and a description")
		return out
	}
	out.Title, out.Description = strings.TrimSpace(own.Title), strings.TrimSpace(own.Description)
	if out.Title == "" {
		fail("METADATA has no title")
	}
	if out.Description == "" {
		fail("METADATA has no description; say what it stops and why")
	}
	out.Route = readRoute(own, fail)
	return out
}

// literalID returns the id in a head such as {"id": "no-x", "reason": …}, or "".
func literalID(rule *ast.Rule) string {
	if rule.Head.Key == nil {
		return ""
	}
	object, ok := rule.Head.Key.Value.(ast.Object)
	if !ok {
		return ""
	}
	if term := object.Get(ast.InternedTerm("id")); term != nil {
		if id, ok := term.Value.(ast.String); ok {
			return string(id)
		}
	}
	return ""
}

// place is where something stands in the bundle.
func place(location *ast.Location) (file string, line int) {
	if location == nil {
		return "", 0
	}
	return location.File, location.Row
}
