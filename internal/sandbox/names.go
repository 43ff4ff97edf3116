package sandbox

// gitProtected are the entries of a git folder that git executes from or is led
// by. Their absence is protected too: a commondir that appears redirects the whole
// repository (see git.go).
var gitProtected = []string{"hooks", "config", "commondir", "config.worktree", "modules", "worktrees"}

// protectedNames are read-only at any depth of the root: lictor's own files, and
// the files from which agents and editors run something on their own.
var protectedNames = []string{
	".lictor",
	".claude", ".codex", ".gemini", ".cursor", ".opencode", ".copilot", ".qwen", ".windsurf", ".aider.conf.yml",
	".mcp.json", "opencode.json", "opencode.jsonc",
	".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/mcp.json",
	".idea/workspace.xml", ".idea/runConfigurations",
	".github/hooks", ".github/copilot",
}

// reservedNames are folders of the root that get a placeholder while a command
// runs if they are missing, so that they cannot appear even for a moment
// (CVE-2026-25725). The others are caught by the post-check: an empty file or
// folder of their name would disturb programs outside.
var reservedNames = []string{".lictor", ".claude", ".codex", ".gemini", ".cursor"}

// homeProtected are agents' and lictor's own files in the home folder. It is
// read-only anyway; they are listed in case a write path covers them.
var homeProtected = []string{
	".lictor", ".claude", ".codex", ".gemini", ".cursor", ".copilot", ".config/opencode", ".config/github-copilot",
	".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".gitconfig", ".config/git", ".local/bin", "bin",
	".config/systemd", ".config/autostart", "Library/LaunchAgents",
}

// unreadable are the credential files and folders of the home folder (SPEC
// section 8).
var unreadable = []string{
	".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".config/gcloud", ".config/gh", ".netrc", ".npmrc", ".pypirc",
	".git-credentials", "Library/Keychains", ".claude.json", ".claude/.credentials.json", ".codex/auth.json",
}

// stateStores are lictor's stores below its state folder: what a command may not
// even read. The rest of the folder (skills, settings) stays readable.
var stateStores = []string{
	"credentials", "credentials.json", "trust.json", "audit", "approvals", "quarantine", "sandbox", "run", "keys", "queue",
}

// homeCaches are the writable caches of the home folder by platform family.
var homeCaches = map[string][]string{
	"unix":    {".cache", ".npm", ".local/share/pnpm"},
	"darwin":  {".cache", ".npm", ".local/share/pnpm", "Library/Caches", "Library/pnpm"},
	"windows": {".cache", ".npm"},
}

func family(goos string) string {
	switch goos {
	case "darwin", "windows":
		return goos
	}
	return "unix"
}
