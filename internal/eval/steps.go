package eval

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// chainModule is the module that holds the steps.
const chainModule = "lictor/chain/chain.rego"

// Steps returns the steps of the chain in order, with title and description from
// the METADATA of their rows in rego/lictor/chain; of several rows of a step, the
// first speaks for it. They are read from the module when asked for, because a
// process that only wants verdicts needs none.
func (e *Engine) Steps() []model.Step {
	module, err := ast.ParseModuleWithOpts(chainModule, e.texts[chainModule], ast.ParserOptions{Capabilities: Capabilities(), ProcessAnnotation: true})
	if err != nil || module == nil {
		return nil // it compiled, so this does not happen; the test counts the steps
	}
	var out []model.Step
	for _, a := range module.Annotations {
		step, ok := a.Labels["step"].(string)
		if !ok || slices.ContainsFunc(out, func(s model.Step) bool { return s.Step == step }) {
			continue
		}
		out = append(out, model.Step{Step: step, Title: a.Title, Description: strings.TrimSpace(a.Description)})
	}
	return out
}
