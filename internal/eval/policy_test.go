package eval

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	policyFolder = "../../rego"
	testFolder   = "../../policy_test"
	inputSchema  = "../../schemas/input.json"
)

// regoFiles reads every Rego file below a folder, by path.
func regoFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".rego" {
			text, readErr := os.ReadFile(path)
			files[path], err = string(text), readErr
		}
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

func parseAnnotated(t *testing.T, path, text string) *ast.Module {
	t.Helper()
	module, err := ast.ParseModuleWithOpts(path, text, ast.ParserOptions{ProcessAnnotation: true, Capabilities: Capabilities()})
	require.NoError(t, err)
	return module
}

func TestModulesAreFormatted(t *testing.T) {
	for _, folder := range []string{policyFolder, testFolder} {
		for path, text := range regoFiles(t, folder) {
			formatted, err := format.Source(path, []byte(text))
			require.NoError(t, err)
			assert.Equal(t, string(formatted), text, "%s: run `go tool opa fmt -w %s`", path, path)
		}
	}
}

// TestModulesFitTheSchema type-checks the policy against the schema of the
// input document, as `opa check --strict -s schemas/input.json rego` does.
func TestModulesFitTheSchema(t *testing.T) {
	schemas, err := loader.Schemas(inputSchema)
	require.NoError(t, err)
	check := func(edit func(string) string) error {
		modules := map[string]*ast.Module{}
		for path, text := range regoFiles(t, policyFolder) {
			modules[path] = parseAnnotated(t, path, edit(text))
		}
		compiler := ast.NewCompiler().WithCapabilities(Capabilities()).WithStrict(true).
			WithSchemas(schemas).WithUseTypeCheckAnnotations(true)
		if compiler.Compile(modules); compiler.Failed() {
			return compiler.Errors
		}
		return nil
	}
	require.NoError(t, check(func(text string) string { return text }))
	require.ErrorContains(t, check(func(text string) string {
		return strings.Replace(text, "if input.facts.denied\n", "if input.facts.denyed\n", 1)
	}), "undefined ref: input.facts.denyed")
	require.ErrorContains(t, check(func(text string) string {
		return strings.Replace(text, "in target.redirections", "in target.redirection", 1)
	}), "undefined ref")
}

// TestModulesAreAnnotated: every module imports rego.v2 (a missing value inside
// `not` must not make a denial vanish), its package is its folder, and package
// and rules say what they are for.
func TestModulesAreAnnotated(t *testing.T) {
	packages := map[string]bool{}
	for path, text := range regoFiles(t, policyFolder) {
		module := parseAnnotated(t, path, text)
		folder, err := filepath.Rel(policyFolder, filepath.Dir(path))
		require.NoError(t, err)
		assert.Equal(t, "data."+strings.ReplaceAll(filepath.ToSlash(folder), "/", "."), module.Package.Path.String(), path)
		assert.True(t, slices.ContainsFunc(module.Imports, func(i *ast.Import) bool {
			return i.Path.String() == "rego.v2"
		}), "%s: no import rego.v2", path)

		described := map[string]bool{}
		chain := filepath.ToSlash(folder) == "lictor/chain"
		for _, annotation := range module.Annotations {
			target := module.Package.Path.String()
			if annotation.Scope == "rule" || annotation.Scope == "document" {
				target = annotation.GetTargetPath().String()
			}
			assert.NotEmpty(t, annotation.Title, "%s: %s", path, target)
			assert.NotEmpty(t, annotation.Description, "%s: %s", path, target)
			if chain && (strings.HasSuffix(target, ".steps") || strings.HasSuffix(target, ".otherwise")) {
				assert.Contains(t, steps, annotation.Labels["step"], "%s: %s: label step", path, target)
				assert.Contains(t, slices.Concat(classes[model.Deny], classes[model.Ask], classes[model.Allow]), annotation.Labels["class"], path)
			}
			described[target] = true
		}
		// Every row of the chain says which step it is, for the labels of a decision log.
		for _, rule := range module.Rules {
			if chain && rule.Head.Name == "steps" {
				assert.NotEmpty(t, rule.Annotations, "%s has no METADATA", rule.Loc())
			}
		}
		// A package with several modules is described in one of them.
		name := module.Package.Path.String()
		packages[name] = packages[name] || described[name]
		for _, rule := range module.Rules {
			assert.True(t, described[rule.Ref().GroundPrefix().String()],
				"%s: rule %s has no METADATA", path, rule.Head.Ref())
		}
	}
	for name, described := range packages {
		assert.True(t, described, "package %s has no METADATA", name)
	}
	assert.Len(t, packages, 9)
}

// TestPolicyTests runs the tests of policy_test/ as `opa test` does, and harder:
// a builtin error fails, which the command line never does. All of the policy
// must be covered.
func TestPolicyTests(t *testing.T) {
	modules := map[string]*ast.Module{}
	for _, folder := range []string{policyFolder, testFolder} {
		for path, text := range regoFiles(t, folder) {
			modules[path] = parseAnnotated(t, path, text)
		}
	}
	coverage := cover.New()
	results, err := tester.NewRunner().
		SetCompiler(ast.NewCompiler().WithEnablePrintStatements(false)).
		SetModules(modules).
		SetTimeout(time.Minute).
		RaiseBuiltinErrors(true).
		SetCoverageQueryTracer(coverage).
		RunTests(context.Background(), nil)
	require.NoError(t, err)
	count := 0
	for result := range results {
		count++
		assert.True(t, result.Pass(), "%s", result)
		if !result.Pass() {
			for name, sub := range result.SubResults.Iter {
				assert.False(t, sub.Fail, "%s: %v", result.Name, name)
			}
		}
	}
	assert.Greater(t, count, 25)
	assert.GreaterOrEqual(t, coverage.Report(modules).Coverage, 95.0)
}

// TestStockOPAAgrees asks the real `opa` program about a whole document, over
// the policy's folder as it lies there.
func TestStockOPAAgrees(t *testing.T) {
	command := model.Command{
		Source: "git push", Dialect: "bash", Grade: model.GradeStatic,
		Parts:  []model.Part{{Text: "git push", Canonical: "git push", Flat: "git push", Program: "git", Args: []string{"push"}, Inner: []model.Simple{}}},
		Writes: []string{}, Reads: []string{}, Hosts: []string{},
	}
	e := engine(t)
	for _, facts := range []model.Facts{
		model.FactCommand | model.FactAsked | model.FactConfined,
		model.FactCommand | model.FactDenied | model.FactAllowed | model.FactUnattended,
		model.FactPlan | model.FactCommand,
	} {
		input := model.Input{
			Tool: "bash", Called: "Bash", Class: "Bash", Args: json.RawMessage(`{"command":"git push"}`),
			Mode: model.ModeBuild, Isolation: model.IsolationNone, Root: "/w",
			Targets: []model.Target{{Kind: model.KindCommand, Command: &command}},
			Facts:   facts,
		}
		document, err := json.Marshal(input)
		require.NoError(t, err)
		opa := exec.Command("go", "tool", "opa", "eval", "--format=raw", "--strict-builtin-errors", "--fail",
			"--data", policyFolder, "--stdin-input", verdictQuery)
		opa.Stdin = strings.NewReader(string(document))
		output, err := opa.Output()
		require.NoError(t, err, string(output))
		outcome, err := e.Evaluate(context.Background(), input)
		require.NoError(t, err)
		want, err := json.Marshal(outcome)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(output))
	}
}

func TestRevision(t *testing.T) {
	e := engine(t)
	again, err := New(context.Background())
	require.NoError(t, err)
	assert.Equal(t, e.Revision(), again.Revision())
	assert.Regexp(t, "^[0-9a-f]{16}$", e.Revision())

	other, err := changed(t, "lictor/plan/plan.rego", "Plan mode", "Plan-mode")
	require.NoError(t, err)
	assert.NotEqual(t, e.Revision(), other.Revision())
}

func TestModulesAreACopy(t *testing.T) {
	e := engine(t)
	modules := e.Modules()
	require.Contains(t, modules, "lictor/verdict.rego")
	clear(modules)
	assert.NotEmpty(t, e.Modules())
}

func TestCapabilities(t *testing.T) {
	allowed := Capabilities()
	assert.NotNil(t, allowed.AllowNet, "nil would allow every host")
	assert.Empty(t, allowed.AllowNet)
	assert.Len(t, allowed.Builtins, len(builtins), "a name in the list is no builtin function of this OPA")
	for _, builtin := range allowed.Builtins {
		assert.False(t, builtin.IsNondeterministic(), builtin.Name)
	}
}
