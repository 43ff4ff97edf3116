package eval

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// Steps returns the steps of the chain in order, with title and description from
// the METADATA of their packages below rego/lictor/steps. They are read from the
// modules when asked for, because a process that only wants verdicts needs none.
func (e *Engine) Steps() []model.Step { return readSteps(e.texts) }

// readSteps collects the package annotations that carry a step label.
func readSteps(texts map[string]string) []model.Step {
	var out []model.Step
	for name, text := range texts {
		if !strings.HasPrefix(name, "lictor/steps/") {
			continue
		}
		module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{Capabilities: Capabilities(), ProcessAnnotation: true})
		if err != nil || module == nil {
			continue // it compiled, so this does not happen; the test counts the steps
		}
		for _, a := range module.Annotations {
			step, ok := a.Labels["step"].(string)
			if !ok || a.Scope != "package" {
				continue
			}
			out = append(out, model.Step{Step: step, Title: a.Title, Description: strings.TrimSpace(a.Description)})
		}
	}
	slices.SortFunc(out, func(a, b model.Step) int {
		return slices.Index(steps, a.Step) - slices.Index(steps, b.Step)
	})
	return out
}
