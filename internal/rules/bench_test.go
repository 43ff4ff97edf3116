package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// manyRules are n rules as a team grows them: commands, paths, exact words and
// a handful of general patterns; half of them deny.
func manyRules(n int) []model.Rule {
	out := make([]model.Rule, 0, n)
	add := func(i int, text string) {
		effect := model.EffectAllow
		if i%2 == 1 {
			effect = model.EffectDeny
		}
		r, err := Parse(text, model.SyntaxPermissions, effect, "permissions.json")
		if err != nil {
			panic(err)
		}
		out = append(out, r)
	}
	for i := 0; len(out) < n; i++ {
		switch i % 6 {
		case 0:
			add(i, fmt.Sprintf("Bash(tool%d run *)", i))
		case 1:
			add(i, fmt.Sprintf("Bash(tool%d drop *)", i))
		case 2:
			add(i, fmt.Sprintf("Read(pkg/mod%d/**)", i))
		case 3:
			add(i, fmt.Sprintf("Read(**/secret%d.txt)", i))
		case 4:
			add(i, fmt.Sprintf("MCP(server%d/call)", i))
		default:
			add(i, fmt.Sprintf("Edit(/srv/data%d/*.csv)", i))
		}
	}
	for _, text := range []string{"Bash(go test *)", "Read(src/**)"} {
		r, _ := Parse(text, model.SyntaxPermissions, model.EffectAllow, "permissions.json")
		out = append(out, r)
	}
	return out
}

func benchQueries(t testing.TB, w *world) map[string]*Query {
	return map[string]*Query{
		"command": {Tool: "bash", Called: "Bash", Class: "Bash", Targets: []model.Target{w.command(t, "go test ./...")}},
		"path":    {Tool: "read_file", Called: "Read", Class: "Read", Targets: []model.Target{w.path(t, "src/a/b/c.go", model.AccessRead, "")}},
	}
}

var sizes = []int{10, 100, 1000, 10000}

func BenchmarkMatch(b *testing.B) {
	w := newWorld(b, b.TempDir(), b.TempDir())
	for name, q := range benchQueries(b, w) {
		for _, n := range sizes {
			rules := manyRules(n)
			set, _, err := Compile(rules, w.env)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("index/%s/%d", name, n), func(b *testing.B) { benchSet(b, set, q) })
			flat := linear(b, rules, w.env)
			b.Run(fmt.Sprintf("linear/%s/%d", name, n), func(b *testing.B) { benchSet(b, flat, q) })
		}
	}
}

func benchSet(b *testing.B, set *Set, q *Query) {
	var m Match
	b.ReportAllocs()
	for b.Loop() {
		set.Match(q, &m)
	}
	if !m.Covered || len(m.Deny) > 0 {
		b.Fatal("the call must be covered")
	}
}

// cedarPolicies are the same rules for the Cedar engine: `like` patterns in
// permit and forbid policies.
func cedarPolicies(b *testing.B, rules []model.Rule) *cedar.PolicySet {
	b.Helper()
	set := cedar.NewPolicySet()
	for i := range rules {
		r := &rules[i]
		effect := "permit"
		if r.Effect == model.EffectDeny {
			effect = "forbid"
		}
		pattern, _ := json.Marshal(squeezeStars(r.Pattern))
		text := fmt.Sprintf(`%s (principal, action == Action::"%s", resource) when { context.text like %s };`, effect, r.Tool, pattern)
		var p cedar.Policy
		if err := p.UnmarshalCedar([]byte(text)); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		set.Add(cedar.PolicyID(fmt.Sprintf("rule%d", i)), &p)
	}
	return set
}

func BenchmarkCedar(b *testing.B) {
	for name, in := range map[string][2]string{"command": {"Bash", "go test ./..."}, "path": {"Read", "src/a/b/c.go"}} {
		for _, n := range sizes {
			policies := cedarPolicies(b, manyRules(n))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				request := cedar.Request{
					Principal: cedar.NewEntityUID("User", "me"), Action: cedar.NewEntityUID("Action", cedar.String(in[0])),
					Resource: cedar.NewEntityUID("Call", "1"),
					Context:  cedar.NewRecord(cedar.RecordMap{"text": cedar.String(in[1])}),
				}
				entities := cedar.EntityMap{}
				b.ReportAllocs()
				for b.Loop() {
					if decision, _ := cedar.Authorize(policies, entities, request); decision != cedar.Allow {
						b.Fatal("the call must be allowed")
					}
				}
			})
		}
	}
}

func BenchmarkLoad10000(b *testing.B) {
	w := newWorld(b, b.TempDir(), b.TempDir())
	writeMany(b, w, 10000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(w.env.Root, Options{Env: w.env}); err != nil {
			b.Fatal(err)
		}
	}
}

// writeMany writes n rules into the committed permission file.
func writeMany(t testing.TB, w *world, n int) {
	t.Helper()
	lists := map[string][]string{}
	for _, r := range manyRules(n) {
		lists[string(r.Effect)] = append(lists[string(r.Effect)], r.Text)
	}
	text, err := json.Marshal(map[string]any{"permissions": lists})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(w.env.Root, ".lictor"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.env.Root, ".lictor", "permissions.json"), text, 0o600))
}

func TestMatchAllocatesNothing(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	set, _, err := Compile(manyRules(1000), w.env)
	require.NoError(t, err)
	queries := benchQueries(t, w)
	queries["copy"] = w.query(t, "copy_file", json.RawMessage(`{"src":"a","dst":"b"}`))
	queries["fetch"] = w.query(t, "fetch_url", json.RawMessage(`{"url":"https://example.com/x"}`))
	queries["mcp"] = w.query(t, "mcp/server4/call", json.RawMessage(`{}`))
	queries["hit"] = w.query(t, "read_file", json.RawMessage(`{"path":"a/secret3.txt"}`))
	redirected := w.command(t, "go test ./...")
	redirected.Redirections = []model.PathRef{{Access: model.AccessWrite, Path: w.path(t, "out.txt", "", "").Path}}
	redirected.Mentions = []model.PathRef{{Access: model.AccessRead, Path: w.path(t, "/etc/hosts", "", "").Path}}
	queries["redirected"] = &Query{Tool: "bash", Class: "Bash", Targets: []model.Target{redirected}}
	for name, q := range queries {
		var m Match
		set.Match(q, &m)
		assert.Zero(t, testing.AllocsPerRun(100, func() { set.Match(q, &m) }), name)
	}
}

// TestMatchIsFlat keeps the index honest with much slack, so that a busy machine
// does not fail it; the benchmark holds the budget of 1.6.
func TestMatchIsFlat(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for name, q := range benchQueries(t, w) {
		cost := func(n int) time.Duration {
			set, _, err := Compile(manyRules(n), w.env)
			require.NoError(t, err)
			var m Match
			best := time.Hour
			for range 20 {
				start := time.Now()
				for range 500 {
					set.Match(q, &m)
				}
				best = min(best, time.Since(start))
			}
			return best
		}
		small, large := cost(10), cost(10000)
		assert.Less(t, float64(large), 4*float64(small)+float64(time.Millisecond), "%s: %v with 10 rules, %v with 10,000", name, small/500, large/500)
	}
}

func TestLoading10000Rules(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	writeMany(t, w, 10000)
	start := time.Now()
	p, err := Load(w.env.Root, Options{Env: w.env})
	require.NoError(t, err)
	assert.Len(t, p.Set().Rules(), 10002)
	assert.Less(t, time.Since(start), 2*time.Second)
}
