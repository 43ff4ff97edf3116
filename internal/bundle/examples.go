package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/model"
)

// examplesRule is the table of examples: {"<finding id>": {"bad": […],
// "good": […]}}. It is a helper like any other, so its name starts with _.
const examplesRule = "_examples"

// Example is one example of a rule: a call that must have the rule's finding, or
// one that must not.
type Example struct {
	// ID is the id of the finding that it is about.
	ID string `json:"id"`
	// Bad says that the call must have the finding.
	Bad bool `json:"bad"`
	// Text shows the call: the command, or the JSON of the example.
	Text string `json:"text"`
	// Call is the example as it stands in the bundle, which data.lictor.lib.call
	// turns into an input document.
	Call json.RawMessage `json:"call"`
}

// examples evaluates the table.
func (a *asker) examples() ([]Example, error) {
	text, err := a.constant(examplesRule)
	if text == nil || err != nil {
		return nil, err
	}
	var table map[string]struct {
		Bad  []json.RawMessage `json:"bad"`
		Good []json.RawMessage `json:"good"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&table); err != nil {
		return nil, fmt.Errorf("want {\"<id>\": {\"bad\": [calls], \"good\": [calls]}}: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	var out []Example
	for _, id := range sortedKeys(table) {
		for _, call := range table[id].Bad {
			out = append(out, Example{ID: id, Bad: true, Text: exampleText(call), Call: call})
		}
		for _, call := range table[id].Good {
			out = append(out, Example{ID: id, Text: exampleText(call), Call: call})
		}
	}
	return out, nil
}

// exampleText is what a person sees of an example.
func exampleText(call json.RawMessage) string {
	var text string
	if json.Unmarshal(call, &text) == nil {
		return text
	}
	var object struct {
		Command string `json:"command"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(call, &object) == nil {
		switch {
		case object.Command != "":
			return object.Command
		case object.URL != "":
			return object.URL
		}
	}
	return string(call)
}

// callQuery makes an input document of an example, in Rego, so that a stock OPA
// that runs the bundle's tests sees the very same documents.
var callQuery = sync.OnceValues(func() (*eval.Query, error) {
	modules, err := libraryModules()
	if err != nil {
		return nil, err
	}
	compiler := ast.NewCompiler().WithCapabilities(eval.Capabilities())
	if compiler.Compile(modules); compiler.Failed() {
		return nil, compiler.Errors
	}
	compiled, err := eval.NewModules(context.Background(), compiler, nil, evaluationLimit)
	if err != nil {
		return nil, err
	}
	return compiled.Query("data.lictor.lib.call(input.example)")
})

// input returns the call of an example.
func (e *Example) input(ctx context.Context) (*model.Input, error) {
	query, err := callQuery()
	if err != nil {
		return nil, err
	}
	call, err := ast.ValueFromReader(bytes.NewReader(e.Call))
	if err != nil {
		return nil, err
	}
	value, err := query.Run(ctx, ast.NewObject([2]*ast.Term{ast.InternedTerm("example"), ast.NewTerm(call)}))
	if err != nil {
		return nil, errors.New("it is no call: want the text of a command, or an object with command, url, path or json (see data.lictor.lib.call)")
	}
	plain, err := ast.JSON(value)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	// The facts are empty; model.Facts is written, never read.
	var document struct {
		model.Input
		Facts struct{} `json:"facts"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return &document.Input, nil
}

// Examples returns the bundle's examples by id. Do not change them.
func (b *Bundle) Examples() []Example { return b.examples }

// Command is the text of the example's command, or "" if it is another call.
func (e *Example) Command() string {
	var text string
	if json.Unmarshal(e.Call, &text) == nil {
		return text
	}
	var object struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(e.Call, &object) != nil {
		return ""
	}
	return object.Command
}
