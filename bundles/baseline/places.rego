# METADATA
# title: Baseline
# description: >-
#   Stops what destroys the machine or takes it down. Active everywhere; a
#   project cannot loosen it. Each rule stands beside its examples.
package lictor.managed.baseline

import rego.v2

# METADATA
# title: Plain
# description: >-
#   A word without quotes and backslashes. The value of a word that holds a
#   variable is not known, so its text is judged as it was written.
_plain(word) := replace(replace(replace(word, `"`, ""), `'`, ""), `\`, "")

# METADATA
# title: Leads off
# description: >-
#   The word starts as a vital place or the working folder must. Most words do
#   not, and the closer look is for those that do.
_leads_off(word) if regex.match(`^["'\\]*[/~$.]`, word)

# METADATA
# title: Vital
# description: The root, a home folder or a folder of the system, or all that lies in one, in any spelling.
_vital(word) if regex.match(_everything, _plain(word))

_vital(word) if regex.match(_homes, _plain(word))

_vital(word) if regex.match(_system, _plain(word))

_vital(word) if _own_home(word)

_vital(word) if _climbs_to_root(_plain(word))

# METADATA
# title: Own home folder
# description: Wherever it lies.
_own_home(word) if {
	input.home != ""
	trim_right(_plain(word), "/.*") == input.home
}

# METADATA
# title: Everything
# description: The root, or every entry of it.
_everything := `^/+(\.{0,2}/+)*(\.{0,2}|\*+|\.\*+|\?\*+|\[.*\]\*+)$`

# METADATA
# title: Home folders
# description: A home folder, all of them, or every entry.
_homes := `^(~[A-Za-z0-9_.-]*|\$HOME|\$\{HOME[^}/]*\}|/+root|/+(home|Users)(/+[^/*]+)?)(/+(\.{0,2}/+)*(\.{0,2}|\*+|\.\*+))?$`

# METADATA
# title: Folders of the system
# description: Without them the machine does not start, or forgets what it holds.
_system := concat("", [
	`^/+(bin|boot|dev|efi|etc|lib|lib32|lib64|libx32|media|mnt|opt|proc|run|sbin|srv|sys|usr|var`,
	`|System|Library|Applications|Volumes|private|private/+(etc|var)`,
	`|usr/+(bin|sbin|lib|lib64|libexec|local|share|include)|var/+lib|etc/+(ssh|ssl|systemd|pam\.d))`,
	`(/+(\.{0,2}/+)*(\.{0,2}|\*+|\.\*+))?$`,
])

# METADATA
# title: Climbs to the root
# description: An absolute path, or one from home, with as many .. as it has names.
_climbs_to_root(word) if {
	regex.match(`^(/|~|\$HOME|\$\{HOME\})`, word)
	segments := split(word, "/")
	ups := count([segment | some segment in segments; segment == ".."])
	ups > 0
	ups >= count([segment | some segment in segments; not segment in {"", ".", "..", "*", ".*"}])
}

# METADATA
# title: Here
# description: The working folder, or one above it; all that lies in one above it.
_here(word) if regex.match(`^(\./+)*\.{1,2}(/+\.{1,2})*/*$`, _plain(word))

_here(word) if regex.match(`^(\./+)*\.\.(/+\.{1,2})*/+(\*+|\.\*+)$`, _plain(word))

_here(word) if regex.match(`^(\$PWD|\$\{PWD[^}/]*\}|~\+|\.\*|\$\(pwd\))/*$`, _plain(word))
