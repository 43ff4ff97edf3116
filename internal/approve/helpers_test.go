package approve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/shell"
)

// command is a request about a shell command, as the engine would build it.
func command(t *testing.T, text string, allow ...string) model.Request {
	t.Helper()
	cmd := shell.Analyze(text, model.ShellBash)
	target := model.Target{Kind: model.KindCommand, Command: cmd}
	q := &rules.Query{Tool: "bash", Called: "bash", Class: "Bash", Targets: []model.Target{target}}
	var parsed []model.Rule
	for _, rule := range allow {
		r, err := rules.Parse(rule, model.SyntaxPermissions, model.EffectAllow, "permissions.local.json")
		require.NoError(t, err)
		parsed = append(parsed, r)
	}
	env := rules.Env{Root: "/project", Home: "/home/ana"}
	set, _, err := rules.Compile(parsed, env)
	require.NoError(t, err)
	return model.Request{
		Tool: "bash", Targets: q.Targets, Isolation: model.IsolationNone,
		Verdict: model.Verdict{Decision: model.Ask, By: "default", Step: "7", Reason: "no rule covers this call", Hits: []model.Hit{}},
		Session: []model.SessionRule{{Kind: model.SessionCommand, Tool: "bash", Command: text}},
		Always:  rules.DeriveAllowRules(q, env, nil),
		Never:   rules.DeriveDenyRule(q, env),
		Parts:   Parts(q, set, nil),
	}
}

// change is a request about file changes.
func change(changes ...model.Change) model.Request {
	r := model.Request{
		Tool: "edit_file", Isolation: model.IsolationNone,
		Verdict: model.Verdict{Decision: model.Ask, By: "default", Step: "7", Reason: "no rule covers this call"},
		Session: []model.SessionRule{{Kind: model.SessionTool, Tool: "edit_file"}},
		Always:  []string{"Edit(/project/**)"},
		Changes: changes,
	}
	for _, c := range changes {
		access := model.AccessWrite
		if c.Delete {
			access = model.AccessDelete
		}
		r.Targets = append(r.Targets, model.Target{Kind: model.KindPath, Access: access, Path: model.Path{
			Text: c.Path, Rel: c.Path, Abs: "/project/" + c.Path, Inside: true, RealInside: true, RealRel: c.Path,
		}})
	}
	return r
}

func text(s string) *string { return &s }

// threeHunks is a change of three hunks.
func threeHunks() model.Change {
	long := strings.Repeat("same\n", 10)
	return model.Change{
		Path: "src/server.go",
		Old:  text("one\n" + long + "two\n" + long + "three\n"),
		New:  "ONE\n" + long + "TWO\n" + long + "THREE\n",
	}
}
