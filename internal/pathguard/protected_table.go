package pathguard

// protected is the compiled table. A folder "dir/**" is protected itself:
// deleting it or moving another one onto it changes what lies in it.
var protected = newNameTables(true, protectedRows)

// protectedRows lists Git, lictor, then each agent: the files from which it
// takes hooks, permissions, or programs to start. They are matched at any
// depth, so that one row covers root, home and nested projects. What is not
// here on purpose: .gitignore, .gitattributes and .github/workflows (plain
// project files), instructions and prompts (AGENTS.md, .cursor/rules, skills:
// text for the model), .vscode/tasks.json and launch.json (the editor's, run
// by a person).
var protectedRows = []nameRow{
	// Git: hooks and configuration run programs. ".git" may be a file that points
	// elsewhere (worktrees, submodules).
	{".git/**", "Git's own folder, at any depth"},

	// lictor: settings, permission files, policy, trust, audit, approvals.
	{".lictor/**", "lictor's own folder, in the root, the home folder or below"},
	{"/etc/lictor/**", "managed policy and permissions (Linux)"},
	{"/Library/Application Support/Lictor/**", "managed policy (macOS)"},
	{"/ProgramData/Lictor/**", "managed policy (Windows)"},

	// Claude Code
	{".claude", "the folder itself, so that it cannot be replaced"},
	{".claude/settings*.json", "hooks, permissions, environment"},
	{".claude/hooks/**", "hook programs"},
	{".claude/plugins/**", "plugins bring hooks"},
	{".claude.json", "MCP servers and trusted folders"},
	{"/etc/claude-code/**", "managed settings (Linux)"},
	{"/Library/Application Support/ClaudeCode/**", "managed settings (macOS)"},
	{"/ProgramData/ClaudeCode/**", "managed settings (Windows)"},
	{"/Program Files/ClaudeCode/**", "managed settings (Windows)"},

	// MCP: servers that an agent starts. Read by Claude Code and others.
	{".mcp.json", "MCP servers of a project"},

	// Codex
	{".codex", "the folder itself"},
	{".codex/*.toml", "config.toml, managed_config.toml, requirements.toml"},
	{".codex/hooks.json", "hooks"},
	{".codex/hooks/**", "hook programs"},
	{".codex/rules/**", "rules for commands"},
	{"/etc/codex/**", "managed settings"},

	// Cursor
	{".cursor", "the folder itself"},
	{".cursor/hooks.json", "hooks"},
	{".cursor/hooks/**", "hook programs"},
	{".cursor/mcp.json", "MCP servers"},
	{".cursor/cli*.json", "permissions of the CLI"},
	{".cursor/permissions.json", "permissions"},
	{".cursor/sandbox.json", "sandbox settings"},
	{"/etc/cursor/**", "managed hooks (Linux)"},
	{"/Library/Application Support/Cursor/**", "managed hooks (macOS)"},
	{"/ProgramData/Cursor/**", "managed hooks (Windows)"},

	// Gemini CLI
	{".gemini", "the folder itself"},
	{".gemini/settings.json", "hooks, tools, MCP servers"},
	{".gemini/hooks/**", "hook programs"},
	{".gemini/policies/**", "policy engine"},
	{".gemini/extensions/**", "extensions bring hooks and MCP servers"},
	{".gemini/trustedFolders.json", "trusted folders"},
	{"/etc/gemini-cli/**", "managed settings (Linux)"},
	{"/Library/Application Support/GeminiCli/**", "managed settings (macOS)"},
	{"/ProgramData/gemini-cli/**", "managed settings (Windows)"},

	// GitHub Copilot: CLI, cloud agent, VS Code
	{".github/hooks/**", "hooks of a repository"},
	{".github/copilot/settings*.json", "settings of a repository"},
	{".copilot/**", "hooks, MCP servers, trusted folders"},

	// VS Code's agent: hook locations and tool approval are workspace settings
	// (chat.tools.autoApprove, chat.hookFilesLocations), so the file counts as the
	// agent's own, although it also holds harmless editor settings.
	{".vscode/settings.json", "tool approval and hooks of the agent"},
	{".vscode/mcp.json", "MCP servers"},
	{"Code/User/settings.json", "the same for the user"},
	{"Code/User/mcp.json", "the same for the user"},

	// opencode
	{"opencode.json", "permissions, MCP servers, plugins"},
	{"opencode.jsonc", "the same with comments"},
	{".opencode", "the folder itself"},
	{".opencode/plugin/**", "plugins are hooks"},
	{".opencode/plugins/**", "plugins are hooks"},
	{".opencode/tool/**", "tools are programs"},
	{".opencode/tools/**", "tools are programs"},
	{".config/opencode/plugin/**", "the user's plugins"},
	{".config/opencode/plugins/**", "the user's plugins"},

	// Factory droid
	{".factory", "the folder itself"},
	{".factory/settings*.json", "hooks, permissions"},
	{".factory/hooks.json", "hooks"},
	{".factory/hooks/**", "hook programs"},
	{".factory/mcp.json", "MCP servers"},
}
