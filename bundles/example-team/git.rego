# METADATA
# title: Example team
# description: >-
#   A realistic policy to start from. Each rule stands above its examples: the bad
#   ones must be found, the good ones must not, and both are the rule's
#   documentation.
package lictor.managed.example_team

import rego.v2

import data.lictor.lib

# METADATA
# title: No pushing to main
# description: Changes reach main through a reviewed pull request only.
# custom:
#   programs: [git]
deny contains {"id": "no-push-to-main", "reason": $"pushing to {branch} goes through a pull request"} if {
	some command in lib.commands
	lib.command_runs(command, "git", {"push"})
	some word in command.args
	pieces := split(trim_left(word, "+"), ":")
	branch := trim_prefix(pieces[count(pieces) - 1], "refs/heads/")
	branch in {"main", "master", "production"}
}

# METADATA
# title: No force push
# description: >-
#   A force push throws away what others pushed. `--force-with-lease` on a branch
#   of one's own is fine.
# custom:
#   programs: [git]
deny contains {"id": "no-force-push", "reason": "a force push throws away what others pushed; use --force-with-lease on your own branch"} if {
	some command in lib.commands
	lib.command_runs(command, "git", {"push"})
	_forces(command)
}

_forces(command) if lib.has_option(command, "f", "force")

_forces(command) if lib.has_option(command, "", "mirror")

_forces(command) if {
	some word in command.args
	startswith(word, "+")
}

# METADATA
# title: No secrets in commits
# description: A secret in the history of a repository is a secret no more.
# custom:
#   programs: [git]
deny contains {"id": "no-secrets-in-commits", "reason": $"{word} looks like a secret; it must not be committed"} if {
	some command in lib.commands
	lib.command_runs(command, "git", {"add", "commit", "stash"})
	some word in command.args
	_secret_file(lib.base_name(word))
}

_secret_file(name) if regex.match(`^(\.env(\..+)?|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|keystore|jks)|\.npmrc|\.netrc|credentials(\.json)?)$`, name)

# METADATA
# title: No secrets in files
# description: A private key or an access key in the text of a file ends up in the repository.
# custom:
#   tools: [write_file, edit_file, apply_diff]
deny contains {"id": "no-secrets-in-files", "reason": "the text holds a private key or an access key; read it from the environment instead"} if {
	some key in ["content", "new_string", "text", "diff"]
	regex.match(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bghp_[A-Za-z0-9]{36}\b`, input.args[key])
}

_examples["no-push-to-main"] := {
	"bad": [
		"git push origin main",
		"git push origin HEAD:main",
		"git push origin feature:refs/heads/master",
		"git -C repo push origin main",
		{"command": "cd x && git push origin main", "parts": [["cd", "x"], ["git", "push", "origin", "main"]]},
		{"command": "sudo git push origin main", "inner": [["git", "push", "origin", "main"]]},
	],
	"good": ["git push origin fix-main-menu", "git push", "git pull origin main", "git log main", "echo git push origin main"],
}

_examples["no-force-push"] := {
	"bad": ["git push -f", "git push --force origin topic", "git push origin +topic", "git push --mirror backup", "git push origin topic -uf"],
	"good": ["git push --force-with-lease origin topic", "git push -u origin topic", "git fetch --force"],
}

_examples["no-secrets-in-commits"] := {
	"bad": ["git add .env", "git add config/.env.production", "git add -f keys/server.pem", "git commit id_rsa -m x"],
	"good": ["git add .", "git add src/env.go", "git commit -m x", "git add docs/keys.md"],
}

_examples["no-secrets-in-files"] := {
	"bad": [
		{"path": "config.yml", "args": {"path": "config.yml", "content": "key: AKIAABCDEFGHIJKLMNOP"}},
		{"path": "key.go", "args": {"path": "key.go", "content": "-----BEGIN RSA PRIVATE KEY-----"}},
	],
	"good": [{"path": "config.yml", "args": {"path": "config.yml", "content": "key: ${ACCESS_KEY}"}}, {"path": "a.txt"}],
}
