package bundle

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
)

// managedRef is data.lictor.managed, libraryRef data.lictor.lib.
var (
	managedRef = ast.MustParseRef("data.lictor.managed")
	libraryRef = ast.MustParseRef("data.lictor.lib")
	regoV2     = ast.MustParseRef("rego.v2")
)

// packageRef is the one package that a bundle's modules have.
func packageRef(name string) ast.Ref { return managedRef.Append(ast.StringTerm(name)) }

// checkFiles refuses everything that OPA would use in a way that the contract
// does not know, and everything that it would silently leave aside.
func checkFiles(f files, r *refusal) {
	for _, name := range f.names() {
		base := path.Base(name)
		switch {
		case name == manifestFile || name == signaturesFile || strings.HasSuffix(name, regoSuffix) || base == dataFile:
		case strings.HasSuffix(base, ".md") || base == "LICENSE" || base == ".gitignore":
		case strings.HasSuffix(base, manifestFile) || strings.HasSuffix(base, manifestFile+".pb"):
			r.add(name, 0, "", "a second manifest; a bundle has one, %s in its top folder", manifestFile)
		case strings.HasSuffix(base, signaturesFile):
			r.add(name, 0, "", "a second signature; a bundle has one, %s in its top folder", signaturesFile)
		case base == "policy.wasm" || strings.HasSuffix(base, ".wasm"):
			r.add(name, 0, "", "compiled policy is refused; ship the Rego modules")
		case base == "plan.json" || base == "plan.pb":
			r.add(name, 0, "", "a query plan is refused; ship the Rego modules")
		case base == "patch.json":
			r.add(name, 0, "", "a delta bundle is refused: it cannot be signed; ship the whole bundle")
		case base == "data.yaml" || base == "data.yml":
			r.add(name, 0, "", "data in YAML is refused: two readers may read it differently; write %s", dataFile)
		default:
			r.add(name, 0, "", "a bundle holds %s, %s, %s, %s and *.md files only; this one would do nothing", manifestFile, signaturesFile, "*"+regoSuffix, dataFile)
		}
	}
}

// parseModules parses the Rego files. Tests are parsed and held to their package
// too, for a stock OPA would load them beside the rest, but they are not
// returned.
func parseModules(f files, name string, r *refusal) map[string]*ast.Module {
	options := ast.ParserOptions{Capabilities: eval.Capabilities(), ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	modules := make(map[string]*ast.Module)
	for _, file := range f.names() {
		if !strings.HasSuffix(file, regoSuffix) {
			continue
		}
		module, err := ast.ParseModuleWithOpts(file, string(f[file]), options)
		if err != nil {
			addASTErrors(err, file, nil, r)
			continue
		}
		if module == nil {
			r.add(file, 1, "", "an empty module")
			continue
		}
		want := packageRef(name)
		if isTest(file) {
			want = want.Append(ast.StringTerm(testPackage))
		}
		if name != "" && !module.Package.Path.Equal(want) {
			_, line := place(module.Package.Loc())
			r.add(file, line, "", "package %s; want exactly package %s", dotted(module.Package.Path), dotted(want))
			continue
		}
		if !isTest(file) {
			modules[file] = module
		}
	}
	return modules
}

// testPackage is the package of a bundle's tests, below the bundle's own.
const testPackage = "test"

// dotted is a package path as it is written.
func dotted(ref ast.Ref) string { return strings.TrimPrefix(ref.String(), "data.") }

// addASTErrors turns OPA's errors into problems, each with its place.
func addASTErrors(err error, file string, modules map[string]*ast.Module, r *refusal) {
	list, ok := errors.AsType[ast.Errors](err)
	if !ok {
		if one, ok := errors.AsType[*ast.Error](err); ok {
			list = ast.Errors{one}
		}
	}
	if len(list) == 0 {
		r.add(file, 0, "", "%v", err)
		return
	}
	for _, e := range list {
		name, line := place(e.Location)
		if name == "" {
			name = file
		}
		text := e.Message
		if function, ok := strings.CutPrefix(text, "undefined function "); ok {
			if _, known := ast.BuiltinMap[function]; known {
				text += ": the builtin is not on the list of what a bundle may use (no network, clock, randomness or unbounded work)"
			}
		}
		if e.Details != nil {
			text += " (" + strings.Join(e.Details.Lines(), " ") + ")"
		}
		r.add(name, line, ruleAt(modules[name], line), "%s: %s", e.Code, text)
	}
}

// ruleAt returns the name of the rule that a line of a module belongs to.
func ruleAt(module *ast.Module, line int) (name string) {
	if module == nil {
		return ""
	}
	for _, rule := range module.Rules {
		if _, start := place(rule.Loc()); start <= line {
			name = headName(rule)
		}
	}
	return name
}

func headName(rule *ast.Rule) string {
	ref := rule.Head.Ref()
	if name, ok := ref[0].Value.(ast.Var); ok {
		return string(name)
	}
	return ref.String()
}

// checkModules holds the parsed modules against the contract and returns the
// deny and ask rules.
func checkModules(modules map[string]*ast.Module, r *refusal) (rules []Rule) {
	for _, file := range sortedKeys(modules) {
		module := modules[file]
		checkImports(file, module, r)
		for _, rule := range module.Rules {
			if out, ok := checkHead(file, rule, r); ok {
				rules = append(rules, out)
			}
		}
		checkFindingReads(file, module, r)
		ast.WalkWiths(module, func(with *ast.With) bool {
			_, line := place(with.Loc())
			r.add(file, line, ruleAt(module, line), "`with` is refused outside tests: it would answer for another call than the one that is asked about")
			return false
		})
	}
	return rules
}

// checkFindingReads refuses rules that read the findings: what a rule says must
// not hang on what others say.
func checkFindingReads(file string, module *ast.Module, r *refusal) {
	for _, rule := range module.Rules {
		_, line := place(rule.Loc())
		ast.NewGenericVisitor(func(node any) bool {
			switch node := node.(type) {
			case *ast.Term:
				if _, at := place(node.Loc()); at > 0 {
					line = at
				}
			case ast.Var:
				if slices.Contains(findingRules, string(node)) {
					r.add(file, line, headName(rule), "it reads %s; a finding must not depend on other findings, and no variable may have that name", node)
				}
			}
			return false
		}).Walk(rule.Body)
	}
}

func checkImports(file string, module *ast.Module, r *refusal) {
	v2 := false
	for _, imported := range module.Imports {
		ref, ok := imported.Path.Value.(ast.Ref)
		_, line := place(imported.Loc())
		switch {
		case !ok:
			r.add(file, line, "", "import %s is refused", imported.Path)
		case ref.Equal(regoV2):
			v2 = true
		case ref.HasPrefix(ast.InputRootRef) || ref.HasPrefix(libraryRef) || ref.HasPrefix(module.Package.Path):
		case ref[0].Equal(ast.RegoRootDocument) || ref[0].Equal(ast.FutureRootDocument):
		default:
			r.add(file, line, "", "import %s is refused: a bundle reads input, its own package and data.lictor.lib", ref)
		}
	}
	if !v2 {
		_, line := place(module.Package.Loc())
		r.add(file, line, "", "`import rego.v2` is missing; without it `not` over something missing makes a rule say nothing")
	}
}

// checkHead judges the name and the kind of one rule.
func checkHead(file string, rule *ast.Rule, r *refusal) (out Rule, finding bool) {
	name := headName(rule)
	_, line := place(rule.Loc())
	plain := len(rule.Head.Ref()) == 1 && len(rule.Head.Args) == 0 && !rule.Default
	switch {
	case slices.Contains(findingRules, name):
		if !plain || rule.Head.RuleKind() != ast.MultiValue {
			r.add(file, line, name, "it must be a set of findings: write `%s contains {\"id\": …, \"reason\": …} if …`; anything else would be ignored", name)
			return out, false
		}
		checkElement(file, name, rule, r)
		return readRule(rule, r), true
	case name == "policy":
		if !plain || rule.Head.RuleKind() != ast.SingleValue {
			r.add(file, line, name, "it must be one object: write `policy := {…}`")
		}
	case strings.HasPrefix(name, ownRulePrefix):
		r.add(file, line, name, "the name is lictor's own; take another")
	case !strings.HasPrefix(name, "_"):
		r.add(file, line, name, "unknown public rule; known are deny, ask and policy%s. The name of a helper starts with _", suggestion(name))
	}
	return out, false
}

// checkElement judges the finding in a rule's head as far as it is written out;
// the compiler's types judge the rest.
func checkElement(file, name string, rule *ast.Rule, r *refusal) {
	object, ok := rule.Head.Key.Value.(ast.Object)
	_, line := place(rule.Loc())
	if !ok {
		if ast.IsScalar(rule.Head.Key.Value) {
			r.add(file, line, name, "a finding is an object {\"id\", \"reason\"}, not %s", ast.ValueName(rule.Head.Key.Value))
		}
		return
	}
	for _, key := range []string{"id", "reason"} {
		term := object.Get(ast.StringTerm(key))
		switch {
		case term == nil:
			r.add(file, line, name, "the finding has no %q", key)
		case ast.IsScalar(term.Value):
			if text, ok := term.Value.(ast.String); !ok || text == "" {
				r.add(file, line, name, "the finding's %q is %s, want a text that is not empty", key, term)
			}
		}
	}
	for _, key := range object.Keys() {
		if text, ok := key.Value.(ast.String); !ok || text != "id" && text != "reason" {
			r.add(file, line, name, "the finding has the key %s; it has id and reason only", key)
		}
	}
}

func suggestion(name string) string {
	for _, known := range []string{"deny", "ask", "policy"} {
		if name != known && (strings.HasPrefix(name, known) || strings.HasPrefix(known, name) || distanceOne(name, known)) {
			return fmt.Sprintf(" (did you mean %s?)", known)
		}
	}
	return ""
}

// distanceOne reports whether one letter was left out, added, changed or swapped
// with its neighbour.
func distanceOne(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch len(x) - len(y) {
	case 0:
		return len(x) > 0 && (x[1:] == y[1:] || len(x) > 1 && x[0] == y[1] && x[1] == y[0] && x[2:] == y[2:])
	case 1:
		return x[1:] == y
	case -1:
		return x == y[1:]
	}
	return false
}
