package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Removing everything
# description: >-
#   Nothing that removes files may be pointed at the root, a home folder or a
#   folder of the system, whatever the spelling and the order of its options.
# custom:
#   programs: [rm, grm, srm, rimraf, trash, shred, rmdir, find, gfind, fd]
deny contains {"id": "remove-everything", "reason": $"{command.program} would remove {word}: the system or a home folder"} if {
	some command in lib.commands
	_removes(command)
	some word in command.args
	_leads_off(word)
	_vital(word)
}

# METADATA
# title: Removing the working folder
# description: Removing the project as a whole, or a folder above it, is never what a task asks for.
# custom:
#   programs: [rm, grm, srm, rimraf, trash]
deny contains {"id": "remove-here", "reason": $"{command.program} would remove {word}: the working folder or one above it"} if {
	some command in lib.commands
	lib.base_name(command.program) in _removers
	_recursive(command)
	some word in command.args
	_leads_off(word)
	_here(word)
}

# METADATA
# title: Removing everything after cd
# description: A change of the folder does not hide what `rm -rf *` removes, nor do .. in a path.
# custom:
#   programs: [rm, grm, srm, rimraf, trash]
deny contains {"id": "remove-after-cd", "reason": $"{command.program} {word} would remove everything in {folder}"} if {
	some target in input.targets
	some part in target.parts
	lib.base_name(part.program) in {"cd", "pushd"}
	some folder in part.args
	_vital(folder)
	some command in lib.commands
	lib.base_name(command.program) in _removers
	some word in command.args
	regex.match(`^(\./+)*(\*+|\.\*+|\.{1,2}/*)$`, _plain(word))
}

# METADATA
# title: Removing everything by another path
# description: What a path leads to counts, and not how it is written.
# custom:
#   programs: [rm, grm, srm, rimraf, trash, shred, rmdir]
deny contains {"id": "remove-resolved", "reason": $"{mention.program} would remove {mention[key]}: the system or a home folder"} if {
	some target in input.targets
	some mention in target.mentions
	mention.access == "delete"
	mention.program in _removers
	some key in ["absolute", "real"]
	_vital(mention[key])
}

# METADATA
# title: Removers
# description: Programs whose operands are gone afterwards.
_removers := {"rm", "grm", "srm", "rimraf", "trash", "shred", "rmdir"}

_removes(command) if lib.base_name(command.program) in _removers

_removes(command) if {
	lib.base_name(command.program) in {"find", "gfind", "fd"}
	some word in command.args
	word in {"-delete", "-exec", "-execdir", "-ok", "-okdir", "-X", "-x", "--exec", "--exec-batch"}
	_find_removes(command.args)
}

# METADATA
# title: Find removes
# description: By itself, or through a program that it runs.
_find_removes(args) if "-delete" in args

_find_removes(args) if {
	some word in args
	lib.base_name(word) in _removers
}

_recursive(command) if lib.has_option(command, "r", "recursive")

_recursive(command) if lib.has_option(command, "R", "")

_recursive(command) if lib.base_name(command.program) in {"rimraf", "trash"}

_examples["remove-everything"] := {
	"bad": [
		"rm -rf /",
		"rm -fr /",
		"rm / -r -f",
		"rm -rf -- /",
		"rm -rf /*",
		"rm -rf //",
		"rm -rf /.",
		"rm -rf /../",
		"rm --recursive --force /",
		"rm -r --no-preserve-root /",
		"/bin/rm -rf /",
		"rm -rf ~",
		"rm -rf ~/",
		"rm -rf ~/*",
		"rm -rf ~root",
		"rm -rf $HOME",
		"rm -rf \"$HOME\"/",
		"rm -rf ${HOME}/*",
		"rm -rf ${HOME:?}",
		"rm -rf /home",
		"rm -rf /home/user",
		"rm -rf /home/*",
		"rm -rf /Users/me/",
		"rm -rf /root/.*",
		"rm -rf /etc",
		"rm -rf /usr/local/*",
		"rm -rf /var/lib/",
		"rm -rf /tmp/..",
		"rm -rf ~/../*",
		"find / -delete",
		"find / -name * -exec rm -rf {} +",
		{"command": "sudo rm -rf /", "inner": [["rm", "-rf", "/"]]},
	],
	"good": [
		"rm -rf /tmp/build",
		"rm -rf ./node_modules",
		"rm -rf node_modules dist",
		"rm -rf ~/project/target",
		"rm -rf $HOME/.cache/go-build",
		"rm -rf /home/user/project/dist",
		"rm -rf /var/log/app/old",
		"rm -f /etc/nginx/conf.d/old.conf",
		"rm -rf /opt/app/releases/1",
		"find . -name *.o -delete",
		"find / -name core",
		"echo rm -rf /",
		"git rm -r .",
	],
}

_examples["remove-here"] := {
	"bad": ["rm -rf .", "rm -rf ./", "rm -r ..", "rm -rf ../..", "rm -rf ../*", "rm -rf $PWD", "rm -rf .*"],
	"good": ["rm -rf ./dist", "rm -rf build/*", "rm ../note.txt", "rm -rf .cache", "git rm -r ."],
}

_examples["remove-after-cd"] := {
	"bad": [
		{"command": "cd / && rm -rf *", "parts": [["cd", "/"], ["rm", "-rf", "*"]]},
		{"command": "cd ~; rm -rf ./*", "parts": [["cd", "~"], ["rm", "-rf", "./*"]]},
	],
	"good": [{"command": "cd build && rm -rf *", "parts": [["cd", "build"], ["rm", "-rf", "*"]]}],
}

_examples["remove-resolved"] := {
	"bad": [{
		"command": "rm -rf /tmp/../etc",
		"mentions": [{"program": "rm", "access": "delete", "path": "/etc"}],
	}],
	"good": [{
		"command": "rm -rf /tmp/../tmp/x",
		"mentions": [{"program": "rm", "access": "delete", "path": "/tmp/x"}],
	}],
}
