package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// enginesRows are about the whole engine: they need a policy, a call and a
// person, and are run where those are. The classes among them are tested here
// as well, from what decided.
var enginesRows = map[string]bool{
	"audit-fail-002":  true,
	"audit-class-001": true, "audit-class-002": true, "audit-class-003": true, "audit-class-004": true,
	"audit-class-005": true, "audit-class-006": true, "audit-class-007": true, "audit-class-008": true,
	"audit-class-009": true, "audit-class-010": true, "audit-class-011": true, "audit-class-012": true,
	"audit-class-013": true, "audit-class-014": true,
}

func TestCases(t *testing.T) {
	areas := map[string]func(*testing.T, testcase.Row){
		"audit-chain": caseChain, "audit-redact": caseRedact, "audit-dir": caseDir, "audit-fail": caseFail,
		"audit-read": caseRead, "audit-stats": caseStats, "audit-level": caseLevel, "audit-checkpoint": caseCheckpoint,
		"audit-class": caseClass,
	}
	seen := map[string]bool{}
	for _, row := range testcase.Rows(t, "testdata/audit.jsonl") {
		seen[row.ID] = true
		run, ok := areas[row.Area]
		require.True(t, ok, "unknown area %q", row.Area)
		t.Run(row.ID, func(t *testing.T) { run(t, row) })
	}
	for id := range enginesRows {
		assert.True(t, seen[id], "%s is no case", id)
	}
}

func caseChain(t *testing.T, row testcase.Row) {
	var given struct{ Edit string }
	var expect struct {
		OK   bool
		Line uint64
		Why  string
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Expect, &expect)
	l := openLog(t, testOptions(t))
	fill(t, l, 4)
	require.NoError(t, l.Close())
	file := segments(t, l.Dir())[0]
	edit(t, file, func(p []byte) []byte {
		lines := bytes.SplitAfter(p, []byte("\n"))
		switch given.Edit {
		case "tool of line 2 changed":
			lines[1] = bytes.Replace(lines[1], []byte(`"tool":"bash"`), []byte(`"tool":"dash"`), 1)
		case "line 2 removed":
			lines = append(lines[:1], lines[2:]...)
		default:
			t.Fatalf("unknown edit %q", given.Edit)
		}
		return bytes.Join(lines, nil)
	})
	r := verify(t, l.Dir(), VerifyOptions{})
	assert.Equal(t, expect.OK, r.OK())
	assert.Equal(t, expect.Line, r.Line)
	assert.Equal(t, file, r.File)
	assert.Equal(t, StatusTampered, r.Status)
	if expect.Why != "" {
		assert.Equal(t, expect.Why, r.Why)
	}
}

func caseRedact(t *testing.T, row testcase.Row) {
	var given struct {
		Env         map[string]string
		MovedSecret []string
	}
	var input struct{ Command string }
	var expect struct{ FileLacks []string }
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	opt := testOptions(t)
	for k, v := range given.Env {
		opt.Environ = append(opt.Environ, k+"="+v)
	}
	l := openLog(t, opt)
	if len(given.MovedSecret) == 2 {
		require.NoError(t, l.RegisterSecret(given.MovedSecret[1]))
	}
	args, err := json.Marshal(map[string]string{"command": input.Command})
	require.NoError(t, err)
	d := decided("bash", string(args), model.Allow, "rule")
	d.Target, d.Verdict.Reason, d.Error = input.Command, "because of "+input.Command, input.Command
	require.NoError(t, l.Verdict(d))
	require.NoError(t, l.Close())
	all := tree(t, filepath.Dir(l.Dir()))
	for _, secret := range expect.FileLacks {
		assert.NotContains(t, all, secret)
	}
	requireGood(t, l.Dir())
}

func caseDir(t *testing.T, row testcase.Row) {
	var input struct{ Roots []string }
	var expect struct{ Different bool }
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	assert.Equal(t, expect.Different, Dir("/home/u", input.Roots[0]) != Dir("/home/u", input.Roots[1]))
}

func caseFail(t *testing.T, row testcase.Row) {
	if enginesRows[row.ID] {
		testMandatoryError(t)
		return
	}
	var given struct{ Mandatory bool }
	var input struct {
		Writes int
		Dir    string
	}
	var expect struct {
		Notices int
		Throws  bool
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	require.Equal(t, "below a file", input.Dir)
	opt := testOptions(t)
	file := filepath.Join(opt.Home, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	opt.Dir = filepath.Join(file, "audit")
	opt.Mandatory = given.Mandatory
	var notices []string
	opt.Notify = func(s string) { notices = append(notices, s) }
	l := openLog(t, opt)
	for range input.Writes {
		assert.Equal(t, expect.Throws, l.Verdict(decided("bash", `{}`, model.Allow, "rule")) != nil)
	}
	assert.Len(t, notices, expect.Notices, "%q", notices)
}

// testMandatoryError is the log's half of audit-fail-002.
func testMandatoryError(t *testing.T) {
	opt := testOptions(t)
	file := filepath.Join(opt.Home, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	opt.Dir, opt.Mandatory = filepath.Join(file, "audit"), true
	l := openLog(t, opt)
	_, err := l.Intent(decided("write_file", `{"path":"new.txt"}`, model.Allow, "rule"))
	assert.ErrorContains(t, err, "so the call did not run")
	assert.ErrorContains(t, l.Verdict(decided("write_file", `{}`, model.Allow, "rule")), "so the call did not run")
	err = l.Result(Ref{"0123456789abcdef", 1}, &Ran{Tool: "bash", Started: true})
	assert.ErrorContains(t, err, "the call ran")
	assert.NotContains(t, err.Error(), "did not run")
	var re *RecordError
	assert.True(t, errors.As(err, &re) && !re.Written)
}

func caseRead(t *testing.T, row testcase.Row) {
	var given struct {
		FirstFile string
		Events    []string
	}
	var input struct {
		Limit       *int
		DenialsOnly bool
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	opt := testOptions(t)
	l := openLog(t, opt)
	if given.FirstFile != "" {
		require.Equal(t, "no newline at its end", given.FirstFile)
		fill(t, l, 2)
		l2 := openLog(t, opt)
		fill(t, l2, 2)
		edit(t, segments(t, l.Dir())[0], func(p []byte) []byte { return p[:len(p)-1] })
		assert.Len(t, events(t, l.Dir(), Filter{}), 4, "%s", row.Expect)
		return
	}
	for _, text := range given.Events {
		require.NoError(t, l.Record(textEvent(text)))
	}
	if len(given.Events) == 0 {
		fill(t, l, 3)
	}
	list := events(t, l.Dir(), Filter{Limit: input.Limit, Denials: input.DenialsOnly})
	var expect struct {
		Events *[]*Event
		Count  *int
	}
	testcase.Strict(t, row.Expect, &expect)
	switch {
	case expect.Events != nil:
		assert.Equal(t, *expect.Events, list)
	case expect.Count != nil:
		assert.Len(t, list, *expect.Count)
	default:
		t.Fatal("no expectation")
	}
}

// textEvent makes an event of "tool class", "class risk" or "tool class risk".
func textEvent(text string) *Event {
	e := &Event{Type: TypeVerdict}
	for _, w := range strings.Fields(text) {
		switch {
		case Class(w).Denied() || Class(w).Allowed():
			e.Class = Class(w)
		case w == "low" || w == "medium" || w == "high" || w == "critical":
			e.Risk = Risk(w)
		default:
			e.Tool = w
		}
	}
	return e
}

func caseStats(t *testing.T, row testcase.Row) {
	var given struct{ Events []string }
	var expect Stats
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Expect, &expect)
	l := openLog(t, testOptions(t))
	for _, text := range given.Events {
		require.NoError(t, l.Record(textEvent(text)))
	}
	s, err := CountStats(t.Context(), l.Dir(), Filter{})
	require.NoError(t, err)
	assert.Equal(t, []int{expect.Total, expect.Allowed, expect.Denied, expect.PolicyBlocked, expect.CriticalCount},
		[]int{s.Total, s.Allowed, s.Denied, s.PolicyBlocked, s.CriticalCount})
}

func caseLevel(t *testing.T, row testcase.Row) {
	var given struct{ Level Level }
	var input struct{ Event string }
	var expect struct{ Written bool }
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	e := textEvent(input.Event)
	if input.Event == "execution error" {
		e = &Event{Type: TypeResult, Class: AllowRule, Error: "exec: no such file"}
	}
	opt := testOptions(t)
	opt.Level = given.Level
	l := openLog(t, opt)
	require.NoError(t, l.Record(e))
	n := 0
	if expect.Written {
		n = 1
	}
	assert.Len(t, events(t, l.Dir(), Filter{}), n)
}

func caseCheckpoint(t *testing.T, row testcase.Row) {
	var given struct{ Change, Checkpoint, Dir string }
	testcase.Strict(t, row.Given, &given)
	switch {
	case given.Change != "":
		var expect struct{ WithoutCheckpoint, WithCheckpoint bool }
		testcase.Strict(t, row.Expect, &expect)
		for checkpoint, found := range map[bool]bool{false: expect.WithoutCheckpoint, true: expect.WithCheckpoint} {
			opt := testOptions(t)
			opt.Checkpoint = checkpoint
			l := openLog(t, opt)
			fill(t, l, 3)
			require.NoError(t, l.Close())
			file := segments(t, l.Dir())[0]
			switch given.Change {
			case "a line changed":
				edit(t, file, func(p []byte) []byte { return bytes.Replace(p, []byte("git status 1"), []byte("git status 7"), 1) })
			case "a whole file deleted":
				require.NoError(t, os.Remove(file))
			default:
				t.Fatalf("unknown change %q", given.Change)
			}
			assert.Equal(t, found, !verify(t, l.Dir(), VerifyOptions{}).OK(), "checkpoint %v", checkpoint)
		}
	case given.Checkpoint != "":
		require.Equal(t, "cannot be parsed", given.Checkpoint)
		opt := testOptions(t)
		opt.Checkpoint = true
		l := openLog(t, opt)
		fill(t, l, 3)
		require.NoError(t, l.Close())
		path := filepath.Join(CheckpointDir(l.Dir()), filepath.Base(segments(t, l.Dir())[0])+checkpointSuffix)
		require.NoError(t, os.WriteFile(path, []byte("nonsense"), 0o600))
		r := verify(t, l.Dir(), VerifyOptions{})
		assert.Equal(t, StatusUnreadable, r.Status, "%s", row.Expect)
		assert.Equal(t, path, r.File)
		require.NoError(t, os.RemoveAll(CheckpointDir(l.Dir())))
		assert.Equal(t, StatusUnanchored, verify(t, l.Dir(), VerifyOptions{}).Status)
	case given.Dir != "":
		require.Equal(t, "exists, cannot be listed", given.Dir)
		fsys := &faultFS{FS: OSFS, fail: func(op, path string) error {
			if op == "readdir" {
				return fs.ErrPermission
			}
			return nil
		}}
		var de *DirError
		_, err := Verify(t.Context(), t.TempDir(), VerifyOptions{FS: fsys})
		assert.ErrorAs(t, err, &de)
		_, err = Collect(t.Context(), t.TempDir(), Filter{FS: fsys})
		assert.ErrorAs(t, err, &de)
		file := filepath.Join(t.TempDir(), "file") // and the real thing, for everybody, root too
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		_, err = Verify(t.Context(), file, VerifyOptions{})
		assert.ErrorAs(t, err, &de)
	default:
		t.Fatal("unknown given")
	}
}

func caseClass(t *testing.T, row testcase.Row) {
	require.True(t, enginesRows[row.ID])
	var expect struct {
		Decision Class
		Risk     Risk
		Tool     string
		Ran      *bool
		Blocked  bool
	}
	testcase.Strict(t, row.Expect, &expect)
	deny, allow, ask := model.Deny, model.Allow, model.Ask
	// What the engine would hand over for the row.
	d, hook := decided("bash", `{}`, allow, "rule"), (*HookRun)(nil)
	d.Isolation = model.IsolationOS
	set := func(decision model.Decision, by, kind string, target model.Kind) {
		d.Verdict.Decision, d.Verdict.By, d.Verdict.Kind, d.TargetKind = decision, by, kind, target
	}
	switch row.ID {
	case "audit-class-001":
		set(deny, "policy", "", model.KindCommand)
	case "audit-class-002":
		set(allow, "read_only", "", model.KindPath)
	case "audit-class-003":
		set(ask, "default", "", model.KindCommand)
		d.Answer, d.OutsideSandbox = "deny", true
	case "audit-class-004":
		set(deny, "rule", "", model.KindPath)
	case "audit-class-005":
		set(deny, "rule", "protected", model.KindPath)
	case "audit-class-006":
		hook = &HookRun{Event: "preToolUse", Command: "true", Ran: true, Verdict: model.Verdict{Decision: allow, By: "sandbox"}}
	case "audit-class-007":
		hook = &HookRun{Event: "preToolUse", Command: "rm", Blocked: true, Verdict: model.Verdict{Decision: deny, By: "policy"}}
	case "audit-class-008":
		set(allow, "sandbox", "", model.KindCommand)
	case "audit-class-009":
		set(allow, "rule", "", model.KindPath)
	case "audit-class-010":
		set(allow, "session", "", model.KindCommand)
	case "audit-class-011":
		set(ask, "default", "", model.KindCommand)
		d.Answer, d.OutsideSandbox = "once", true
	case "audit-class-012":
		set(ask, "default", "", model.KindPath)
		d.Answer = "once"
	case "audit-class-013":
		set(ask, "default", "", model.KindURL)
		d.Answer = "always"
	case "audit-class-014":
		set(deny, "unattended", "", model.KindURL)
	default:
		t.Fatalf("no test for %s", row.ID)
	}
	l := openLog(t, testOptions(t))
	if hook != nil {
		require.NoError(t, l.Hook(hook))
	} else {
		require.NoError(t, l.Verdict(d))
	}
	e := events(t, l.Dir(), Filter{})[0]
	assert.Equal(t, expect.Decision, e.Class)
	if expect.Risk != "" {
		assert.Equal(t, expect.Risk, e.Risk)
	}
	if expect.Tool != "" {
		assert.Equal(t, expect.Tool, e.Tool)
	}
	if expect.Ran != nil {
		assert.Equal(t, *expect.Ran, *e.Ran)
		assert.Equal(t, expect.Blocked, e.Blocked)
	}
}
