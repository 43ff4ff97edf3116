# METADATA
# title: Session rules
# description: >-
#   What "yes, for this session" makes of a call: one rule per target, which is
#   as narrow as the target. Input is the call's document. The caller keeps the
#   rules in memory only, and matches them; they never lift steps 0 to 3.
package lictor.session

import rego.v2

# METADATA
# title: Result
# description: >-
#   {"rules": […]}, sorted, each rule once. A rule is {"kind": "command", "tool",
#   "command", "outside_sandbox"} (exactly this command), {"kind": "host", "tool",
#   "host"} or {"kind": "tool", "tool"}. All or nothing: the list is empty if a
#   target has no rule, or if there is no target. Undefined without a list of
#   targets.
result := {"rules": sort({rule | some target in input.targets; rule := derived(target)})} if {
	is_array(input.targets)
	every target in input.targets {
		derived(target)
	}
} else := {"rules": []} if {
	is_array(input.targets)
}

# METADATA
# title: Derived rule
# description: >-
#   The rule of one target. A command that could not be read has none, since
#   "exactly this command" is a matter of its syntax tree.
derived(target) := rule if {
	target.kind == "command"
	target.command != ""
	target.grade in {"static", "dynamic"}
	rule := {
		"kind": "command",
		"tool": input.tool,
		"command": target.command,
		"outside_sandbox": object.get(target, "outside_sandbox", false),
	}
}

derived(target) := {"kind": "host", "tool": input.tool, "host": target.host} if {
	target.kind == "url"
	target.host != ""
}

derived(target) := {"kind": "tool", "tool": input.tool} if target.kind in {"path", "input"}
