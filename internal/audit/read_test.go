package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
	"github.com/lictor-policy/lictor/schemas"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixedLog holds one event of each sort.
func mixedLog(t *testing.T) *Log {
	opt := testOptions(t)
	opt.Clock = testClock()
	l := openLog(t, opt)
	read := decided("Read", `{"file_path":"a.go"}`, model.Allow, "read_only")
	read.TargetKind, read.Call.Agent = model.KindPath, "gemini"
	require.NoError(t, l.Verdict(read))
	require.NoError(t, l.Verdict(decided("bash", `{"command":"rm -rf /"}`, model.Deny, "policy")))
	ask := decided("bash", `{"command":"make deploy"}`, model.Ask, "default")
	ask.Answer = "once"
	require.NoError(t, l.Verdict(ask))
	ref, err := l.Intent(ask)
	require.NoError(t, err)
	require.NoError(t, l.Result(ref, &Ran{Tool: "bash", Class: AllowUser, Started: true, Exit: new(int), Duration: time.Second}))
	_, err = l.Intent(ask) // never finished
	require.NoError(t, err)
	require.NoError(t, l.Hook(&HookRun{Event: "preToolUse", Command: "fmt --token abc123def456", Ran: true}))
	mcp := decided("mcp__github__create_issue", `{"title":"x","token":"abc123def456"}`, model.Deny, "unattended")
	mcp.TargetKind, mcp.Call.CallID = model.KindInput, "call-9"
	require.NoError(t, l.Verdict(mcp))
	bad := decided("bash", `{"command":`, model.Deny, "input")
	require.NoError(t, l.Verdict(bad))
	return l
}

func TestFilters(t *testing.T) {
	l := mixedLog(t)
	two, none := 2, 0
	all := events(t, l.Dir(), Filter{})
	require.Len(t, all, 9)
	for name, c := range map[string]struct {
		f    Filter
		want int
	}{
		"denials":     {Filter{Denials: true}, 3},
		"tool":        {Filter{Tools: []string{"bash"}}, 6},
		"tool prefix": {Filter{Tools: []string{"mcp__*", "hook:*"}}, 2},
		"type":        {Filter{Types: []Type{TypeHook, TypeResult}}, 2},
		"class":       {Filter{Classes: []Class{"deny_*"}}, 3},
		"risk":        {Filter{Risks: []Risk{RiskCritical, RiskLow}}, 2},
		"agent":       {Filter{Agents: []string{"gemini"}}, 1},
		"call":        {Filter{CallID: "call-9"}, 1},
		"text":        {Filter{Contains: "make deploy"}, 3},
		"system":      {Filter{System: true}, 10},
		"segment":     {Filter{Segment: all[0].Segment}, 9},
		"other":       {Filter{Segment: "x"}, 0},
		"since":       {Filter{Since: all[4].Time}, 5},
		"until":       {Filter{Until: all[4].Time}, 4},
		"last two":    {Filter{Limit: &two}, 2},
		"none":        {Filter{Limit: &none}, 0},
	} {
		assert.Len(t, events(t, l.Dir(), c.f), c.want, name)
	}
	last := events(t, l.Dir(), Filter{Limit: &two})
	assert.Equal(t, all[7:], last, "the last ones, in order")
	assert.Empty(t, events(t, t.TempDir()+"/none", Filter{}), "no folder is no log")
}

// A filter is refused only for what no event can have.
func TestFilterCheck(t *testing.T) {
	text, err := schemas.Files.ReadFile("audit-event.json")
	require.NoError(t, err)
	var schema struct {
		Properties struct {
			Type struct{ Enum []Type }
			Risk struct{ Enum []Risk }
		}
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	f := Filter{Types: schema.Properties.Type.Enum, Risks: schema.Properties.Risk.Enum, Classes: []Class{"ask", "deny_*", "allow_rule", "*"}}
	require.NotEmpty(t, f.Types)
	require.NotEmpty(t, f.Risks)
	f.Classes = slices.AppendSeq(f.Classes, maps.Values(denyClasses))
	f.Classes = slices.AppendSeq(f.Classes, maps.Values(allowClasses))
	require.NoError(t, f.Check())
	require.ErrorContains(t, (&Filter{Types: []Type{"verdit"}}).Check(), `no events of the type "verdit"; the types are verdict, `)
	require.ErrorContains(t, (&Filter{Risks: []Risk{"hgh"}}).Check(), "low, medium, high, critical")
	require.ErrorContains(t, (&Filter{Classes: []Class{"deny"}}).Check(), "deny_*")
}

func TestStats(t *testing.T) {
	l := mixedLog(t)
	s, err := CountStats(t.Context(), l.Dir(), Filter{})
	require.NoError(t, err)
	assert.Equal(t, []int{6, 2, 3, 0, 1, 1}, []int{s.Total, s.Allowed, s.Denied, s.Asked, s.PolicyBlocked, s.CriticalCount})
	assert.Equal(t, []int{2, 1, 0, 1, 2}, []int{s.Executions, s.Unfinished, s.Failed, s.Hooks, s.Redactions})
	assert.Equal(t, map[Class]int{AllowReadOnly: 1, DenyPolicy: 1, AllowUser: 1, ClassHook: 1, DenyUnattended: 1, DenyInput: 1}, s.ByClass)
}

// The recorded calls can be asked about again.
func TestCalls(t *testing.T) {
	l := mixedLog(t)
	var calls []*RecordedCall
	for c, err := range Calls(t.Context(), l.Dir(), Filter{}) {
		require.NoError(t, err)
		calls = append(calls, c)
	}
	require.Len(t, calls, 5)
	assert.Equal(t, model.Call{
		Tool: "bash", Args: json.RawMessage(`{"command":"rm -rf /"}`), CallID: "call-1", Agent: "claude-code",
		Cwd: "/src/proj", Mode: model.ModeBuild,
	}, calls[1].Call)
	assert.Equal(t, model.Deny, calls[1].Decision)
	assert.Equal(t, model.IsolationOS, calls[1].Isolation)
	assert.Equal(t, "once", calls[2].Answer)
	assert.Equal(t, model.Allow, calls[2].Decision)
	assert.True(t, calls[3].Redacted)
	assert.Contains(t, string(calls[3].Call.Args), `"token":"REDACTED-assignment-`)
	assert.Equal(t, `{"command":`, string(calls[4].Call.Args), "arguments that were no JSON come back as they were")
	for _, c := range calls {
		assert.True(t, c.Exact)
	}
}

func TestExport(t *testing.T) {
	l := mixedLog(t)
	var out bytes.Buffer
	n, err := Export(t.Context(), &out, l.Dir(), Filter{}, FormatOPA, nil)
	require.NoError(t, err)
	assert.Equal(t, 6, n)
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	var row struct {
		Labels     map[string]string
		DecisionID string `json:"decision_id"`
		Path       string
		Input      map[string]any
		Result     map[string]any
		Erased     []string
		Timestamp  time.Time
		RequestBy  string `json:"requested_by"`
		Revision   string
	}
	testcase.Strict(t, []byte(rows[4]), &row)
	assert.Equal(t, "lictor/verdict", row.Path)
	assert.Len(t, row.DecisionID, 64)
	assert.Equal(t, []string{"/input/args"}, row.Erased)
	assert.Equal(t, "deny", row.Result["decision"])
	assert.Equal(t, "deny_unattended", row.Result["class"])
	assert.Equal(t, "mcp__github__create_issue", row.Input["tool"])
	assert.NotContains(t, out.String(), "abc123def456")

	out.Reset()
	n, err = Export(t.Context(), &out, l.Dir(), Filter{System: true}, FormatJSONL, nil)
	require.NoError(t, err)
	assert.Equal(t, 10, n)
	_, err = Export(t.Context(), &out, l.Dir(), Filter{}, "xml", nil)
	assert.ErrorContains(t, err, "use jsonl or opa")
}

// Lines of processes that ran at the same time are given by time, and a damaged
// line hides no other.
func TestShowMergesAndGoesOn(t *testing.T) {
	opt := testOptions(t)
	opt.Clock = testClock()
	var logs []*Log
	for range 5 {
		logs = append(logs, openLog(t, opt))
	}
	for i := range 50 {
		d := decided("bash", `{}`, model.Allow, "rule")
		d.Call.CallID = fmt.Sprint(i)
		require.NoError(t, logs[i%5].Verdict(d))
	}
	dir := logs[0].Dir()
	for i, e := range events(t, dir, Filter{}) {
		require.Equal(t, fmt.Sprint(i), e.CallID)
	}
	edit(t, segments(t, dir)[2], func(p []byte) []byte {
		all := lines(p)
		all[4] = []byte("not a line\n")
		all[6] = append(bytes.Repeat([]byte("x"), 10_000), '\n')
		return bytes.Join(all, nil)
	})
	list, err := Collect(t.Context(), dir, Filter{})
	assert.Len(t, list, 48)
	var le *LineError
	require.ErrorAs(t, err, &le)
	assert.Equal(t, uint64(5), le.Line)
	s, err := CountStats(t.Context(), dir, Filter{})
	require.NoError(t, err)
	assert.Equal(t, 2, s.Damaged)
}

func TestFollow(t *testing.T) {
	opt := testOptions(t)
	l := openLog(t, opt)
	fill(t, l, 5)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	one := 1
	got := make(chan *Event, 100)
	var wg sync.WaitGroup
	wg.Go(func() {
		for e, err := range Follow(ctx, l.Dir(), Filter{Limit: &one}) {
			if err == nil {
				got <- e
			}
		}
	})
	first := <-got
	assert.Equal(t, uint64(6), first.Seq, "only the last of what was there")
	fill(t, l, 2)
	other := openLog(t, opt) // a new segment
	fill(t, other, 1)
	seen := []string{}
	for range 3 {
		e := <-got
		seen = append(seen, fmt.Sprintf("%v %d", e.Segment == first.Segment, e.Seq))
	}
	assert.ElementsMatch(t, []string{"true 7", "true 8", "false 2"}, seen)
	cancel()
	wg.Wait()
}

func TestLevelOfTheChain(t *testing.T) {
	for level, want := range map[Level]int{LevelAll: 9, LevelMutations: 8, LevelDenials: 3} {
		opt := testOptions(t)
		opt.Level = level
		src := mixedLog(t)
		l := openLog(t, opt)
		for _, e := range events(t, src.Dir(), Filter{}) {
			require.NoError(t, l.Record(e))
		}
		assert.Len(t, events(t, l.Dir(), Filter{}), want, level)
		require.NoError(t, l.Close())
		requireGood(t, l.Dir())
	}
}

func TestConcurrentUse(t *testing.T) {
	for _, shared := range []bool{false, true} {
		opt := testOptions(t)
		opt.Shared = shared
		var wg sync.WaitGroup
		for range 3 {
			l := openLog(t, opt)
			for range 4 {
				wg.Go(func() {
					for range 25 {
						assert.NoError(t, l.Verdict(decided("bash", `{"command":"x"}`, model.Allow, "rule")))
						assert.NoError(t, l.RegisterSecret("secret-value"))
					}
				})
			}
		}
		wg.Wait()
		dir := Dir(opt.Home, opt.Root)
		requireGood(t, dir)
		assert.Len(t, events(t, dir, Filter{}), 300)
		assert.Len(t, segments(t, dir), map[bool]int{true: 1, false: 3}[shared])
	}
}

func TestOpenRefusesBadOptions(t *testing.T) {
	_, err := Open(Options{Home: t.TempDir(), Root: "relative"})
	assert.ErrorContains(t, err, "not absolute")
	_, err = Open(Options{Home: t.TempDir(), Root: "/x", SignKey: "nonsense"})
	assert.ErrorContains(t, err, "GenerateKey")
	_, err = Verify(t.Context(), t.TempDir(), VerifyOptions{Keys: []string{"nonsense"}})
	assert.ErrorContains(t, err, "malformed")
	_, _, err = GenerateKey("two words")
	assert.Error(t, err)
	l := openLog(t, testOptions(t))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	l.opt.Mandatory = true
	assert.ErrorContains(t, l.Verdict(decided("bash", `{}`, model.Allow, "rule")), "closed")
}

func TestDirNames(t *testing.T) {
	assert.Regexp(t, `^/h/\.lictor/audit/proj-[0-9a-f]{16}$`, Dir("/h", "/a/proj"))
	assert.Regexp(t, `^/h/\.lictor/audit/my_project_-[0-9a-f]{16}$`, Dir("/h", "/a/my project!/"))
	assert.Equal(t, Dir("/h", "/a/x"), Dir("/h", "/a/x/"))
	assert.NotEqual(t, Dir("/h", "/a/x"), Dir("/h", "/b/x"))
	for _, root := range []string{"/", "/..", "/" + strings.Repeat("ü", 300), "/a/..."} {
		name := strings.TrimPrefix(Dir("/h", root), "/h/.lictor/audit/")
		assert.Regexp(t, `^[A-Za-z0-9._-]{1,60}$`, name)
		assert.NotEqual(t, '.', rune(name[0]))
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	l := openLog(t, testOptions(t))
	fill(t, l, 2)
	require.NoError(t, l.Close())
	seg := segments(t, l.Dir())[0]
	require.NoError(t, os.Rename(seg, seg+".real"))
	require.NoError(t, os.Symlink(seg+".real", seg))
	r := verify(t, l.Dir(), VerifyOptions{})
	assert.Equal(t, StatusUnreadable, r.Status, "%s", r)
	assert.Equal(t, seg, r.File)
}

// Verify writes nothing.
func TestVerifyIsReadOnly(t *testing.T) {
	opt := testOptions(t)
	opt.Checkpoint = true
	l := openLog(t, opt)
	fill(t, l, 3)
	require.NoError(t, l.Close())
	before := tree(t, opt.Home)
	f := &faultFS{FS: OSFS, fail: func(op, _ string) error {
		switch op {
		case "read", "readat", "readdir", "stat", "fstat":
			return nil
		}
		return errors.New("verify must not " + op)
	}}
	require.True(t, verify(t, l.Dir(), VerifyOptions{FS: f}).OK())
	_, err := Head(l.Dir(), f)
	require.NoError(t, err)
	_, err = Collect(t.Context(), l.Dir(), Filter{FS: f})
	require.NoError(t, err)
	assert.Equal(t, before, tree(t, opt.Home))
	_, err = Verify(t.Context(), opt.Home+"/none", VerifyOptions{})
	require.NoError(t, err)
	_, err = os.Stat(opt.Home + "/none")
	assert.ErrorIs(t, err, os.ErrNotExist)
}
