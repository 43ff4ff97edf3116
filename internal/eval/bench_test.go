package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// calls are vectors of calls as a session has them.
var calls = []model.Facts{
	model.FactCommand | model.FactAllowed,
	model.FactCommand | model.FactConfined,
	model.FactCommand | model.FactConfined | model.FactDenied,
	model.FactCommand,
	model.FactReadOnly | model.FactChange,
	model.FactReadOnly | model.FactChange | model.FactSensitive,
	model.FactChange | model.FactAllowed,
	model.FactChange | model.FactAsked | model.FactAllowed,
	model.FactChange | model.FactProtected | model.FactAllowed,
	model.FactCommand | model.FactConfined | model.FactPlan,
	model.FactCommand | model.FactAsked | model.FactUnattended,
	model.FactAllowed | model.FactAlwaysAsk,
}

// BenchmarkOutcomeSeen is the whole road from facts to verdict for vectors that
// the table knows.
func BenchmarkOutcomeSeen(b *testing.B) {
	e := engine(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := e.Outcome(calls[i%len(calls)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOutcomeUnseen passes the table by: one evaluation of the Rego chain,
// strictly decoded. It reports the median, since one collection of garbage
// costs more than many evaluations.
func BenchmarkOutcomeUnseen(b *testing.B) {
	e := engine(b)
	b.ReportAllocs()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if _, err := e.evaluateFacts(calls[i%len(calls)]); err != nil {
			b.Fatal(err)
		}
		if len(times) < 1<<20 {
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
}

// BenchmarkEvaluate is a whole document by way of JSON, under the watchdog.
func BenchmarkEvaluate(b *testing.B) {
	e := engine(b)
	input := model.Input{Tool: "bash", Root: "/w", Targets: []model.Target{}, Facts: calls[0]}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Evaluate(context.Background(), input); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew is what a process pays once; BenchmarkNewWithQueries with every
// document prepared besides.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewWithQueries(b *testing.B) {
	for b.Loop() {
		e, err := New(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for name := range documents {
			if _, err := e.queries[name](); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	e := engine(b)
	random := rand.New(rand.NewPCG(1, 1))
	input := map[string]any{"layers": []layer{{"a", randomPolicy(random)}, {"b", randomPolicy(random)}}}
	b.ReportAllocs()
	for b.Loop() {
		var out merged
		if err := e.Query(context.Background(), "merge", input, &out); err != nil {
			b.Fatal(err)
		}
	}
}

// cedarChain is the same chain for cedar-go, as far as Cedar can say it: it
// has no order and no third decision, so a question is a policy of its own and
// the hits are the policies that it names.
func cedarChain(b *testing.B) *cedar.PolicySet {
	var text strings.Builder
	for _, fact := range []string{
		"input_error", "policy", "managed_deny", "outside", "sensitive", "protected", "denied", "sensitive_ask",
		"outside_ask", "managed_ask",
	} {
		text.WriteString("forbid (principal, action, resource) when { context." + fact + " };\n")
	}
	text.WriteString(`
forbid (principal, action, resource) when { context.plan && !context.read_only && (context.change || !(context.command && context.confined && !context.unparseable)) };
forbid (principal, action, resource) when { context.asked && (context.ask_first || !(context.allowed || context.session)) };
permit (principal, action, resource) when { context.read_only };
permit (principal, action, resource) when { context.command && context.confined && !context.unparseable && !context.change };
permit (principal, action, resource) when { (context.allowed || context.session) && !context.always_ask };
`)
	policies, err := cedar.NewPolicySetFromBytes("chain.cedar", []byte(text.String()))
	require.NoError(b, err)
	return policies
}

// BenchmarkCedar is the yardstick for BenchmarkOutcomeSeen: facts to decision
// with cedar-go, the requests prepared beforehand.
func BenchmarkCedar(b *testing.B) {
	policies := cedarChain(b)
	requests := make([]cedar.Request, len(calls))
	for i, facts := range calls {
		record := cedar.RecordMap{}
		for bit, name := range model.FactNames {
			record[cedar.String(name)] = cedar.Boolean(facts&(1<<bit) != 0)
		}
		requests[i] = cedar.Request{
			Principal: cedar.NewEntityUID("Agent", "a"), Action: cedar.NewEntityUID("Action", "call"),
			Resource: cedar.NewEntityUID("Tool", "t"), Context: cedar.NewRecord(record),
		}
		decision, diagnostic := cedar.Authorize(policies, nil, requests[i])
		require.Empty(b, diagnostic.Errors)
		want := reference(facts).Decision == model.Allow
		require.Equal(b, want, bool(decision), facts.Names())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		cedar.Authorize(policies, nil, requests[i%len(requests)])
	}
}
