package bundle

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// testLimit bounds one test.
const testLimit = 5 * time.Second

// TestResult is the result of one test, or of one case of it.
type TestResult struct {
	// Name is the test with its package, and its case.
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"`
	Pass bool   `json:"pass"`
	// Skipped marks a test whose name starts with todo_.
	Skipped bool `json:"skipped,omitempty"`
	// Error says why the test could not be run to its end.
	Error string `json:"error,omitempty"`
	// Output is what it printed.
	Output string `json:"output,omitempty"`
}

// TestReport is what [Test] found.
type TestReport struct {
	Results []TestResult `json:"results"`
	// Coverage is the share of the lines of the rules that some test has run, in
	// percent, and Uncovered names the others ("git.rego:12").
	Coverage  float64  `json:"coverage"`
	Uncovered []string `json:"uncovered,omitempty"`
	// Stock is the command line of a stock OPA that gives the same result.
	Stock string `json:"stock"`
}

// Failed counts the tests that did not pass.
func (r *TestReport) Failed() (failed int) {
	for _, result := range r.Results {
		if !result.Pass && !result.Skipped {
			failed++
		}
	}
	return failed
}

// Test runs the tests of a bundle folder with OPA's own tester, but strictly: a
// builtin function that refuses its arguments fails the test, as it denies the
// call in production. print works. support is a folder for the files that the
// stock command line needs.
//
// It is an error if the bundle does not parse or compile, or has no test; failed
// tests are none: see [TestReport.Failed].
func Test(ctx context.Context, path, support string) (*TestReport, error) {
	f, err := readPath(path)
	if err != nil {
		return nil, refuse(path, "", err)
	}
	stock, err := WriteSupport(support)
	if err != nil {
		return nil, err
	}
	var r refusal
	m := readManifest(f, &r)
	modules, err := testModules(f, &r)
	if err != nil {
		return nil, err
	}
	data := readData(f, m.name, modules, &r)
	if err := r.err(path); err != nil {
		return nil, err
	}
	report := &TestReport{Stock: stock.TestCommand(path)}
	tracer := cover.New()
	own := f.without(isTest)
	if err := report.run(ctx, modules, data, tracer); err != nil {
		addASTErrors(err, path, modules, &r)
		return nil, r.err(path)
	}
	if len(report.Results) == 0 {
		return nil, refuse(path, "", fmt.Errorf("no test; write rules test_… in *%s", testSuffix))
	}
	report.cover(tracer.Report(modules), own)
	return report, nil
}

// testModules parses everything, tests and library too.
func testModules(f files, r *refusal) (map[string]*ast.Module, error) {
	modules, err := libraryModules()
	if err != nil {
		return nil, err
	}
	options := ast.ParserOptions{Capabilities: withPrint(), ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	for _, name := range f.names() {
		if !strings.HasSuffix(name, regoSuffix) {
			continue
		}
		module, err := ast.ParseModuleWithOpts(name, string(f[name]), options)
		if err != nil {
			addASTErrors(err, name, nil, r)
			continue
		}
		modules[name] = module
	}
	return modules, nil
}

func (r *TestReport) run(ctx context.Context, modules map[string]*ast.Module, data map[string]any, tracer *cover.Cover) error {
	if data == nil {
		data = map[string]any{}
	}
	store := inmem.NewFromObject(data)
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return err
	}
	defer store.Abort(ctx, txn)
	compiler := ast.NewCompiler().WithCapabilities(withPrint()).WithEnablePrintStatements(true)
	runner := tester.NewRunner().
		SetCompiler(compiler).
		SetStore(store).
		SetModules(modules).
		RaiseBuiltinErrors(true).
		CapturePrintOutput(true).
		SetCoverageQueryTracer(tracer).
		SetTimeout(testLimit)
	results, err := runner.RunTests(ctx, txn)
	if err != nil {
		return err
	}
	for result := range results {
		r.add(result)
	}
	return nil
}

// add takes a result over, each case of it by itself.
func (r *TestReport) add(result *tester.Result) {
	base := TestResult{Name: result.Package + "." + result.Name, Pass: result.Pass(), Skipped: result.Skip, Output: string(result.Output)}
	base.File, base.Line = place(result.Location)
	if result.Error != nil {
		base.Error = result.Error.Error()
	}
	cases := 0
	for path, sub := range result.SubResults.Iter {
		if len(sub.SubResults) > 0 {
			continue
		}
		one := base
		one.Name = base.Name + "/" + strings.Join(path, "/")
		one.Pass = !sub.Fail && base.Error == ""
		r.Results = append(r.Results, one)
		cases++
	}
	if cases == 0 || base.Error != "" {
		r.Results = append(r.Results, base)
	}
}

// cover sums up the lines of the bundle's own files.
func (r *TestReport) cover(report cover.Report, own files) {
	covered, all := 0, 0
	for _, name := range own.names() {
		file, ok := report.Files[name]
		if !ok {
			continue
		}
		covered += file.CoveredLines
		all += file.CoveredLines + file.NotCoveredLines
		for _, part := range file.NotCovered {
			for line := part.Start.Row; line <= part.End.Row; line++ {
				r.Uncovered = append(r.Uncovered, fmt.Sprintf("%s:%d", filepath.ToSlash(name), line))
			}
		}
	}
	r.Uncovered = slices.Compact(r.Uncovered)
	if all > 0 {
		r.Coverage = float64(covered) / float64(all) * 100
	}
}
