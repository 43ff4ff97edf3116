package install

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/hook"
)

// place is a home and a project of their own.
func options(t *testing.T) Options {
	t.Helper()
	return Options{
		Home: t.TempDir(), Root: t.TempDir(), Getenv: func(string) string { return "" },
		Command: []string{"/usr/local/bin/lictor", "hook"},
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o640))
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

// TestInstallGoldens holds what is written into an empty place, byte for byte.
func TestInstallGoldens(t *testing.T) {
	for _, c := range []struct{ agent, file, want string }{
		{"claude-code", ".claude/settings.json", `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/lictor hook claude-code || exit 2",
            "timeout": 10,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
`},
		{"codex", ".codex/config.toml", tomlBegin + `
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "command"
command = "/usr/local/bin/lictor hook codex || { echo 'lictor could not be run' >&2; exit 2; }"
timeout = 10
# <<< lictor
`},
		{"cursor", ".cursor/hooks.json", `{
  "version": 1,
  "hooks": {
    "beforeShellExecution": [
      {
        "command": "/usr/local/bin/lictor hook cursor",
        "timeout": 10,
        "failClosed": true
      }
    ],
    "beforeMCPExecution": [
      {
        "command": "/usr/local/bin/lictor hook cursor",
        "timeout": 10,
        "failClosed": true
      }
    ],
    "beforeReadFile": [
      {
        "command": "/usr/local/bin/lictor hook cursor",
        "timeout": 10,
        "failClosed": true
      }
    ],
    "preToolUse": [
      {
        "command": "/usr/local/bin/lictor hook cursor",
        "timeout": 10,
        "matcher": "^(?!Shell$|MCP:)",
        "failClosed": true
      }
    ]
  }
}
`},
		{"gemini", ".gemini/settings.json", `{
  "hooks": {
    "BeforeTool": [
      {
        "matcher": ".*",
        "hooks": [
          {
            "type": "command",
            "name": "lictor",
            "command": "/usr/local/bin/lictor hook gemini || { echo '{\"decision\":\"deny\",\"reason\":\"lictor could not be run\"}'; exit 2; }",
            "timeout": 10000
          }
        ]
      }
    ]
  }
}
`},
		{"copilot", ".copilot/hooks/lictor.json", `{
  "version": 1,
  "hooks": {
    "preToolUse": [
      {
        "type": "command",
        "bash": "/usr/local/bin/lictor hook copilot || echo '{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"lictor could not be run\"}'",
        "timeoutSec": 10
      }
    ]
  }
}
`},
		{"vscode", ".copilot/hooks/lictor-vscode.json", `{
  "hooks": {
    "PreToolUse": [
      {
        "type": "command",
        "command": "/usr/local/bin/lictor hook vscode || exit 2",
        "timeout": 10
      }
    ]
  }
}
`},
		{"droid", ".factory/settings.json", `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/lictor hook droid || exit 2",
            "timeout": 10
          }
        ]
      }
    ]
  }
}
`},
	} {
		t.Run(c.agent, func(t *testing.T) {
			o := options(t)
			file := filepath.Join(o.Home, filepath.FromSlash(c.file))
			plan, err := Plan(c.agent, User, o)
			require.NoError(t, err)
			assert.NoFileExists(t, file, "a plan writes nothing")
			assert.Equal(t, c.want, string(plan.After))
			assert.Equal(t, file, plan.File)
			assert.True(t, strings.HasPrefix(plan.Diff(), "--- /dev/null\n+++ "+file+"\n@@ -0,0 +1,"), plan.Diff())

			change, err := Install(c.agent, User, o)
			require.NoError(t, err)
			assert.True(t, change.Created)
			assert.Equal(t, c.want, read(t, file))
			if runtime.GOOS != "windows" {
				info, err := os.Stat(file)
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
			}
			again, err := Install(c.agent, User, o)
			require.NoError(t, err)
			assert.False(t, again.Changed())
			assert.Empty(t, again.Diff())

			gone, err := Uninstall(c.agent, User, o)
			require.NoError(t, err)
			assert.True(t, gone.Removed)
			assert.NoFileExists(t, file)
			gone, err = Uninstall(c.agent, User, o)
			require.NoError(t, err)
			assert.False(t, gone.Changed())
		})
	}
}

// TestEverythingElseStays: installing and uninstalling gives back every byte, and
// in between the file holds what it held.
func TestEverythingElseStays(t *testing.T) {
	files := map[string][]string{
		"claude-code": {
			"{\"model\":\"opus\"}", "{\n\t\"model\": \"opus\",\n\t\"x\": [1, 2,   3]\n}\n", "{\r\n    \"a\": 1\r\n}\r\n",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}\n    ]\n  },\n  \"z\": \"é\\u00e9\"\n}\n",
			"{\n  \"hooks\": { \"Stop\": [] },\n  \"b\": null\n}", `{"a": {"hooks": 1}, "b": "}"}`,
		},
		"gemini":  {"{\n  // mine\n  \"theme\": \"x\", /* }{ */\n  \"list\": [1, 2,],\n}\n"},
		"cursor":  {"{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{\"command\": \"a\"}]\n  }\n}\n"},
		"copilot": {"{\"version\":1,\"hooks\":{\"preToolUse\":[{\"type\":\"command\",\"bash\":\"x\"}]}}\n"},
		"droid":   {"{\n  \"model\": \"x\"\n}\n"},
		"codex": {
			"model = \"gpt\"\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n", "a = 1", "# only a comment\r\na = 1\r\n", "a = 1\r\nb = 2", "a = 1\n\n", "\na = 1",
			"[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n",
		},
	}
	for agent, texts := range files {
		for _, text := range texts {
			o := options(t)
			plan, err := Plan(agent, Project, o)
			require.NoError(t, err)
			write(t, plan.File, text)
			change, err := Install(agent, Project, o)
			require.NoError(t, err, text)
			assert.True(t, change.Changed())
			after := read(t, plan.File)
			// One piece of text was put in, and nothing else was touched.
			assert.GreaterOrEqual(t, shared0(text, after)+shared1(text, after), len(text), "%s: %s", agent, after)
			if strings.Contains(text, "\r\n") {
				assert.Equal(t, strings.Count(after, "\n"), strings.Count(after, "\r\n"), "line ends stay")
			}
			if runtime.GOOS != "windows" {
				info, err := os.Stat(plan.File)
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm(), "the mode stays")
			}
			s, err := Status(agent, Project, o)
			require.NoError(t, err)
			assert.True(t, s.Installed, agent)
			again, err := Install(agent, Project, o)
			require.NoError(t, err)
			assert.False(t, again.Changed(), again.Diff())
			_, err = Uninstall(agent, Project, o)
			require.NoError(t, err)
			assert.Equal(t, text, read(t, plan.File), agent)
			left, err := os.ReadDir(filepath.Dir(plan.File))
			require.NoError(t, err)
			assert.Len(t, left, 1, "no temporary file stays")
		}
	}
}

// shared0 is the length of the common beginning, shared1 that of the common end.
func shared0(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func shared1(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// TestUpdatesReplace: another path, another option, an entry that stands twice, one
// without the fail-closed option.
func TestUpdatesReplace(t *testing.T) {
	o := options(t)
	file := filepath.Join(o.Home, ".claude", "settings.json")
	write(t, file, `{"hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}, {"type": "command", "command": "/old/lictor hook claude-code"}]},
  {"matcher": "*", "hooks": [{"type": "command", "command": "'/my bin/lictor' hook claude-code"}]},
  {"matcher": "*", "hooks": [{"type": "command", "command": "/x/lictor-hook claude-code"}]},
  {"matcher": "*", "hooks": [{"type": "command", "command": "echo lictor hook claude-code"}]}
], "PostToolUse": [{"hooks": [{"command": "/x/lictor hook claude-code"}]}]}}
`)
	s, err := Status("claude-code", User, o)
	require.NoError(t, err)
	assert.True(t, s.Installed)
	assert.False(t, s.FailClosed)
	assert.False(t, s.OK())
	_, err = Install("claude-code", User, o)
	require.NoError(t, err)
	text := read(t, file)
	assert.Equal(t, 1, strings.Count(text, "/usr/local/bin/lictor"))
	assert.Contains(t, text, "mine.sh")
	assert.Contains(t, text, "echo lictor hook claude-code", "what only mentions lictor is not lictor's")
	assert.NotContains(t, text, "/old/")
	assert.NotContains(t, text, "PostToolUse")
	assert.True(t, json.Valid([]byte(text)))
	s, err = Status("claude-code", User, o)
	require.NoError(t, err)
	assert.True(t, s.FailClosed)

	o.Command, o.Ask = []string{"/opt/my tools/lictor-hook"}, true
	change, err := Install("claude-code", User, o)
	require.NoError(t, err)
	assert.Contains(t, change.Diff(), `"command": "'/opt/my tools/lictor-hook' claude-code --ask || exit 2"`)
	assert.Contains(t, change.Diff(), "\n-")
}

func TestKinds(t *testing.T) {
	o := options(t)
	o.Kinds = []hook.Kind{hook.PreToolUse, hook.PostToolUse, hook.SessionStart}
	change, err := Install("claude-code", User, o)
	require.NoError(t, err)
	// A missing lictor must not stop what only tells.
	assert.Equal(t, 1, strings.Count(string(change.After), "onFailure"))
	assert.Equal(t, 1, strings.Count(string(change.After), "exit 2"))
	s, err := Status("claude-code", User, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"PreToolUse", "PostToolUse", "SessionStart"}, s.Events)
	assert.True(t, s.FailClosed)
	o.Kinds = []hook.Kind{hook.PermissionRequest}
	_, err = Install("gemini", User, o)
	assert.ErrorContains(t, err, "PermissionRequest")
}

// TestLinksAreRefused: neither the file nor a folder on the way may lead elsewhere.
func TestLinksAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("links need rights on Windows; the check is the same code")
		return
	}
	o := options(t)
	secret := filepath.Join(t.TempDir(), "secret.json")
	write(t, secret, "{}")
	write(t, filepath.Join(o.Root, ".claude", "x"), "")
	require.NoError(t, os.Symlink(secret, filepath.Join(o.Root, ".claude", "settings.json")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(o.Root, ".gemini")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(o.Root, ".cursor")))
	require.NoError(t, os.MkdirAll(filepath.Join(o.Root, ".factory", "settings.json"), 0o755))
	write(t, filepath.Join(o.Root, ".codex"), "a file")
	for agent, want := range map[string]string{
		"claude-code": "is a link", "gemini": "is a link", "cursor": "is a link", "droid": "no regular file", "codex": "no folder",
	} {
		_, err := Install(agent, Project, o)
		assert.ErrorContains(t, err, want, agent)
		_, err = Uninstall(agent, Project, o)
		assert.ErrorContains(t, err, want, agent)
		_, err = Status(agent, Project, o)
		assert.ErrorContains(t, err, want, agent)
	}
	assert.Equal(t, "{}", read(t, secret))
	list, err := os.ReadDir(filepath.Dir(secret))
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// TestBrokenFilesAreLeftAlone: an error names the line, and nothing is written.
func TestBrokenFilesAreLeftAlone(t *testing.T) {
	for _, c := range []struct{ agent, text, want string }{
		{"claude-code", "{\n  \"a\": \n", "line 3"},
		{"claude-code", `{"a":1,"a":2}`, "twice"},
		{"claude-code", `[]`, "no JSON object"},
		{"claude-code", `{"hooks": []}`, `"hooks"`},
		{"claude-code", `{"hooks": {"PreToolUse": {}}}`, `"hooks.PreToolUse"`},
		{"claude-code", `{"hooks": "x"} trailing`, "behind"},
		{"claude-code", strings.Repeat(`{"a":`, 300), "nested"},
		{"codex", "a = = 1", "TOML"},
		{"codex", `hooks = {}`, "[[hooks.PreToolUse]]"},
		{"codex", "[hooks]\nPreToolUse = []\n", "[[hooks.PreToolUse]]"},
		{"codex", tomlBegin + "\n[[hooks.PreToolUse]]\n", "by hand"},
		{"codex", "# <<< lictor\n", "stands alone"},
		{"opencode", "export const mine = 1\n", "not written by lictor"},
	} {
		o := options(t)
		plan, err := Plan(c.agent, User, o)
		require.NoError(t, err)
		write(t, plan.File, c.text)
		_, err = Install(c.agent, User, o)
		require.ErrorContains(t, err, c.want, c.text)
		assert.ErrorContains(t, err, plan.File)
		assert.Equal(t, c.text, read(t, plan.File))
	}
	o := options(t)
	_, err := Install("nobody", User, o)
	assert.ErrorContains(t, err, "claude-code")
	_, err = Install("codex", "machine", o)
	assert.ErrorContains(t, err, "scope")
	o.Command = []string{"lictor", "hook"}
	_, err = Install("codex", User, o)
	assert.ErrorContains(t, err, "absolute")
	o.Root = "here"
	_, err = Install("codex", Project, o)
	assert.ErrorContains(t, err, "absolute")
}

// TestErrorsNameTheFile: of a path, the system's error says the part below the home.
func TestErrorsNameTheFile(t *testing.T) {
	p := place{base: t.TempDir(), name: filepath.Join(".claude", "settings.json")}
	err := p.whole(&fs.PathError{Op: "openat", Path: p.name, Err: fs.ErrPermission})
	assert.EqualError(t, err, p.path()+": permission denied")
	assert.ErrorIs(t, err, fs.ErrPermission)
	assert.Equal(t, io.EOF, p.whole(io.EOF))
	assert.NoError(t, p.whole(nil))
}

// TestCodexForms: the form that is there is continued, and lines of others in or
// behind lictor's block are never lost or moved to another table.
func TestCodexForms(t *testing.T) {
	o := options(t)
	list := filepath.Join(o.Home, ".codex", "hooks.json")
	write(t, list, `{"hooks": {}}`)
	change, err := Install("codex", User, o)
	require.NoError(t, err)
	assert.Equal(t, list, change.File)

	o = options(t)
	o.Getenv = func(name string) string { return map[string]string{"CODEX_HOME": filepath.Join(o.Home, "c")}[name] }
	change, err = Install("codex", User, o)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(o.Home, "c", "config.toml"), change.File)
	write(t, change.File, read(t, change.File)+"[tui]\nx = 1\n")
	o.Command = []string{"/opt/lictor", "hook"}
	change, err = Install("codex", User, o)
	require.NoError(t, err)
	assert.Contains(t, string(change.After), "# <<< lictor\n[tui]\nx = 1\n")
	_, err = Uninstall("codex", User, o)
	require.NoError(t, err)
	assert.Equal(t, "[tui]\nx = 1\n", read(t, change.File))

	_, err = Install("codex", User, o)
	require.NoError(t, err)
	text := strings.Replace(read(t, change.File), tomlEnd, "[mine]\ny = 1\n"+tomlEnd, 1)
	write(t, change.File, text)
	_, err = Uninstall("codex", User, o)
	assert.ErrorContains(t, err, "[mine]")

	byHand := "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"/x/lictor hook codex\"\n[features]\nhooks = false\n"
	write(t, change.File, byHand)
	change, err = Install("codex", User, o)
	require.NoError(t, err)
	assert.False(t, change.Changed())
	assert.Contains(t, change.Notes[0], "by hand")
	s, err := Status("codex", User, o)
	require.NoError(t, err)
	assert.True(t, s.Installed)
	assert.Contains(t, strings.Join(s.Problems, "\n"), "hooks is false")
}

// TestDroidForms: a hooks.json switches off the hooks of settings.json, so none is
// created; one that is there is edited in its own form.
func TestDroidForms(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                     `"PreToolUse"`,
		`{"Stop": []}`:           `"Stop": [], "PreToolUse"`,
		`{"hooks": {"Stop":[]}}`: `"hooks": {"Stop":[], "PreToolUse"`,
	} {
		o := options(t)
		file := filepath.Join(o.Home, ".factory", "hooks.json")
		write(t, file, text)
		change, err := Install("droid", User, o)
		require.NoError(t, err)
		assert.Equal(t, file, change.File)
		assert.Contains(t, string(change.After), want)
	}
}

func TestStatus(t *testing.T) {
	o := options(t)
	s, err := Status("claude-code", User, o)
	require.NoError(t, err)
	assert.False(t, s.Installed)
	assert.False(t, s.OK())
	program := filepath.Join(t.TempDir(), "lictor")
	write(t, program, "#!/bin/sh\n")
	o.Command = []string{program, "hook"}
	_, err = Install("claude-code", Project, o)
	require.NoError(t, err)
	s, err = Status("claude-code", Project, o)
	require.NoError(t, err)
	assert.Equal(t, program, s.Program)
	if runtime.GOOS != "windows" {
		assert.False(t, s.Resolves, "a file without the right to be run")
		require.NoError(t, os.Chmod(program, 0o755))
		s, err = Status("claude-code", Project, o)
		require.NoError(t, err)
	}
	assert.True(t, s.OK(), "%+v", s)
	write(t, s.File, strings.Replace(read(t, s.File), "{", "{\"disableAllHooks\": true,", 1))
	s, err = Status("claude-code", Project, o)
	require.NoError(t, err)
	assert.False(t, s.OK())

	inside := filepath.Join(o.Root, "bin", "lictor")
	write(t, inside, "")
	require.NoError(t, os.Chmod(inside, 0o755))
	o.Command = []string{inside, "hook"}
	_, err = Install("gemini", Project, o)
	require.NoError(t, err)
	s, err = Status("gemini", Project, o)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(s.Problems, "\n"), "where the agent can write")
	assert.False(t, s.HasFailClosed)
	require.NoError(t, os.Remove(inside))
	s, err = Status("gemini", Project, o)
	require.NoError(t, err)
	assert.False(t, s.Resolves)
}

// TestHoles: what lets calls pass beside an installed hook is said.
func TestHoles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("commands for Windows have no fallback")
		return
	}
	for _, c := range []struct{ agent, old, new, problem, note string }{
		{agent: "claude-code", old: `"onFailure"`, new: `"x"`, problem: `"onFailure" is not set`},
		{agent: "claude-code", old: `hook claude-code`, new: `hook claude-code --observe`, problem: "nothing is stopped"},
		{agent: "claude-code", old: `hook claude-code`, new: `hook claude-code --mode plan`},
		{agent: "claude-code", old: `"matcher": "*"`, new: `"matcher": "Bash"`, note: "as `lictor install claude-code` writes it: matcher"},
		{agent: "cursor", old: `"beforeReadFile"`, new: `"stop"`, problem: "beforeReadFile does not go to lictor"},
		{agent: "cursor", old: `"failClosed": true`, new: `"failClosed": false`, problem: `"failClosed" is not set`},
		{agent: "droid", old: ` || exit 2`, new: ``, problem: "no fallback"},
		{agent: "droid", old: `"timeout": 10`, new: `"timeout": 1`, note: "timeout"},
		{agent: "codex", old: ` || { echo 'lictor could not be run' >&2; exit 2; }`, new: ``, problem: "no fallback"},
		{agent: "codex", old: "[[hooks.PreToolUse]]\n", new: "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n", note: "matcher"},
		{agent: "copilot", old: `"preToolUse": [`, new: `"postToolUse": [], "permissionRequest": [`, problem: "preToolUse does not go to lictor"},
		// VS Code looks at no matcher.
		{agent: "vscode", old: `"type"`, new: `"matcher": "Bash", "type"`},
	} {
		o := options(t)
		program := filepath.Join(t.TempDir(), "lictor")
		write(t, program, "")
		require.NoError(t, os.Chmod(program, 0o755))
		o.Command = []string{program, "hook"}
		change, err := Install(c.agent, User, o)
		require.NoError(t, err)
		before, err := Status(c.agent, User, o)
		require.NoError(t, err)
		assert.True(t, before.OK(), "%+v", before)
		text := strings.Replace(string(change.After), c.old, c.new, 1)
		require.NotEqual(t, string(change.After), text, c.old)
		write(t, change.File, text)
		s, err := Status(c.agent, User, o)
		require.NoError(t, err)
		assert.Equal(t, c.problem == "", s.OK(), "%+v", s)
		assert.Contains(t, strings.Join(s.Problems, "\n"), c.problem, c)
		if c.note == "" {
			assert.Equal(t, before.Notes, s.Notes)
		} else {
			assert.Contains(t, strings.Join(s.Notes, "\n"), c.note, c)
		}
	}
	for command, want := range map[string][]string{
		"/x/lictor hook a || exit 2":               {},
		"/x/lictor-hook a --ask":                   {"--ask"},
		"/x/lictor hook a --mode plan --ask || {x": {"--mode", "plan", "--ask"},
	} {
		assert.Equal(t, want, optionsOf(firstWords(command), "a"), command)
	}
}

// TestFallbacks runs the installed commands in a shell without lictor: each must
// end in what its agent takes as a denial.
func TestFallbacks(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Log("no shell: commands for Windows have no fallback")
		return
	}
	o := options(t)
	o.Command = []string{filepath.Join(o.Home, "gone", "lictor"), "hook"}
	for name, a := range agents {
		if name == "opencode" || name == "cursor" {
			continue // a plugin; failClosed
		}
		for _, event := range a.events[hook.PreToolUse] {
			text := render(a.entry(o, event), layout{}, "", false)
			root, err := parseJSON([]byte(text))
			require.NoError(t, err)
			var command string
			for _, h := range append([]*node{root}, root.member("hooks").list()...) {
				if c := commandOf([]byte(text), h); c != "" {
					command = c
				}
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(shell, "-c", command)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run()
			code := cmd.ProcessState.ExitCode()
			switch name {
			case "gemini":
				assert.JSONEq(t, `{"decision":"deny","reason":"lictor could not be run"}`, stdout.String())
				assert.Equal(t, 2, code)
			case "copilot":
				assert.JSONEq(t, `{"permissionDecision":"deny","permissionDecisionReason":"lictor could not be run"}`, stdout.String())
				assert.Zero(t, code)
			default:
				assert.Equal(t, 2, code, name)
				assert.NotEmpty(t, stderr.String(), name)
			}
		}
	}
}

func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.children
}

func TestWindowsCommands(t *testing.T) {
	o := options(t)
	o.Windows, o.Command = true, []string{`C:\Program Files\lictor\lictor.exe`, "hook"}
	change, err := Install("copilot", User, o)
	require.NoError(t, err)
	assert.Contains(t, string(change.After), `"powershell": "& \"C:\\Program Files\\lictor\\lictor.exe\" hook copilot"`)
	again, err := Install("copilot", User, o)
	require.NoError(t, err)
	assert.False(t, again.Changed())
	change, err = Install("claude-code", User, o)
	require.NoError(t, err)
	assert.NotContains(t, string(change.After), "||")
	assert.Contains(t, string(change.After), "onFailure")
}

// TestConcurrentEdits: whoever edits the file in between loses nothing.
func TestConcurrentEdits(t *testing.T) {
	o := options(t)
	file := filepath.Join(o.Home, ".claude", "settings.json")
	write(t, file, "{}\n")
	c, err := Plan("claude-code", User, o)
	require.NoError(t, err)
	write(t, file, `{"new": 1}`)
	assert.ErrorIs(t, c.place.write(c), errMoved)
	_, err = Install("claude-code", User, o)
	require.NoError(t, err)
	assert.Contains(t, read(t, file), `"new": 1`)
}

// TestCommentsStay: a comment beside lictor's entry is the user's.
func TestCommentsStay(t *testing.T) {
	ours := `{"hooks": [{"command": "/x/lictor hook gemini"}]}`
	for text, want := range map[string]string{
		"{\"hooks\": {\"BeforeTool\": [{}, // mine\n" + ours + "]}}":      "{\"hooks\": {\"BeforeTool\": [{} // mine\n]}}",
		"{\"hooks\": {\"BeforeTool\": [{}, // mine\n" + ours + ", {}]}}":  "{\"hooks\": {\"BeforeTool\": [{}, // mine\n {}]}}",
		"{\"hooks\": {\"BeforeTool\": [" + ours + ", // next\n{}]}}":      "{\"hooks\": {\"BeforeTool\": [ // next\n{}]}}",
		"{\"hooks\": {\"BeforeTool\": [ /* a */ " + ours + ", ]}}":        "{\"hooks\": {\"BeforeTool\": [ /* a */  ]}}",
		"{\"a\": 1, /* x */ \"hooks\": {\"BeforeTool\": [" + ours + "]}}": "{\"a\": 1 /* x */ }",
		"{\"hooks\": {\"BeforeTool\": [" + ours + "]}, /* y */ \"a\": 1}": "{ /* y */ \"a\": 1}",
	} {
		o := options(t)
		file := filepath.Join(o.Home, ".gemini", "settings.json")
		write(t, file, text)
		_, err := Uninstall("gemini", User, o)
		require.NoError(t, err, text)
		assert.Equal(t, want, read(t, file))
	}
}

func TestDiff(t *testing.T) {
	assert.Equal(t, "--- a\n+++ b\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -8,2 +8,3 @@\n 8\n 9\n+y\n",
		strings.Replace(unified("a", "b", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\n8\n9\ny\n"), "@@ -7,3 +7,4 @@\n 7\n", "@@ -8,2 +8,3 @@\n", 1))
	assert.Contains(t, unified("a", "b", "x", "x\n"), "\\ No newline at end of file\n+x\n")
}

// FuzzJSONEdit: a file that parses still parses after the edit, holds the same, and
// the edit is undone without a trace in what the file means.
func FuzzJSONEdit(f *testing.F) {
	for _, s := range []string{"{}", `{"hooks":{}}`, "{ // c\n}", "{\"a\":[1,],\n\t\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"/a/lictor hook claude-code\"},{}]}]}}", `{"hooks":{"PreToolUse":[/* x */]}}`} {
		f.Add(s)
	}
	edit := jsonEditor{path: []string{"hooks"}, grouped: true}
	a := agents["claude-code"]
	o := Options{Command: []string{"/b/lictor", "hook"}, Kinds: []hook.Kind{hook.PreToolUse}}
	f.Fuzz(func(t *testing.T, text string) {
		out, _, err := edit.install([]byte(text), true, a, o)
		if err != nil {
			return
		}
		root, err := parseJSON(out)
		if err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		if n := len(edit.find(out, root, a)); n != 1 {
			t.Fatalf("%d entries: %q", n, out)
		}
		again, _, err := edit.install(out, true, a, o)
		if err != nil || string(again) != string(out) {
			t.Fatalf("not idempotent: %v %q %q", err, out, again)
		}
		gone, err := edit.remove(out, true, a)
		if err != nil {
			t.Fatal(err)
		}
		if gone == nil {
			return
		}
		if root, err = parseJSON(gone); err != nil || len(edit.find(gone, root, a)) != 0 {
			t.Fatalf("%v: %q", err, gone)
		}
	})
}
