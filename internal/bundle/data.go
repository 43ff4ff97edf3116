package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/schemas"
)

// readData reads the data documents. They may hold a policy and tables, whose
// names start with _ as those of helpers do; never deny or ask, for data has no
// type that could be checked.
func readData(f files, name string, modules map[string]*ast.Module, r *refusal) map[string]any {
	found := false
	for _, file := range f.names() {
		if path.Base(file) != dataFile {
			continue
		}
		if err := checkJSON(f[file]); err != nil {
			line := 0
			if known, ok := errors.AsType[*lineError](err); ok {
				line = known.line
			}
			r.add(file, line, "", "%v", err)
			return nil
		}
		found = found || strings.TrimSpace(string(f[file])) != "{}"
	}
	if !found || len(r.problems) > 0 {
		return nil
	}
	// OPA's own reader puts each document to its place and holds it against the
	// root.
	opa, err := readOPA(f.without(func(name string) bool { return path.Base(name) != dataFile && name != manifestFile }))
	if err != nil {
		r.add(dataFile, 0, "", "%v", err)
		return nil
	}
	ruled := make(map[string]bool)
	for _, module := range modules {
		for _, rule := range module.Rules {
			ruled[headName(rule)] = true
		}
	}
	for _, key := range sortedKeys(documentAt(opa.Data, name)) {
		file, line := dataPlace(f, key)
		switch {
		case key != "policy" && !strings.HasPrefix(key, "_") || strings.HasPrefix(key, ownRulePrefix):
			r.add(file, line, "", "data %q is refused: data may hold a policy, and tables whose name starts with _; findings are rules", key)
		case ruled[key]:
			r.add(file, line, "", "data %q is refused: a rule has the same name", key)
		}
	}
	return opa.Data
}

// documentAt returns data.lictor.managed.<name>.
func documentAt(data map[string]any, name string) map[string]any {
	for _, key := range []string{"lictor", "managed", name} {
		data, _ = data[key].(map[string]any)
	}
	return data
}

func dataPlace(f files, key string) (file string, line int) {
	file = dataFile
	for _, name := range f.names() {
		if path.Base(name) == dataFile {
			file = name
			if line := lineOf(f[name], key); line > 0 {
				return name, line
			}
		}
	}
	return file, 0
}

// policySchema is the schema of team policy documents.
var policySchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := schemas.Read("policy.json")
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("policy.json", document); err != nil {
		return nil, err
	}
	return compiler.Compile("policy.json")
})

// asker evaluates what a bundle says without a call.
type asker struct {
	ctx      context.Context
	compiler *ast.Compiler
	modules  *eval.Modules
	data     map[string]any
	own      ast.Ref
}

// policy evaluates the policy document. It returns nil if the bundle has none.
func (a *asker) policy() (json.RawMessage, error) {
	// Without a call `not`, `else` and comprehensions have a value all the same, the
	// weaker one perhaps.
	if a.readsInput("policy") {
		return nil, errors.New("it reads input; it must not depend on the call")
	}
	text, err := a.constant("policy")
	if text == nil || err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	schema, err := policySchema()
	if err != nil {
		return nil, err
	}
	if err := schema.Validate(document); err != nil {
		if known, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
			return nil, schemaError(known)
		}
		return nil, err
	}
	return text, nil
}

// readsInput reports whether a document of the package depends on the call, by
// itself or through what it reads.
func (a *asker) readsInput(name string) (found bool) {
	visitor := ast.NewGenericVisitor(func(node any) bool {
		if v, ok := node.(ast.Var); ok && v.Equal(ast.InputRootDocument.Value) {
			found = true
		}
		return found
	})
	seen := make(map[*ast.Rule]bool)
	var walk func(*ast.Rule)
	walk = func(rule *ast.Rule) {
		if found || seen[rule] {
			return
		}
		seen[rule] = true
		visitor.Walk(rule)
		for dependency := range a.compiler.Graph.Dependencies(rule) {
			if next, ok := dependency.(*ast.Rule); ok {
				walk(next)
			}
		}
	}
	for _, rule := range a.compiler.GetRules(a.own.Append(ast.StringTerm(name))) {
		walk(rule)
	}
	return found
}

// schemaError names the deepest place that does not fit.
func schemaError(err *jsonschema.ValidationError) error {
	for len(err.Causes) > 0 {
		err = err.Causes[0]
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	text := strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "- ")
	return fmt.Errorf("the policy document does not fit its schema: %s", text)
}

// constant evaluates a document of the package that depends on no call. It
// returns nil if the package has none of this name.
func (a *asker) constant(name string) (json.RawMessage, error) {
	ref := a.own.Append(ast.StringTerm(name))
	_, inData := documentAt(a.data, string(a.own[len(a.own)-1].Value.(ast.String)))[name]
	if len(a.compiler.GetRules(ref)) == 0 && !inData {
		return nil, nil
	}
	query, err := a.modules.Query(ref.String())
	if err != nil {
		return nil, err
	}
	value, err := query.Run(a.ctx, nil)
	if err != nil {
		if known, ok := errors.AsType[*eval.Error](err); ok && known.Code == eval.CodeUndefined {
			return nil, errors.New("it has no value; it must not depend on the call")
		}
		return nil, err
	}
	plain, err := ast.JSON(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}
