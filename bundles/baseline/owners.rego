package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Changing owners or modes of the system
# description: >-
#   A recursive chmod or chown of the root or a system folder leaves a machine
#   that nobody can log in to. So does moving one away.
# custom:
#   programs: [chmod, chown, chgrp, chattr, setfacl, chflags, mv]
deny contains {"id": "change-everything", "reason": $"{command.program} would change {word}: the root or a folder of the system"} if {
	some command in lib.commands
	_changes(command)
	some word in command.args
	_foundation(word)
}

_changes(command) if {
	lib.base_name(command.program) in {"chmod", "chown", "chgrp", "chattr", "setfacl", "chflags"}
	lib.has_option(command, "R", "recursive")
}

_changes(command) if lib.base_name(command.program) == "mv"

# METADATA
# title: Foundation
# description: Vital, except home folders, whose owner may well change them.
_foundation(word) if regex.match(_everything, _plain(word))

_foundation(word) if regex.match(_system, _plain(word))

_foundation(word) if _climbs_to_root(_plain(word))

_examples["change-everything"] := {
	"bad": ["chmod -R 777 /", "chmod 000 -R /*", "chown -R nobody /", "chown --recursive me:me /etc", "chgrp -R x /usr/", "mv / /old", "mv /usr /usr.old"],
	"good": ["chmod +x run.sh", "chmod -R u+w .", "chown -R me:me ./data", "mv a.txt b.txt", "mv build /tmp/build", "chmod 600 /etc/app/key"],
}
