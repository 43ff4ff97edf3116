package bundle

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/schemas"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// libraryPrefix stands before the paths of lictor's own modules, so that no file
// of a bundle has the same name.
const libraryPrefix = "lictor:"

// inputSchema is the schema of the input document, for the compiler.
var inputSchema = sync.OnceValues(func() (any, error) {
	text, err := schemas.Read("input.json")
	if err != nil {
		return nil, err
	}
	var schema any
	return schema, json.Unmarshal(text, &schema)
})

// libraryModules parses package data.lictor.lib. A compiler changes what it is
// given, so each gets its own.
func libraryModules() (map[string]*ast.Module, error) {
	texts, err := eval.Library()
	if err != nil {
		return nil, err
	}
	modules := make(map[string]*ast.Module, len(texts))
	for name, text := range texts {
		options := ast.ParserOptions{Capabilities: eval.Capabilities(), ProcessAnnotation: false, RegoVersion: ast.RegoV1}
		module, err := ast.ParseModuleWithOpts(name, text, options)
		if err != nil {
			return nil, err
		}
		modules[libraryPrefix+name] = module
	}
	return modules, nil
}

// compile compiles the modules, which it changes, with the library under the builtin allowlist,
// strictly, without network, and against the input's schema, so that a misspelt
// field is an error and not a rule that never holds.
func compile(modules map[string]*ast.Module) (*ast.Compiler, error) {
	all, err := libraryModules()
	if err != nil {
		return nil, err
	}
	maps.Copy(all, modules)
	compiler := ast.NewCompiler().WithCapabilities(eval.Capabilities()).WithStrict(true)
	schema, err := inputSchema()
	if err != nil {
		return nil, err
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	compiler = compiler.WithSchemas(set).WithUseTypeCheckAnnotations(true)
	if compiler.Compile(all); compiler.Failed() {
		return nil, compiler.Errors
	}
	return compiler, nil
}

// checkReferences allows references to input, the bundle's own package and the
// library only. It looks at the compiled modules, where every reference is
// written in full.
func checkReferences(compiler *ast.Compiler, modules map[string]*ast.Module, own ast.Ref, data map[string]any, r *refusal) {
	for _, file := range sortedKeys(modules) {
		for _, rule := range compiler.Modules[file].Rules {
			_, line := place(rule.Loc())
			refuse := func(what any) {
				r.add(file, line, ruleAt(modules[file], line), "it reads %s; a bundle reads input, its own package and data.lictor.lib only", what)
			}
			var visitor *ast.GenericVisitor
			visitor = ast.NewGenericVisitor(func(node any) bool {
				switch node := node.(type) {
				case *ast.Term:
					if _, at := place(node.Loc()); at > 0 {
						line = at
					}
				case ast.Var:
					if node.Equal(ast.DefaultRootDocument.Value) {
						refuse(node)
					}
				case ast.Ref:
					if node[0].Equal(ast.DefaultRootDocument) && !mayRead(node, own) {
						refuse(node)
					}
					if node[0].Equal(ast.DefaultRootDocument) && mayRead(node, own) && !exists(compiler, node, own, data) {
						r.add(file, line, ruleAt(modules[file], line), "it reads %s, which does not exist", node)
					}
					if name := ownName(node, own); slices.Contains(findingRules, name) || name == "policy" {
						r.add(file, line, ruleAt(modules[file], line), "it reads %s; a finding must not depend on other findings", name)
					}
					// The head is judged; what the reference is indexed with is not yet.
					if !node[0].Equal(ast.DefaultRootDocument) {
						visitor.Walk(node[0])
					}
					for _, term := range node[1:] {
						visitor.Walk(term)
					}
					return true
				}
				return false
			})
			visitor.Walk(rule)
		}
	}
}

// exists reports whether a reference names a rule, or data, by a fixed name. One
// to something that is not there is undefined, and its rule would never hold.
func exists(compiler *ast.Compiler, ref, own ast.Ref, data map[string]any) bool {
	size := len(libraryRef) + 1
	if ref.HasPrefix(own) {
		if size = len(own) + 1; len(ref) < size {
			return true
		}
		if name, ok := ref[len(own)].Value.(ast.String); !ok {
			return true
		} else if _, ok := data[string(name)]; ok {
			return true
		}
	}
	return len(compiler.GetRules(ref[:size])) > 0
}

// ownName returns the name of the rule of the bundle that a reference reads. One
// that is not fixed could be any, deny too.
func ownName(ref, own ast.Ref) string {
	if !ref.HasPrefix(own) {
		return ""
	}
	if len(ref) > len(own) {
		if name, ok := ref[len(own)].Value.(ast.String); ok {
			return string(name)
		}
	}
	return findingRules[0]
}

// mayRead reports whether a reference to data stays in the bundle's package or
// the library. A prefix that is not fixed could lead anywhere.
func mayRead(ref, own ast.Ref) bool {
	return ref.HasPrefix(own) || len(ref) > len(libraryRef) && ref.HasPrefix(libraryRef) && ast.IsConstant(ref[len(libraryRef)].Value)
}

// checkTypes makes sure that deny and ask can hold nothing but findings, with
// what the compiler knows about the type of each rule.
func checkTypes(compiler *ast.Compiler, rules []Rule, own ast.Ref, r *refusal) {
	for i, rule := range rules {
		found := compiler.TypeEnv.GetByRef(own.Append(ast.StringTerm(ownRuleName(i))))
		if set, ok := found.(*types.Set); ok && isFinding(set.Of()) {
			continue
		}
		r.add(rule.File, rule.Line, rule.Effect, "its type is %s, want set[object<id: string, reason: string>]; make sure that id and reason are texts (a template string such as $\"{x}\" always is)",
			types.Sprint(found))
	}
}

func isFinding(t types.Type) bool {
	switch t := t.(type) {
	case *types.Object:
		if t.DynamicProperties() != nil || t.Len() != 2 {
			return false
		}
		_, id := t.Select("id").(types.String)
		_, reason := t.Select("reason").(types.String)
		return id && reason
	case types.Any:
		for _, one := range t {
			if !isFinding(one) {
				return false
			}
		}
		return len(t) > 0
	}
	return false
}
