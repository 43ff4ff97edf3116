package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func leftOf(r Report) string {
	var b strings.Builder
	for _, l := range r.Left {
		b.WriteString(l.From + ": " + l.Why + "\n")
	}
	return b.String()
}

func TestImportClaudeCode(t *testing.T) {
	o := options(t)
	write(t, filepath.Join(o.Root, ".claude", "settings.json"), `{
  // the team's
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Bash(git diff *)", "Bash(ls)", "Read(docs/**)", "Edit(/src/**)", "WebFetch(domain:docs.rs)",
      "mcp__github__get_issue", "mcp__jira", "WebSearch", "Bash(a?b)", "Read(~/notes)", "Read(//etc/hosts)", "mcp__*", "Agent(Explore)", "Read({a,b})", "Bash(x\\* y)", "Read"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Read(.env)", "Read(./secrets/)", "Bash(curl:*)", "WebFetch(domain:evil.com)", "Bash", "Edit", "Bash(a?b)", "Bash("],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../lib"]
  }
}`)
	write(t, filepath.Join(o.Root, ".claude", "settings.local.json"), `{"permissions": {"allow": ["Bash(ls)", "Bash(make *)"]}}`)
	rules, report, err := Import("claude-code", Project, o)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"Bash(npm run test *)", "Bash(git diff *)", "Bash(ls)", "Read(docs/**)", "Edit(src/**)", "Write(src/**)",
		"Fetch(https://docs.rs)", "Fetch(https://docs.rs/*)", "MCP(github/get_issue)", "MCP(jira/*)", "web_search(*)",
		"Read(~/notes)", "Read(~/notes/**)", "Read(/etc/hosts)", "Read(/etc/hosts/**)", "Read(**)", "Bash(make *)",
	}, rules.Allow)
	assert.Equal(t, []string{"Bash(git push *)"}, rules.Ask)
	assert.Equal(t, []string{
		"Read(**/.env)", "Read(**/.env/**)", "Read(secrets/**)", "Bash(curl *)",
		"Fetch(*://evil.com)", "Fetch(*://evil.com/*)", "Fetch(*://evil.com:*)", "Bash(*)", "Edit(**)", "Edit(/**)", "Write(**)", "Write(/**)", "Bash(a?b)",
	}, rules.Deny)
	left := leftOf(report)
	for _, want := range []string{"allow Bash(a?b)", "allow mcp__*", "Agent(Explore)", "Read({a,b})", `Bash(x\* y)`, "deny Bash(: ", "defaultMode", "additionalDirectories"} {
		assert.Contains(t, left, want)
	}
	assert.Len(t, report.Files, 2)

	// In the user's settings a leading / is relative to these settings.
	write(t, filepath.Join(o.Home, ".claude", "settings.json"), `{"permissions": {"deny": ["Read(/x)"]}}`)
	rules, report, err = Import("claude-code", User, o)
	require.NoError(t, err)
	assert.Empty(t, rules.Deny)
	assert.Contains(t, leftOf(report), "Read(/x)")

	write(t, filepath.Join(o.Home, ".claude", "settings.json"), `{"permissions": {"deny": "Read"}}`)
	_, _, err = Import("claude-code", User, o)
	assert.ErrorContains(t, err, "permissions.deny")
}

func TestImportCodex(t *testing.T) {
	o := options(t)
	write(t, filepath.Join(o.Home, ".codex", "rules", "default.rules"), `
# comment "
prefix_rule(pattern=["git", ["status", "diff"]], decision="allow", match=[["git", "status"], "git diff x"])
prefix_rule(
    pattern = ['rm', '-rf'],   # never
    decision = "forbidden",
    justification = """say \"why\" """,
)
prefix_rule(pattern=["npm", "publish"], decision="prompt"); prefix_rule(pattern=["ls"])
prefix_rule(pattern=["find", "*"])
prefix_rule(pattern=["find", "*"], decision="forbidden")
prefix_rule(pattern=["bash", "-lc", "a b"], decision="forbidden")
prefix_rule(pattern=[], decision="forbidden")
prefix_rule(pattern=["x"], decision="maybe")
host_executable(name="git", paths=["/usr/bin/git"])
`)
	rules, report, err := Import("codex", User, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"Bash(git status *)", "Bash(git diff *)", "Bash(ls *)"}, rules.Allow)
	assert.Equal(t, []string{"Bash(npm publish *)"}, rules.Ask)
	assert.Equal(t, []string{"Bash(rm -rf *)", "Bash(find * *)"}, rules.Deny)
	left := leftOf(report)
	for _, want := range []string{`["find", "*"]): `, "a b", "pattern is empty", "maybe", "host_executable"} {
		assert.Contains(t, left, want)
	}
	// A decision that is not said is an allow in Codex: it is told.
	assert.Contains(t, report.Taken[3].Why, "no decision")
	require.NotEmpty(t, report.Notes)

	for _, bad := range []string{
		`x = 1`, `load("a")`, `prefix_rule(pattern=["a)`, `prefix_rule(pattern=["a"`, `prefix_rule(["a"])`,
		`prefix_rule(pattern=[f("a")])`, `prefix_rule(pattern="a", pattern="b")`, `prefix_rule(pattern="\x41")`, "def f():\n  pass", `prefix_rule(pattern=` + strings.Repeat("[", 50) + `)`,
	} {
		write(t, filepath.Join(o.Home, ".codex", "rules", "default.rules"), bad)
		_, _, err := Import("codex", User, o)
		assert.ErrorContains(t, err, "line 1", bad)
	}
}

func TestImportGemini(t *testing.T) {
	o := options(t)
	write(t, filepath.Join(o.Home, ".gemini", "policies", "mine.toml"), `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", "git diff"]
decision = "allow"
priority = 200
[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm -rf"
decision = "deny"
priority = 100
denyMessage = "no"
[[rule]]
toolName = ["write_file", "replace"]
decision = "ask_user"
priority = 10
[[rule]]
mcpName = "jira"
decision = "allow"
priority = 10
[[rule]]
toolName = "mcp_github_delete_repo"
decision = "deny"
priority = 10
[[rule]]
mcpName = "*"
toolName = "drop"
decision = "deny"
priority = 10
[[rule]]
toolName = "google_web_search"
decision = "allow"
priority = 1
[[rule]]
toolName = "*"
decision = "deny"
priority = 1
[[rule]]
toolName = "run_shell_command"
commandRegex = "git (commit|push)"
decision = "deny"
priority = 1
[[rule]]
toolName = "read_file"
decision = "allow"
modes = ["yolo"]
priority = 1
[[rule]]
toolName = "run_shell_command"
commandPrefix = "a*"
decision = "allow"
priority = 1
[[rule]]
mcpName = "*"
decision = "allow"
priority = 1
`)
	rules, report, err := Import("gemini", User, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"Bash(git status *)", "Bash(git diff *)", "MCP(jira/*)", "google_web_search(*)"}, rules.Allow)
	assert.Equal(t, []string{"Write(**)", "Write(/**)", "Edit(**)", "Edit(/**)"}, rules.Ask)
	assert.Equal(t, []string{"Bash(rm -rf *)", "MCP(github/delete_repo)", "MCP(*/drop)"}, rules.Deny)
	left := leftOf(report)
	for _, want := range []string{"toolName=*", "commandRegex", "condition modes", `"a*"`, "every MCP server"} {
		assert.Contains(t, left, want)
	}
	require.Len(t, report.Notes, 1)
	assert.Contains(t, report.Notes[0], "priority")

	write(t, filepath.Join(o.Home, ".gemini", "policies", "mine.toml"), "[[rule]]\ntoolName = \n")
	_, _, err = Import("gemini", User, o)
	assert.ErrorContains(t, err, "mine.toml")
	_, _, err = Import("cursor", User, o)
	assert.ErrorContains(t, err, "claude-code, codex, gemini")
}

// FuzzRules: no rules file makes the reader panic or run on.
func FuzzRules(f *testing.F) {
	f.Add(`prefix_rule(pattern=["a", ["b", 'c']], decision="allow")`)
	f.Add("prefix_rule(pattern=\"\"\"a\n\"\"\")#x\n;")
	f.Fuzz(func(t *testing.T, src string) {
		calls, err := parseRules(src)
		if err == nil && len(calls) > len(src) {
			t.Fatal("more calls than bytes")
		}
	})
}
