# METADATA
# title: Consent
# description: >-
#   Lists what a project loosens. Input {"source", "settings", "files"}: the
#   settings document with the name of its file, and the project's permission
#   files as [{"source", "permissions": {"allow", "ask", "deny"}}].
# schemas:
#   - input:
#       type: object
#       properties:
#         source: {type: string}
#         settings: {}
#         files: {type: array, items: {type: object, properties: {source: {type: string}, permissions: {}}}}
package lictor.consent

import rego.v2

# METADATA
# title: The table
# description: One row per key of the settings that can loosen safety, with what makes a value of it do so.
table := {
	"env.allow": "filled",
	"executor": "no sandbox",
	"formatters.commands": "commands",
	"network.allow": "filled",
	"paths.outsideRoot": "not deny",
	"permissions.allow": "filled",
	"permissions.ask": "names a place outside",
	"sandbox.writePaths": "filled",
	"shell": "filled",
	"tools": "filled",
	"web.allowLocalhost": "on",
}

# METADATA
# title: Result
# description: >-
#   {"risks": [{"key", "value", "source"}]} sorted by source and key. The value is
#   the part of the file's value that loosens. Undefined if the input is not as
#   described.
result := {"risks": [risks[place] | some place in sort(object.keys(risks))]} if {
	is_string(input.source)
	is_object(input.settings)
	is_array(input.files)
	every file in input.files {
		is_string(file.source)
		is_object(file.permissions)
	}
}

# METADATA
# title: Risks
# description: By source and key.
risks[[input.source, key]] := {"key": key, "value": value, "source": input.source} if {
	some key, why in table
	value := loosened(why, at(input.settings, split(key, ".")), settings_place)
}

risks[[file.source, key]] := {"key": key, "value": value, "source": file.source} if {
	some file in input.files
	some key in ["permissions.allow", "permissions.ask"]
	value := loosened(table[key], at(file, split(key, ".")), file_place)
}

# METADATA
# title: Loosened
# description: The part of a value that loosens safety; undefined if none does. A value of a type that nobody expects does.
loosened("filled", value, _) := value if not value in empty

loosened("no sandbox", value, _) := value if not value in {null, "", "auto", "os"}

loosened("not deny", value, _) := value if not value in {null, "", "deny"}

loosened("on", value, _) := value if not value in {null, false}

loosened("commands", value, _) := commands if {
	is_object(value)
	commands := {name: command | some name, command in value; command != false}
	count(commands) > 0
}

loosened("commands", value, _) := value if {
	not is_object(value)
	not value in empty
}

loosened("names a place outside", value, place) := rules if {
	is_array(value)
	rules := [rule | some rule in value; outside(rule, place)]
	count(rules) > 0
}

loosened("names a place outside", value, _) := value if {
	not is_array(value)
	not value in empty
}

# METADATA
# title: Empty values
# description: What says nothing.
empty := {null, "", [], {}}

# METADATA
# title: Rule with an absolute pattern
# description: >-
#   A rule that names a place outside the root lifts step 0b for it, even if it
#   only asks. (A deny rule denies there as well as step 0b does.)
outside(rule, _) if not is_string(rule)

outside(rule, place) if {
	regex.match(place, rule)
	not lower(trim_space(split(rule, "(")[0])) in command_tools
}

# METADATA
# title: Tools without paths
# description: >-
#   Patterns of these are command lines and other texts: a slash or two dots in
#   them is no place. A name that is missing here only makes lictor ask for
#   consent once more.
command_tools := {
	"bash", "run_bash", "run_shell_command", "shell", "execute", "tests", "run_tests",
	"git", "github", "mcp", "memory", "rollback", "fetch", "fetch_url", "web_fetch", "webfetch",
}

# METADATA
# title: Absolute pattern in a permission file
# description: >-
#   A pattern, or either side of a Copy or Move, that starts with / or ~, a drive
#   or share of Windows or a brace that may hide one, or that climbs with `..`.
file_place := `(?s)(\(|->)\s*(/|~|\\|\{|[A-Za-z]:)|(^|[^.])\.\.([^.]|$)`

# METADATA
# title: Absolute pattern in the settings
# description: As in a permission file, but one leading / stands for the root, and braces for themselves.
settings_place := `(?s)(\(|->)\s*(//|~|\\|[A-Za-z]:)|(^|[^.])\.\.([^.]|$)`

# METADATA
# title: Value at a path
# description: A path has one or two keys. Undefined if there is none.
at(document, [key]) := document[key]

at(document, [outer, inner]) := document[outer][inner]
