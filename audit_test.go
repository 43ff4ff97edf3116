package lictor_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// engineRows are the rows of audit.jsonl that need the whole engine; the rest is
// the audit package's.
var engineRows = map[string]func(*testing.T, testcase.Row){
	"audit-class-001": classRow("bash", `{"command":"rm -rf /"}`, lictor.Options{}),
	"audit-class-002": classRow("read_file", `{"path":"src/a.ts"}`, lictor.Options{}),
	"audit-class-003": classRow("bash", `{"command":"echo outside","outside_sandbox":true}`, lictor.Options{}),
	"audit-class-004": classRow("edit_file", `{"path":".github/ci.yml","old_string":"a","new_string":"b"}`, lictor.Options{}),
	"audit-class-005": classRow("edit_file", `{"path":".git/config","old_string":"a","new_string":"b"}`, lictor.Options{}),
	"audit-class-006": hookRow,
	"audit-class-007": hookRow,
	"audit-class-008": classRow("bash", `{"command":"make"}`, lictor.Options{Isolation: lictor.IsolationOS}),
	"audit-class-009": classRow("edit_file", `{"path":"allowed.txt","old_string":"a","new_string":"b"}`, lictor.Options{}),
	"audit-class-010": classRow("bash", `{"command":"make"}`, lictor.Options{Approver: approve.NewScript(lictor.AnswerSession)}, `{"command":"make"}`),
	"audit-class-011": classRow("bash", `{"command":"make","outside_sandbox":true}`, lictor.Options{Approver: approve.NewScript(lictor.AnswerOnce)}),
	"audit-class-012": classRow("edit_file", `{"path":"a.txt","old_string":"a","new_string":"b"}`, lictor.Options{Approver: approve.NewScript(lictor.AnswerOnce)}),
	"audit-class-013": classRow("web_fetch", `{"url":"https://a.example/"}`, lictor.Options{Approver: approve.NewScript(lictor.AnswerOnce)}),
	"audit-class-014": classRow("web_fetch", `{"url":"https://a.example/"}`, lictor.Options{Unattended: "the case"}),
	"audit-fail-002":  mandatoryRow,
}

func TestAuditCases(t *testing.T) {
	ran := 0
	for _, row := range testcase.Rows(t, "testdata/cases/audit.jsonl") {
		if run := engineRows[row.ID]; run != nil {
			ran++
			t.Run(row.ID, func(t *testing.T) { run(t, row) })
		}
	}
	assert.Equal(t, len(engineRows), ran)
}

// events reads the decisions of a project's log.
func events(t *testing.T, p *project) []*audit.Event {
	t.Helper()
	out, err := audit.Collect(context.Background(), audit.Dir(p.home, p.root), audit.Filter{Types: []audit.Type{audit.TypeVerdict, audit.TypeHook}})
	require.NoError(t, err)
	return out
}

// classRow decides one call, after others of the same tool, and looks at its line.
func classRow(tool, args string, o lictor.Options, before ...string) func(*testing.T, testcase.Row) {
	return func(t *testing.T, row testcase.Row) {
		var given struct {
			Policy json.RawMessage `json:"policy"`
			Answer lictor.Answer   `json:"answer"`
			Deny   []string        `json:"deny"`
			By     string          `json:"by"`
		}
		var expect struct{ Decision, Risk string }
		testcase.Strict(t, row.Given, &given)
		testcase.Strict(t, row.Expect, &expect)
		p := newProject(t)
		if given.Policy != nil {
			p.write(t, p.managed, string(given.Policy))
		}
		p.write(t, filepath.Join(p.home, ".lictor/permissions.json"), `{"permissions":{"allow":["Edit(allowed.txt)"]}}`)
		p.write(t, ".lictor/settings.json", map[string]any{"permissions": map[string]any{"deny": append([]string{}, given.Deny...)}})
		if given.Answer != "" {
			o.Approver = approve.NewScript(given.Answer)
		}
		e := p.open(t, o)
		for _, args := range append(before, args) {
			_, err := e.Decide(context.Background(), lictor.Call{Tool: tool, Args: []byte(args)})
			require.NoError(t, err)
		}
		got := events(t, p)
		require.Len(t, got, len(before)+1)
		last := got[len(before)]
		assert.Equal(t, expect.Decision, string(last.Class))
		assert.Equal(t, expect.Risk, string(last.Risk))
	}
}

func hookRow(t *testing.T, row testcase.Row) {
	var given struct{ HookCommand string }
	var expect struct {
		Tool, Decision string
		Ran, Blocked   *bool
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Expect, &expect)
	p := newProject(t)
	refused := expect.Decision != "hook"
	if refused {
		given.HookCommand = "make lint"
		p.write(t, p.managed, `{"disallowedCommands":["make *"]}`)
	}
	e := p.open(t, lictor.Options{})
	v, policy, err := e.CheckHook(context.Background(), given.HookCommand)
	require.NoError(t, err)
	assert.Equal(t, refused, v.Decision == lictor.Deny)
	assert.Equal(t, refused, policy == nil)
	require.NoError(t, e.RecordHook(lictor.HookRun{Event: "preToolUse", Command: given.HookCommand, Verdict: v, Ran: !refused, Blocked: refused}))
	got := events(t, p)
	require.Len(t, got, 1)
	assert.Equal(t, expect.Tool, got[0].Tool)
	assert.Equal(t, expect.Decision, string(got[0].Class))
	if expect.Ran != nil {
		assert.Equal(t, *expect.Ran, *got[0].Ran)
		assert.Equal(t, *expect.Blocked, got[0].Blocked)
	}
}

func mandatoryRow(t *testing.T, row testcase.Row) {
	var given struct{ Policy json.RawMessage }
	var expect struct {
		IsError         bool
		ContentContains string
		FileCreated     bool
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Expect, &expect)
	p := newProject(t)
	p.write(t, p.managed, string(given.Policy))
	p.write(t, filepath.Join(p.home, ".lictor/audit"), "a file in the place of the folder")
	p.write(t, filepath.Join(p.home, ".lictor/permissions.json"), `{"permissions":{"allow":["Write(**)"]}}`)
	e, err := lictor.Open(context.Background(), lictor.Options{Root: p.root, Home: p.home, ManagedPolicy: p.managed})
	require.NoError(t, err)
	d, err := e.Decide(context.Background(), lictor.Call{Tool: "write_file", Args: []byte(`{"path":"new.txt","content":""}`)})
	require.Error(t, err)
	assert.False(t, d.Allowed)
	assert.Equal(t, lictor.Deny, d.Verdict.Decision)
	assert.Contains(t, d.Reason, expect.ContentContains)
	assert.NoError(t, e.Close())
}
