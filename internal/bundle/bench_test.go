package bundle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkBaselineSkips is what baseline costs on a call that it is not about.
func BenchmarkBaselineSkips(b *testing.B) {
	benchmarkBaseline(b, `"git status"`, func(found Findings) bool { return !found.Consulted[0].Asked })
}

// BenchmarkBaselineApplies is what it costs on one that it is about.
func BenchmarkBaselineApplies(b *testing.B) {
	benchmarkBaseline(b, `"rm -rf node_modules"`, func(found Findings) bool { return len(found.Deny) == 0 })
}

func benchmarkBaseline(b *testing.B, call string, right func(Findings) bool) {
	baseline, err := Baseline(context.Background())
	require.NoError(b, err)
	g := newGeneration([]*Bundle{baseline}, nil)
	e := Example{Call: []byte(call)}
	input, err := e.input(context.Background())
	require.NoError(b, err)
	b.ReportAllocs()
	start := cpuTime()
	defer func() { b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op") }()
	for b.Loop() {
		found, err := g.evaluate(context.Background(), input)
		if err != nil || !right(found) {
			b.Fatal(found, err)
		}
	}
}

// manyRules writes a bundle of n rules, each about another subcommand.
func manyRules(n int, route string) files {
	var text strings.Builder
	text.WriteString("package lictor.managed.many\n\nimport rego.v2\n\nimport data.lictor.lib\n")
	for i := range n {
		fmt.Fprintf(&text, `
# METADATA
# title: Rule %[1]d
# description: No verb %[1]d.
%[2]sdeny contains {"id": "no-verb-%[1]d", "reason": $"{command.program} verb%[1]d is not for agents"} if {
	some command in lib.commands
	lib.command_runs(command, "git", {"verb%[1]d"})
}
`, i, route)
	}
	return files{
		".manifest": []byte(`{"revision": "1", "roots": ["lictor/managed/many"], "metadata": {"serial": 1}}`),
		"many.rego": []byte(text.String()),
	}
}

// BenchmarkTwentyRules is a bundle of twenty rules about one program; the last
// one denies the call.
func BenchmarkTwentyRules(b *testing.B) { benchmarkRules(b, `"git verb19 origin main"`, 1) }

// BenchmarkTwentyRulesAllowed is a call of that program that no rule denies.
func BenchmarkTwentyRulesAllowed(b *testing.B) { benchmarkRules(b, `"git status --short"`, 0) }

func benchmarkRules(b *testing.B, call string, denials int) {
	loaded, err := load(context.Background(), "many", manyRules(20, ""), LoadOptions{AllowUnsigned: true})
	require.NoError(b, err)
	g := newGeneration([]*Bundle{loaded}, nil)
	e := Example{Call: []byte(call)}
	input, err := e.input(context.Background())
	require.NoError(b, err)
	b.ReportAllocs()
	times := make([]time.Duration, 0, 1<<20)
	start := cpuTime()
	defer func() { b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op") }()
	for b.Loop() {
		begin := time.Now()
		found, err := g.evaluate(context.Background(), input)
		times = append(times, time.Since(begin))
		if err != nil || len(found.Deny) != denials {
			b.Fatal(found, err)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
}
