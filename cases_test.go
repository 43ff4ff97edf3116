package lictor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// elsewhere are the areas whose functions belong to another package, which runs
// their rows itself.
var elsewhere = []string{
	"rule-parse", "rule-command", "rule-tool", "path-glob", "sensitive", "path-guard", // rules, pathguard
	"settings", "settings-gate", "policy-parse", "policy-load", "policy-merge", "policy-limits", "policy-model", "profile", // config
	"policy-host", // netguard
	"bulk-read",   // Visible, below by hand
	// The proxy has its own tests when it is there.
	"policy-host-proxy",
}

// here are the areas that need the whole road.
var here = map[string]func(*testing.T, testcase.Row){
	"decision":       runDecision,
	"symlink":        runSymlink,
	"policy-command": runPolicyCommand,
	"policy-path":    runPolicyPath,
	"policy-sandbox": runPolicySandbox,
}

func TestChainCases(t *testing.T) {
	ran := map[string]int{}
	for _, row := range testcase.Rows(t, "testdata/cases/chain.jsonl") {
		run, ok := here[row.Area]
		if !ok {
			require.Contains(t, elsewhere, row.Area, "%s: unknown area", row.ID)
			continue
		}
		ran[row.Area]++
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			run(t, row)
		})
	}
	for area := range here {
		assert.NotZero(t, ran[area], "no row of area %s", area)
	}
}

// project is a throw-away project with its own home and team policy.
type project struct {
	root, home, managed string
}

func newProject(t *testing.T) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &project{root: filepath.Join(dir, "root"), home: filepath.Join(dir, "home"), managed: filepath.Join(dir, "policy.json")}
	require.NoError(t, os.MkdirAll(filepath.Join(p.root, ".lictor"), 0o755))
	require.NoError(t, os.MkdirAll(p.home, 0o755))
	return p
}

func (p *project) write(t *testing.T, name string, value any) {
	t.Helper()
	text, ok := value.(string)
	if !ok {
		data, err := json.Marshal(value)
		require.NoError(t, err)
		text = string(data)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.root, name)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// trust accepts whatever the project loosens now.
func (p *project) trust(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	policy, err := eval.New(ctx)
	require.NoError(t, err)
	places := config.FindPlaces(p.root, p.home)
	o := config.Options{Rego: policy}
	loaded, err := config.Read(ctx, places, o)
	require.NoError(t, err)
	risk, err := config.AssessRisk(ctx, policy, loaded)
	require.NoError(t, err)
	require.NoError(t, config.OpenTrust(places.Trust).Accept(p.root, risk))
}

func (p *project) open(t *testing.T, o lictor.Options) *lictor.Engine {
	t.Helper()
	o.Root, o.Home = p.root, p.home
	if _, err := os.Stat(p.managed); err == nil {
		o.ManagedPolicy = p.managed
	}
	e, err := lictor.Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close()) })
	return e
}

type caseTarget struct {
	Kind           string `json:"kind"`
	Path           string `json:"path"`
	Command        string `json:"command"`
	OutsideSandbox bool   `json:"outsideSandbox"`
	URL            string `json:"url"`
	Host           string `json:"host"`
	AlwaysAsk      bool   `json:"alwaysAsk"`
	JSON           string `json:"json"`
}

type decisionGiven struct {
	Isolation  string          `json:"isolation"`
	Mode       string          `json:"mode"`
	Unattended bool            `json:"unattended"`
	Allow      []string        `json:"allow"`
	Ask        []string        `json:"ask"`
	Deny       []string        `json:"deny"`
	Answer     lictor.Answer   `json:"answer"`
	Policy     json.RawMessage `json:"policy"`
	Before     []struct {
		Tool           string        `json:"tool"`
		Path           string        `json:"path"`
		Command        string        `json:"command"`
		Host           string        `json:"host"`
		OutsideSandbox bool          `json:"outsideSandbox"`
		Answer         lictor.Answer `json:"answer"`
	} `json:"before"`
}

func runDecision(t *testing.T, row testcase.Row) {
	var given decisionGiven
	var input struct {
		Tool     string      `json:"tool"`
		ReadOnly bool        `json:"readOnly"`
		Target   *caseTarget `json:"target"`
	}
	var expect struct {
		Allowed        *bool  `json:"allowed"`
		By             string `json:"by"`
		Kind           string `json:"kind"`
		Asked          *int   `json:"asked"`
		ReasonContains string `json:"reasonContains"`
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)

	p := newProject(t)
	p.write(t, ".lictor/settings.json", map[string]any{"permissions": map[string]any{
		"allow": append([]string{}, given.Allow...), "ask": append([]string{}, given.Ask...), "deny": append([]string{}, given.Deny...),
	}})
	p.trust(t)
	if given.Policy != nil {
		p.write(t, p.managed, string(given.Policy))
	}
	var answers []lictor.Answer
	for _, b := range given.Before {
		answers = append(answers, b.Answer)
	}
	if given.Answer == "" {
		given.Answer = lictor.AnswerDeny
	}
	script := approve.NewScript(append(answers, given.Answer)...)
	o := lictor.Options{Isolation: lictor.Isolation(given.Isolation), Mode: lictor.Mode(given.Mode), Approver: script}
	if given.Unattended {
		o.Unattended = "the case says so"
	}
	e := p.open(t, o)
	for _, b := range given.Before {
		target := caseTarget{Kind: "command", Command: b.Command, OutsideSandbox: b.OutsideSandbox}
		switch {
		case b.Path != "":
			target = caseTarget{Kind: "path", Path: b.Path}
		case b.Host != "":
			target = caseTarget{Kind: "url", URL: "https://" + b.Host + "/x"}
		}
		_, err := e.Decide(context.Background(), callOf(t, b.Tool, &target, nil))
		require.NoError(t, err)
	}
	// A call before may have been decided without a question.
	before := len(script.Asked())
	for len(script.Asked()) < len(given.Before) {
		_, _ = script.Ask(context.Background(), lictor.Request{})
	}
	asked := len(script.Asked())
	if len(given.Before) > 0 && expect.By == "session" {
		require.Equal(t, len(given.Before), before, "the calls before were asked about")
	}

	d, err := e.Decide(context.Background(), callOf(t, input.Tool, input.Target, &input.ReadOnly))
	require.NoError(t, err)
	if expect.Allowed != nil {
		assert.Equal(t, *expect.Allowed, d.Allowed, "%+v", d)
	}
	if expect.By != "" {
		assert.Equal(t, expect.By, d.By, "%+v", d)
	}
	if expect.Kind != "" {
		assert.Equal(t, expect.Kind, d.Verdict.Kind)
	}
	if expect.Asked != nil {
		assert.Equal(t, *expect.Asked, len(script.Asked())-asked)
	}
	assert.Contains(t, d.Reason, expect.ReasonContains)
	assert.NotEmpty(t, d.Reason)
	assert.NotContains(t, d.Reason, "\n")
}

// callOf turns a case's target into the arguments of a call.
func callOf(t *testing.T, tool string, target *caseTarget, readOnly *bool) lictor.Call {
	t.Helper()
	args := map[string]any{}
	call := lictor.Call{Tool: tool, ReadOnly: readOnly}
	if target != nil {
		switch target.Kind {
		case "path":
			args["path"] = target.Path
			switch tool {
			case "edit_file":
				args["old_string"], args["new_string"] = "a", "b"
			case "write_file":
				args["content"] = "x"
			}
		case "command":
			args["command"] = target.Command
			if target.OutsideSandbox {
				args["outside_sandbox"] = true
			}
		case "url":
			args["url"] = target.URL
			call.AlwaysAsk = target.AlwaysAsk
		case "input":
			require.NoError(t, json.Unmarshal([]byte(target.JSON), &args))
		default:
			t.Fatalf("unknown kind %q", target.Kind)
		}
	}
	data, err := json.Marshal(args)
	require.NoError(t, err)
	call.Args = data
	return call
}

func runSymlink(t *testing.T, row testcase.Row) {
	var given struct {
		Links   map[string]string `json:"links"`
		Policy  json.RawMessage   `json:"policy"`
		LinkOut string            `json:"linkOut"`
	}
	var input struct{ Tool, Path, Pattern string }
	var expect struct {
		Allowed        *bool    `json:"allowed"`
		By             string   `json:"by"`
		ReasonContains string   `json:"reasonContains"`
		Hidden         []string `json:"hidden"`
		Shown          []string `json:"shown"`
	}
	testcase.Strict(t, row.Given, &given)
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	p := newProject(t)
	p.write(t, p.managed, string(given.Policy))
	p.write(t, ".env", "Marker")
	p.write(t, "secret/plan.txt", "Marker")
	p.write(t, "public.txt", "Marker")
	p.write(t, p.home+"/outside.txt", "Marker")
	for link, to := range given.Links {
		require.NoError(t, os.Symlink(to, filepath.Join(p.root, link)))
	}
	if given.LinkOut != "" {
		require.NoError(t, os.Symlink(p.home+"/outside.txt", filepath.Join(p.root, "out-link.txt")))
	}
	e := p.open(t, lictor.Options{})
	if input.Tool == "grep" {
		all := []string{".env", "secret/plan.txt", "public.txt", "env-link.txt", "plan-link.txt", "out-link.txt"}
		assert.Equal(t, expect.Shown, e.Visible(all))
		return
	}
	v, err := e.Check(context.Background(), callOf(t, input.Tool, &caseTarget{Kind: "path", Path: input.Path}, nil))
	require.NoError(t, err)
	assert.Equal(t, *expect.Allowed, v.Decision == lictor.Allow, "%+v", v)
	if expect.By != "" {
		assert.Equal(t, expect.By, v.By)
	}
	assert.Contains(t, v.Reason, expect.ReasonContains)
}

// policyVerdict checks one call under a team policy.
func policyVerdict(t *testing.T, policy json.RawMessage, target caseTarget, tool string) lictor.Verdict {
	t.Helper()
	p := newProject(t)
	p.write(t, p.managed, string(policy))
	e := p.open(t, lictor.Options{Isolation: lictor.IsolationOS})
	v, err := e.Check(context.Background(), callOf(t, tool, &target, nil))
	require.NoError(t, err)
	return v
}

func runPolicyCommand(t *testing.T, row testcase.Row) {
	var input struct{ Command string }
	var expect struct{ Disallowed bool }
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	v := policyVerdict(t, row.Given, caseTarget{Kind: "command", Command: input.Command}, "bash")
	assert.Equal(t, expect.Disallowed, v.By == "policy", "%+v", v)
	if expect.Disallowed {
		assert.Contains(t, v.Reason, "disallowed by team policy")
		assert.NotNil(t, v.Rule)
	}
}

func runPolicyPath(t *testing.T, row testcase.Row) {
	var input struct{ Path string }
	var expect struct{ Denied bool }
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	v := policyVerdict(t, row.Given, caseTarget{Kind: "path", Path: input.Path}, "read_file")
	assert.Equal(t, expect.Denied, v.By == "policy", "%+v", v)
}

func runPolicySandbox(t *testing.T, row testcase.Row) {
	var input struct{ OutsideSandbox bool }
	var expect struct{ Disallowed bool }
	testcase.Strict(t, row.Input, &input)
	testcase.Strict(t, row.Expect, &expect)
	v := policyVerdict(t, row.Given, caseTarget{Kind: "command", Command: "ls", OutsideSandbox: input.OutsideSandbox}, "bash")
	assert.Equal(t, expect.Disallowed, v.By == "policy", "%+v", v)
}

func TestVisibleHidesDeniedPaths(t *testing.T) {
	p := newProject(t)
	p.write(t, p.managed, `{"denyPaths":["secret/**"]}`)
	p.write(t, "secret/private.ts", "x")
	p.write(t, "public.ts", "x")
	p.write(t, ".lictor/settings.json", `{"permissions":{"deny":["read_file(closed/**)"]}}`)
	p.write(t, "closed/a.ts", "x")
	e := p.open(t, lictor.Options{})
	all := []string{"public.ts", "secret/private.ts", "closed/a.ts", "../home/x", ".env.local", "a\x00b"}
	assert.Equal(t, []string{"public.ts"}, e.Visible(all))
}

func TestAlwaysWritesTheDerivedRuleAndKeepsTheConsent(t *testing.T) {
	p := newProject(t)
	script := approve.NewScript(lictor.AnswerAlways, lictor.AnswerNever)
	e := p.open(t, lictor.Options{Approver: script})
	ctx := context.Background()
	command := func(text string) lictor.Call {
		return callOf(t, "bash", &caseTarget{Kind: "command", Command: text}, nil)
	}
	d, err := e.Decide(ctx, command("go vet ./..."))
	require.NoError(t, err)
	require.True(t, d.Allowed)
	assert.Contains(t, d.Reason, "Bash(go *)")

	d, err = e.Decide(ctx, command("go test ./..."))
	require.NoError(t, err)
	assert.True(t, d.Allowed)
	assert.Equal(t, "rule", d.By, "the written rule applies at once")
	assert.Len(t, script.Asked(), 1)

	d, err = e.Decide(ctx, command("git push"))
	require.NoError(t, err)
	assert.False(t, d.Allowed)
	d, err = e.Decide(ctx, command("git push origin main"))
	require.NoError(t, err)
	assert.Equal(t, "rule", d.By, "%+v", d)
	assert.Len(t, script.Asked(), 2)

	// Another engine reads the same rules, with nothing to accept.
	again := p.open(t, lictor.Options{})
	assert.Empty(t, again.Notices())
	v, err := again.Check(ctx, command("go build ./..."))
	require.NoError(t, err)
	assert.Equal(t, lictor.Allow, v.Decision)
}

func TestAWrongAnswerIsANo(t *testing.T) {
	p := newProject(t)
	e := p.open(t, lictor.Options{Approver: approve.NewScript("maybe")})
	d, err := e.Decide(context.Background(), callOf(t, "bash", &caseTarget{Kind: "command", Command: "ls"}, nil))
	require.Error(t, err, "there is no such answer")
	assert.False(t, d.Allowed)
	d, err = e.Decide(context.Background(), callOf(t, "bash", &caseTarget{Kind: "command", Command: "ls"}, nil))
	require.Error(t, err, "the script has no second answer")
	assert.False(t, d.Allowed)
	assert.Equal(t, "user", d.By)
}
