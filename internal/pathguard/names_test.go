package pathguard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSensitive(t *testing.T) {
	for _, p := range []string{
		".env", "a/b/.env", "/x/.env", ".env.local", ".env.example", ".envrc", ".ssh/config", "home/.ssh/a/b", "/root/.ssh/id", ".aws/config",
		".gnupg/x", ".docker/config.json", "x/.kube/config", ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials", "credentials",
		".aws/credentials", "credentials.json", "a.pem", ".pem", "x.key", "k.p12", "k.pfx", "s.keystore", "id_rsa", "id_rsa.pub", "id_ecdsa_sk",
		"id_ed25519.bak", "/home/u/.claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
		".config/github-copilot/hosts.json", ".config/github-copilot/apps.json", ".copilot/config.json", ".config/cursor/auth.json",
		".local/share/opencode/auth.json", ".factory/auth.json", ".factory/auth.encrypted", ".lictor/trust.json",
		"/home/u/.lictor/audit/x-1/y.jsonl", ".lictor/approvals/1.json", ".lictor/credentials", ".lictor/credentials.toml", ".env/", ".lictor/keys/k",
	} {
		assert.True(t, Sensitive(p, false), p)
		assert.True(t, Sensitive(strings.ToUpper(p), true), p)
	}
	for _, p := range []string{
		"", ".", "/", ".ssh", "a/.ssh", ".aws", ".gnupg", ".docker", ".docker/other", "config.json", "docker/config.json", "x.docker/config.json",
		"kube/config", ".kube/configs", ".kube/x/config", "my.env", "env", "src/env.ts", "environment.md", ".environment", ".env/bin/python",
		"credentials.go", "credentials/x.go", "mycredentials", "key", "pem", "a.pem.txt", "a.keys", "rsa", "my_id_rsa", "ssh/config", ".ssh2/config",
		"auth.json", "src/opencode/auth.json", ".lictor/settings.json", "trust.json", ".claude/settings.json", "npmrc", ".npmrc.d", ".ENV", "ID_RSA",
	} {
		assert.False(t, Sensitive(p, false), p)
	}
	// Spellings that a case-insensitive file system takes for the same name.
	for _, p := range []string{".\u017f\u017fh/config", ".e\u200cnv", ".Env.Local", ".ßh/x", "x.\u212aEY", "\ufeff.env"} {
		assert.True(t, Sensitive(p, true), "%q", p)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		pattern, rel string
		want         bool
	}{
		{".env.*", ".env.local", true},
		{".env.*", "api/.env.local", true},
		{".env", ".env", true},
		{".env", ".env.local", false},
		{".env.example", ".env", false},
		{"**/.env", "a/.env", true},
		{"config/.env", "config/.env", true},
		{"/home/u/.env", "/home/u/.env", true},
		{".env*", ".env.local", true},
		{".ENV", ".env", true},
		{"*.pem", "certs/server.pem", true},
		{"certs/*.pem", "certs/server.pem", true},
		{"server.*", "server.pem", true},
		{"id_*", "id_rsa", true},
		{"credentials.*", "credentials.json", true},
		{"{.env,x}", ".env", true},
		{"a/{b,c/.env}", "a/c/.env", true},
		{"{a,{b,.env}}", ".env", true},
		{"**/.ssh/**", ".ssh/config", true},
		{".ssh/*", ".ssh/known_hosts", true},
		{"~/.ssh/**", "/home/u/.ssh/config", true},
		{"**/.aws/**", "x/.aws/sso/cache", true},
		{"**/config", ".ssh/config", true},
		{"**/.SSH/**", ".ssh/config", true},
		{".docker/config.json", ".docker/config.json", true},

		{"", ".env", false},
		{"*", ".env", false},
		{"**", ".env", false},
		{"**/*", ".env", false},
		{"src/**", "src/.env", false},
		{"src/*", "src/.env", false},
		{"*.*", ".env.local", false},
		{".*", ".env", false},
		{"?env", ".env", true},
		{"????", ".env", false},
		{"[.]*", ".env", false},
		{"[a-z.]*", ".env", false},
		{"{*,x}", ".env", false},
		{"{*,.env}", ".env", true},
		{"*.json", "credentials.json", false},
		{"*.local", ".env.local", false},
		{"*e*", ".env", false},
		{"**/.ssh/**", ".aws/config", false},
		{"**/.ssh/**", ".env", false},
		{".ssh*/**", ".ssh/config", false},
		{".claude/**", ".claude/.credentials.json", false},
		{".docker/**", ".docker/config.json", false},
		{"[", ".env", false},
		{strings.Repeat("{a,b}", 20), ".env", false},
	} {
		assert.Equal(t, c.want, Names(c.pattern, c.rel), "%s names %s", c.pattern, c.rel)
	}
	assert.True(t, SensitiveFolder("**/.ssh/**"))
	assert.True(t, SensitiveFolder("/home/u/{.aws,x}/y"))
	assert.False(t, SensitiveFolder("src/**"))
	assert.False(t, SensitiveFolder(".ssh*/**"))
}

func TestProtected(t *testing.T) {
	for _, p := range []string{
		".git", ".git/config", "sub/.git", "sub/.git/config", ".git/hooks/pre-commit", "a/b/.git/x/y", "/other/.git/HEAD",
		".lictor", ".lictor/settings.json", ".lictor/permissions.local.json", "sub/.lictor/policy.json", "/home/u/.lictor/trust.json", ".lictor/new",
		"/etc/lictor", "/etc/lictor/policy.json", "/Library/Application Support/Lictor/policy.json",
		".claude", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x.sh", "/home/u/.claude/settings.json", "/home/u/.claude.json",
		".mcp.json", ".codex/config.toml", ".codex/hooks.json", ".codex/hooks/a", ".cursor/hooks.json", ".cursor/mcp.json",
		".gemini/settings.json", ".github/hooks", ".github/hooks/a.json", ".copilot/hooks/x", ".copilot", ".vscode/settings.json", ".vscode/mcp.json",
		"opencode.json", "opencode.jsonc", ".opencode/plugin/x.js", ".opencode/plugins/x.ts", "/home/u/.config/opencode/plugin/x.js",
		".factory/settings.json", "packages/a/.claude/settings.json", ".gemini/trustedFolders.json",
	} {
		assert.True(t, Protected(p, false), p)
		assert.True(t, Protected(strings.ToUpper(p), true), p)
	}
	for _, p := range []string{
		"", ".", "/", ".gitignore", ".gitattributes", ".gitmodules", ".github", ".github/workflows/ci.yml", "git/config", "x.git/config", ".git2",
		"etc/lictor/policy.json", "lictor/settings.json", "/etc/lictor2", ".claude/commands/x.md", "CLAUDE.md", "settings.json", ".cursor/rules/a.mdc",
		".vscode", ".vscode/tasks.json", ".vscode/extensions.json", "src/opencode/plugin/x.js", "src/hooks/x.ts", ".GIT/config", "a/.GIT",
	} {
		assert.False(t, Protected(p, false), p)
	}
	for _, p := range []string{".Git/config", ".g\u200cit/config", ".git\u200d", ".CURSOR/mcp.json", "\u2067.git/x", ".g\u0131t"} {
		assert.Equal(t, p != ".g\u0131t", Protected(p, true), "%q", p)
	}
}

// A row that nothing matches would be a typing error.
func TestRowsMatchThemselves(t *testing.T) {
	for _, r := range append(append([]nameRow{}, sensitiveRows...), protectedRows...) {
		p := strings.ReplaceAll(strings.ReplaceAll(r.Pattern, "/**", "/x"), "*", "")
		assert.True(t, Sensitive(p, false) || Protected(p, false), r.Pattern)
		assert.NotEmpty(t, r.Why, r.Pattern)
	}
}
