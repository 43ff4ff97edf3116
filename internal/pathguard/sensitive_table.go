package pathguard

// sensitive is the compiled table of files that hold secrets. A folder of the
// table is not sensitive itself: listing it tells names, reading its files
// tells secrets.
var sensitive = newNameTables(false, sensitiveRows)

// sensitiveRows is the list of SPEC section 3, any depth, followed by the
// credential files of the agents that lictor knows and of lictor itself.
var sensitiveRows = []nameRow{
	{".env", "environment file"},
	{".env.*", "environment file, also .env.example: what a project calls an example often is none"},
	{".envrc", "direnv"},
	{".ssh/**", "SSH keys and configuration"},
	{".aws/**", "AWS credentials"},
	{".gnupg/**", "GnuPG keys"},
	{".docker/config.json", "registry logins"},
	{".kube/config", "cluster credentials"},
	{".npmrc", "registry token"},
	{".pypirc", "registry token"},
	{".netrc", "logins by host"},
	{"_netrc", "logins by host, as Windows programs name it"},
	{".git-credentials", "Git logins"},
	{"credentials", "AWS and others"},
	{"credentials.json", "cloud service accounts"},
	{"*.pem", "key or certificate"},
	{"*.key", "key"},
	{"*.p12", "key store"},
	{"*.pfx", "key store"},
	{"*.keystore", "key store"},
	{"id_rsa*", "SSH key"},
	{"id_ecdsa*", "SSH key"},
	{"id_ed25519*", "SSH key"},

	// Claude Code
	{".claude.json", "account and MCP server tokens"},
	{".claude/.credentials.json", "login"},
	// Codex
	{".codex/auth.json", "login"},
	{".codex/.credentials.json", "MCP server tokens"},
	// Gemini CLI
	{".gemini/oauth_creds.json", "login"},
	{".gemini/mcp-oauth-tokens*.json", "MCP server tokens"},
	{".gemini/gemini-credentials.json", "login, where there is no keychain"},
	// GitHub Copilot
	{"github-copilot/hosts.json", "login of the editor plugins"},
	{"github-copilot/apps.json", "login of the editor plugins"},
	{".copilot/config.json", "login, where there is no keychain"},
	{".copilot/mcp-oauth-config/**", "MCP server tokens"},
	// Cursor
	{".cursor/auth.json", "login"},
	{".config/cursor/auth.json", "login"},
	// opencode
	{"share/opencode/auth.json", "provider keys (below .local)"},
	{"share/opencode/mcp-auth.json", "MCP server tokens"},
	// Factory droid
	{".factory/auth.json", "login"},
	{".factory/auth.*", "login, encrypted form and its key"},

	// lictor
	{".lictor/credentials*", "lictor's own keys"},
	{".lictor/keys/**", "signing keys"},
	{".lictor/trust.json", "what the user trusted: pins of projects"},
	{".lictor/audit/**", "the record of every call"},
	{".lictor/approvals/**", "questions and answers of the approval queue"},
}
