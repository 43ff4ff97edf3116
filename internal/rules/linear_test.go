package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// linear returns a set of the same rules that looks at every entry: the index
// may leave out only what cannot match.
func linear(t testing.TB, rules []model.Rule, env Env) *Set {
	t.Helper()
	s, _, err := Compile(slices.Clone(rules), env)
	require.NoError(t, err)
	flat := func(x **index) {
		if *x == nil {
			return
		}
		all := &index{general: (*x).general}
		var walk func(n *node)
		walk = func(n *node) {
			all.general = append(all.general, n.items...)
			for _, kid := range n.kids {
				walk(kid)
			}
		}
		walk(&(*x).starts.root)
		walk(&(*x).ends.root)
		for _, items := range (*x).inside.items {
			all.general = append(all.general, items...)
		}
		*x = all
	}
	for _, groups := range []map[string]*group{s.groups, s.loners} {
		for _, g := range groups {
			flat(&g.str)
			flat(&g.rel)
			flat(&g.abs)
		}
	}
	return s
}

// randomRules makes rules over a small alphabet of names, so that many match.
func randomRules(r *rand.Rand, n int, root string) []model.Rule {
	word := func() string {
		return []string{"go", "git", "ls", "rm", "src", "a", "b", "test", "*", "a*", "?b", "", "*--force*", "*test*", "*s?c*"}[r.IntN(15)]
	}
	name := func() string {
		return []string{"src", "a", "b", "x.go", "*.go", "**", "*", "?", ".env", "{a,b}", "[ab]", "a*", "docs"}[r.IntN(13)]
	}
	text := func(f func() string, sep string) string {
		var out []string
		for range 1 + r.IntN(4) {
			out = append(out, f())
		}
		return strings.Join(out, sep)
	}
	pathPattern := func() string {
		p := text(name, "/")
		switch r.IntN(6) {
		case 0:
			return root + "/" + p
		case 1:
			return "/" + p
		case 2:
			return "~/" + p
		}
		return p
	}
	effects := []model.Effect{model.EffectAllow, model.EffectAsk, model.EffectDeny}
	var out []model.Rule
	for i := 0; len(out) < n; i++ {
		var rule string
		syntax := model.SyntaxPermissions
		switch r.IntN(8) {
		case 0, 1:
			rule = "Bash(" + text(word, " ") + ")"
		case 2:
			rule = []string{"Read", "Write", "Edit", "Delete", "List"}[r.IntN(5)] + "(" + pathPattern() + ")"
		case 3:
			rule = []string{"Copy", "Move"}[r.IntN(2)] + "(" + pathPattern() + " -> " + pathPattern() + ")"
		case 4:
			rule = []string{"Copy", "Move"}[r.IntN(2)] + "(" + pathPattern() + ")"
		case 5:
			rule = "Git(" + text(word, " ") + ")"
		default:
			syntax = model.SyntaxSettings
			tool := []string{"bash", "read_file", "write_file", "edit_file", "delete_file", "copy_file", "grep", "read_*", "web_fetch"}[r.IntN(9)]
			switch {
			case tool == "web_fetch":
				rule = tool + "(" + []string{"a.test", "*.a.test", "*.test"}[r.IntN(3)] + ")"
			case r.IntN(30) == 0:
				rule = tool
			case tool == "bash":
				rule = tool + "(" + text(word, " ") + "x)"
			default:
				rule = tool + "(" + strings.NewReplacer("[ab]", "a", "{a,b}", "b").Replace(pathPattern()) + ")"
			}
		}
		parsed, err := Parse(rule, syntax, effects[r.IntN(3)], fmt.Sprintf("file%d", i%4))
		if err != nil {
			continue
		}
		out = append(out, parsed)
	}
	return out
}

// randomQuery makes a call over the same names. Nothing of it is on the disk.
func randomQuery(r *rand.Rand, w *world) *Query {
	name := func() string { return []string{"src", "a", "b", "x.go", ".env", "docs", "ab"}[r.IntN(7)] }
	path := func(access model.Access, role model.Role) model.Target {
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, name())
		}
		rel := strings.Join(parts, "/")
		p := model.Path{Inside: true, RealInside: true}
		p.Rel, p.Abs = rel, w.env.Root+"/"+rel
		if rel == "" {
			p.Rel, p.Abs = ".", w.env.Root
		}
		switch r.IntN(5) {
		case 0:
			p.Abs = "/" + rel
			p.Rel, p.Inside, p.RealInside = p.Abs, false, false
		case 1:
			p.Abs = w.env.Home + "/" + rel
			p.Rel, p.Inside, p.RealInside = p.Abs, false, false
		}
		p.Real, p.RealRel, p.Text = p.Abs, p.Rel, p.Rel
		if r.IntN(4) == 0 {
			p.Moved, p.RealRel, p.RealInside = true, name(), true
			p.Real = w.env.Root + "/" + p.RealRel
		}
		return model.Target{Kind: model.KindPath, Access: access, Role: role, Path: p}
	}
	q := &Query{}
	tools := []string{"bash", "run_tests", "read_file", "write_file", "edit_file", "delete_file", "copy_file", "move_file", "grep", "git", "web_fetch", "read_many_files"}
	q.Tool = tools[r.IntN(len(tools))]
	q.Called, q.Class = q.Tool, w.table.Class(q.Tool)
	kind := w.table.KindOf(q.Tool)
	switch {
	case kind == model.KindCommand:
		var parts []string
		for range 1 + r.IntN(3) {
			words := []string{"go", "git", "ls", "rm", "a"}[r.IntN(5):][:1]
			for range r.IntN(3) {
				words = append(words, []string{"test", "src", "b", "x", "--force", "--forced"}[r.IntN(6)])
			}
			parts = append(parts, strings.Join(words, " "))
		}
		t := model.Target{Kind: model.KindCommand, Command: shell.Analyze(strings.Join(parts, " && "), model.ShellBash)}
		for range r.IntN(3) {
			access := []model.Access{model.AccessRead, model.AccessWrite, model.AccessDelete}[r.IntN(3)]
			ref := model.PathRef{Access: access, Path: path(access, "").Path, Part: 0, Dynamic: r.IntN(6) == 0}
			if r.IntN(2) == 0 {
				t.Redirections = append(t.Redirections, ref)
			} else {
				ref.Dynamic, ref.Program = false, "mv"
				t.Mentions = append(t.Mentions, ref)
			}
		}
		q.Targets = []model.Target{t}
	case q.Class == "Copy" || q.Class == "Move":
		q.Targets = []model.Target{path(model.AccessRead, model.RoleSource), path(model.AccessWrite, model.RoleMain)}
	case q.Class == "Grep":
		t := path(model.AccessRead, model.RoleSearched)
		t.Descriptor = name()
		q.Targets = []model.Target{t}
	case kind == model.KindURL:
		host := []string{"a.test", "b.a.test", "c.b.a.test", "test"}[r.IntN(4)]
		q.Targets = []model.Target{{Kind: model.KindURL, URL: "https://" + host + "/", Host: model.Host{Host: host}}}
	case q.Tool == "git":
		q.Targets = []model.Target{{Kind: model.KindInput, Descriptor: []string{"", "-C src ", "-c a=b "}[r.IntN(3)] + name() + " " + name()}}
	default:
		for range 1 + r.IntN(2) {
			q.Targets = append(q.Targets, path(w.table.AccessOf(q.Class)[0], model.RoleMain))
		}
	}
	return q
}

// said is everything that a Match says, in a comparable form.
func said(m *Match) string {
	var b strings.Builder
	for _, list := range [][]model.Evidence{m.Deny, m.Ask} {
		var lines []string
		for _, e := range list {
			lines = append(lines, fmt.Sprintf("%d/%d %s %s", e.Target, e.Ref, e.Rule.Text, e.Rule.Source))
		}
		slices.Sort(lines)
		fmt.Fprintln(&b, slices.Compact(lines))
	}
	fmt.Fprintln(&b, m.Covered, m.TargetCovered)
	for _, p := range m.Paths {
		fmt.Fprintln(&b, p.Target, p.Ref, p.NamedAllow != nil, p.NamedAsk != nil, p.AbsAllow != nil, p.AbsAsk != nil)
	}
	return b.String()
}

func TestIndexSaysWhatTheLinearMatcherSays(t *testing.T) {
	rounds, queries := 60, 120
	if testing.Short() {
		rounds = 15
	}
	w := newWorld(t, t.TempDir(), t.TempDir())
	r := rand.New(rand.NewPCG(7, 11))
	var m, n Match
	hits := 0
	for range rounds {
		rules := randomRules(r, 1+r.IntN(120), w.env.Root)
		set, _, err := Compile(rules, w.env)
		require.NoError(t, err)
		flat := linear(t, rules, w.env)
		for range queries {
			q := randomQuery(r, w)
			set.Match(q, &m)
			flat.Match(q, &n)
			require.Equal(t, said(&n), said(&m), "%s %+v", q.Tool, q.Targets)
			if len(m.Deny) > 0 || m.Covered {
				hits++
			}
		}
	}
	require.Greater(t, hits, rounds*queries/10, "the random rules must speak of the random calls")
}
