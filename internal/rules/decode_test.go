package rules

import (
	"encoding/json"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/shell"
	"github.com/lictor-policy/lictor/internal/toolcall"
	policy "github.com/lictor-policy/lictor/rego"
)

// world is a root, a home and the tool table to decode calls with.
type world struct {
	guard *pathguard.Guard
	table *toolcall.Table
	env   Env
}

var loadTable = sync.OnceValues(func() (*toolcall.Table, error) { return toolcall.LoadTable(policy.Tools) })

func newWorld(t testing.TB, root, home string) *world {
	t.Helper()
	guard, err := pathguard.New(root, pathguard.WithHome(home), pathguard.WithFold(false))
	require.NoError(t, err)
	table, err := loadTable()
	require.NoError(t, err)
	return &world{guard: guard, table: table, env: Env{
		Root: guard.Root(), RealRoot: guard.RealRoot(), Home: guard.Home(),
		Canonical: table.Canonical, ClassOf: table.Class, KindOf: table.KindOf, Tools: table.Canonicals(),
	}}
}

func (w *world) path(t testing.TB, text string, access model.Access, role model.Role) model.Target {
	t.Helper()
	p, err := w.guard.Resolve(text, "")
	require.NoError(t, err)
	return model.Target{Kind: model.KindPath, Access: access, Role: role, Path: p}
}

func (w *world) command(t testing.TB, text string) model.Target {
	t.Helper()
	target := model.Target{Kind: model.KindCommand, Command: shell.Analyze(text, model.ShellBash)}
	for _, r := range target.Redirects {
		if r.Static && r.Value == os.DevNull {
			continue // the engine leaves out what is no file
		}
		ref := model.PathRef{Access: r.Access, Part: r.Part, Dynamic: !r.Static}
		if ref.Text = r.Value; r.Static {
			var err error
			ref.Path, err = w.guard.Resolve(r.Value, "")
			require.NoError(t, err)
		}
		target.Redirections = append(target.Redirections, ref)
	}
	for _, f := range target.Files {
		if p, err := w.guard.Resolve(f.Value, ""); err == nil {
			target.Mentions = append(target.Mentions, model.PathRef{Access: f.Access, Part: f.Part, Program: f.Program, Path: p})
		}
	}
	return target
}

// decode reads a call as the engine does. The error is an input error.
func (w *world) decode(t testing.TB, tool string, args json.RawMessage) (*Query, error) {
	t.Helper()
	d, err := w.table.Decode(model.Call{Tool: tool, Args: args})
	if err != nil {
		return nil, err
	}
	q := &Query{Tool: d.Tool, Called: d.Called, Class: d.Class, Unextractable: d.Unextractable, Targets: d.Targets}
	for i := range q.Targets {
		target := &q.Targets[i]
		switch target.Kind {
		case model.KindPath:
			target.Path, err = w.guard.Resolve(target.Path.Text, "")
			require.NoError(t, err)
		case model.KindCommand:
			*target = w.command(t, target.Source)
		case model.KindURL:
			u, err := netguard.ParseURL(target.URL)
			require.NoError(t, err)
			target.URL, target.Host = u.Text, u.Host
		}
	}
	return q, nil
}

// query is decode for calls that can be read.
func (w *world) query(t testing.TB, tool string, args json.RawMessage) *Query {
	t.Helper()
	q, err := w.decode(t, tool, args)
	require.NoError(t, err)
	return q
}
