package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/testcase"
)

// testCase is one row of cases.jsonl.
type testCase struct {
	ID, Area             string
	Given, Input, Expect map[string]any
}

// areas are all that there are: an unknown one fails the load.
var areas = map[string]func(*testing.T, testCase){
	"strict-executor": caseChoose, "executor-select": caseChoose, "strict-runtime": caseStrict, "strict-tool": caseStrict,
	"deny-expand": caseDeny, "exec-policy": casePolicy, "sandbox-paths": casePolicy,
	"sandbox-real": caseReal, "executor-contract": caseContract,
}

func TestCases(t *testing.T) {
	for _, c := range testcase.Lines[testCase](t, "testdata/cases.jsonl") {
		require.Contains(t, areas, c.Area, c.ID)
		t.Run(c.ID, func(t *testing.T) { areas[c.Area](t, c) })
	}
}

// only fails for a key that the runner of an area does not know.
func only(t *testing.T, m map[string]any, keys ...string) {
	t.Helper()
	for k := range m {
		require.Contains(t, keys, k, "unknown key")
	}
}

func text(m map[string]any, key string) string { s, _ := m[key].(string); return s }

func caseChoose(t *testing.T, c testCase) {
	only(t, c.Given, "strict", "executor", "sandbox", "twoRuntimes")
	only(t, c.Input)
	only(t, c.Expect, "isolation", "noticeContains", "error", "uses", "sharedExecutor", "note")
	if c.Given["twoRuntimes"] == true {
		TestCloseEndsOnlyItsOwn(t)
		return
	}
	sel := Selection{Setting: text(c.Given, "executor"), GOOS: "linux"}
	sel.Strict, _ = c.Given["strict"].(bool)
	sel.Probe = func(Executor) error {
		if c.Given["sandbox"] == "available" {
			return nil
		}
		return fmt.Errorf("not here")
	}
	got, err := Choose(sel)
	if want := text(c.Expect, "error"); want != "" {
		require.ErrorContains(t, err, want)
		return
	}
	require.NoError(t, err)
	if want := text(c.Expect, "isolation"); want != "" {
		assert.Equal(t, want, got.Isolation)
	}
	if c.Expect["uses"] == "the sandbox executor" {
		assert.Equal(t, "os", got.Isolation)
	}
	assert.Contains(t, got.Notice, text(c.Expect, "noticeContains"))
}

func caseStrict(t *testing.T, c testCase) {
	only(t, c.Given, "strict", "settings", "policy")
	only(t, c.Input, "command", "outside_sandbox")
	only(t, c.Expect, "error", "valid")
	if c.Area == "strict-tool" {
		// That the call is refused is the engine's; here the last line: a strict policy
		// never runs on the host, whoever asks.
		p := project(t, func(in *Input) { in.Strict = true })
		p.Sandbox = false
		_, err := openExecutor(t, Native).Run(context.Background(), p, sh(text(c.Input, "command")))
		var se *StrictProfileError
		require.ErrorAs(t, err, &se)
		return
	}
	settings, _ := c.Given["settings"].(map[string]any)
	_, err := Choose(Selection{Setting: text(settings, "executor"), Strict: true})
	var se *StrictProfileError
	require.ErrorAs(t, err, &se)
	assert.NotContains(t, strings.ToLower(err.Error()), `use the host`)
}

// settingsGlob matches as the settings' path dialect does.
func settingsGlob(patterns ...string) func(string, bool) bool {
	return func(rel string, _ bool) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			if !strings.Contains(p, "/") {
				p = "**/" + p
			}
			ok, _ := doublestar.Match(p, rel)
			return ok && (!strings.HasSuffix(p, "/**") || rel != strings.TrimSuffix(p, "/**"))
		})
	}
}

func caseDeny(t *testing.T, c testCase) {
	only(t, c.Given, "files", "policy", "sandbox", "matches")
	only(t, c.Input, "patterns", "execPolicy", "command")
	only(t, c.Expect, "paths", "denyRead", "denyWrite", "denyRead lacks", "exitCode", "stdoutLacks", "error")
	patterns := []string{"secret/**"}
	if c.Given["policy"] == nil && c.Given["files"] == nil && c.Given["matches"] == nil {
		patterns = nil
	}
	p := project(t, func(in *Input) {
		if patterns != nil {
			in.Deny = settingsGlob(patterns...)
		}
	})
	files := []string{"secret/plan.txt", "node_modules/secret/"}
	if n, ok := c.Given["matches"].(float64); ok {
		for i := range int(n) {
			files = append(files, fmt.Sprintf("secret/%d.txt", i))
		}
		files = files[2:]
	}
	for _, f := range files {
		path := filepath.Join(p.Root, f)
		if strings.HasSuffix(f, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("file text"), 0o644))
	}
	plan := strings.NewReplacer("<root>", p.Root)
	if c.Expect["error"] != nil {
		_, err := openExecutor(t, Native).Run(context.Background(), p, sh("true"))
		var oe *PathsOverflowError
		require.ErrorAs(t, err, &oe)
		assert.Contains(t, err.Error(), text(c.Expect, "error"))
		return
	}
	if c.Input["command"] != nil {
		res := mustRun(t, openExecutor(t, Native), p, sh(text(c.Input, "command")))
		assert.NotZero(t, res.ExitCode)
		assert.NotContains(t, res.Stdout.Text, text(c.Expect, "stdoutLacks"))
		return
	}
	pl, _, err := makePlan(context.Background(), p, Native)
	require.NoError(t, err)
	var masked []string
	for _, m := range pl.Mounts {
		if m.Kind == Mask && within(m.Path, p.Root) {
			masked = append(masked, m.Path)
		}
	}
	if c.Input["patterns"] != nil {
		got, err := ExpandDeny(context.Background(), p.Root, p.Deny)
		require.NoError(t, err)
		var want []string
		for _, w := range c.Expect["paths"].([]any) {
			want = append(want, plan.Replace(w.(string)))
		}
		assert.Equal(t, want, got)
	}
	for _, k := range []string{"denyRead", "denyWrite"} {
		if w := text(c.Expect, k); w != "" {
			assert.Contains(t, masked, plan.Replace(w))
		}
	}
	if w := text(c.Expect, "denyRead lacks"); w != "" {
		assert.NotContains(t, masked, plan.Replace(w))
	}
}

func casePolicy(t *testing.T, c testCase) {
	only(t, c.Given, "settings", "mode", "sandbox", "root", "home")
	only(t, c.Input, "timeoutMs", "command")
	only(t, c.Expect, "root", "sandbox", "network", "writePaths[0]", "denyWriteContains", "envContains", "envLacks", "maxOutputBytes",
		"exitCode", "writeContains", "denyReadContains")
	if c.Given["mode"] == "plan" {
		TestPlanModeRootIsReadOnly(t)
		return
	}
	in := Input{
		Root: "/repo", Home: "/home/u", Sandbox: true, Exists: func(string) bool { return false }, GOOS: "linux",
		Environ: []string{"PATH=/bin", "NODE_ENV=x", "ANTHROPIC_API_KEY=secret"},
	}
	settings, _ := c.Given["settings"].(map[string]any)
	only(t, settings, "env", "writePaths", "denyRead")
	list := func(v any) (out []string) {
		l, _ := v.([]any)
		for _, x := range l {
			out = append(out, x.(string))
		}
		return out
	}
	if env, ok := settings["env"].(map[string]any); ok {
		in.EnvAllow = list(env["allow"])
	}
	in.WritePaths, in.DenyRead = list(settings["writePaths"]), list(settings["denyRead"])
	p, err := NewPolicy(in)
	require.NoError(t, err)
	b, err := json.Marshal(p)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(b, &doc))
	for _, k := range []string{"root", "sandbox", "network", "maxOutputBytes"} {
		if want, ok := c.Expect[k]; ok {
			assert.Equal(t, want, doc[k], k)
		}
	}
	if want, ok := c.Expect["writePaths[0]"]; ok {
		assert.Equal(t, want, p.Write[0])
	}
	for _, w := range list(c.Expect["writeContains"]) {
		assert.Contains(t, p.Write, w)
	}
	if w := text(c.Expect, "denyWriteContains"); w != "" {
		assert.Contains(t, p.Protected, w)
	}
	if w := text(c.Expect, "denyReadContains"); w != "" {
		assert.Contains(t, p.Unreadable, w)
	}
	env := lookup(p.Env)
	for _, w := range list(c.Expect["envContains"]) {
		assert.Contains(t, env, w)
	}
	for _, w := range list(c.Expect["envLacks"]) {
		assert.NotContains(t, env, w)
	}
}

// realCases are the rows of sandbox-real: their words are for a reader, so each
// has its script here.
var realCases = map[string]struct {
	script, want string
	fails        bool
}{
	"write inside root then outside":             {"echo a > in && echo fine; echo b > ../out && echo bad", "fine\n", true},
	"write .git/hooks/pre-commit":                {"mkdir -p .git/hooks; echo x > .git/hooks/pre-commit && echo bad", "", true},
	"cat a denied file":                          {"cat secret/plan.txt", "", true},
	"cat a sibling of a denied file":             {"cat secret/other.txt", "sibling", false},
	"cat ~/.lictor/skills/SKILL.md":              {"cat ~/.lictor/skills/SKILL.md", "skill", false},
	"look for the host process in /proc (bwrap)": {"ls -d /proc/$VPID 2>/dev/null | wc -l; grep -l lictor-host-process /proc/[0-9]*/environ 2>/dev/null | wc -l", "0\n0\n", false},
}

func caseReal(t *testing.T, c testCase) {
	only(t, c.Given, "sandbox")
	only(t, c.Input, "command")
	only(t, c.Expect, "result")
	r, ok := realCases[text(c.Input, "command")]
	require.True(t, ok, "no script for %q", text(c.Input, "command"))
	for _, e := range []Executor{Native, Bubblewrap} {
		s := openExecutor(t, e)
		p := project(t, func(in *Input) { in.Deny = settingsGlob("secret/plan.txt") })
		for f, content := range map[string]string{
			"w/secret/plan.txt": "plan text", "w/secret/other.txt": "sibling", "home/.lictor/skills/SKILL.md": "skill",
			"w/.git/HEAD": "ref: refs/heads/main\n", "w/.git/config": "", "w/.git/objects/x": "", "w/.git/refs/x": "",
		} {
			path := filepath.Join(filepath.Dir(p.Root), f)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
		p.Env = append(p.Env, fmt.Sprintf("VPID=%d", os.Getpid()))
		res := mustRun(t, s, p, sh(r.script))
		assert.Equal(t, r.want, res.Stdout.Text, res.Stderr.Text)
		assert.Equal(t, r.fails, res.ExitCode != 0)
	}
}

func caseContract(t *testing.T, c testCase) {
	only(t, c.Given)
	only(t, c.Input, "command")
	only(t, c.Expect, "exitCode", "stdout", "stderr", "truncated", "keeps", "returns", "child")
	switch text(c.Input, "command") {
	case "echo out; echo err >&2; exit 3":
		TestContract(t)
	case "5000 lines with a cap of 1000 bytes":
		TestOutputCap(t)
	case "sleep & echo started":
		TestBackgroundChildEnds(t)
	default:
		t.Fatalf("no runner for %q", c.Input["command"])
	}
}
