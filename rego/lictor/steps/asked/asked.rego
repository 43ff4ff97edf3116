# METADATA
# title: Ask rule
# description: >-
#   An ask rule matches and nothing covers the call (with askFirst: even then),
#   an ask rule names a sensitive path, or a path outside the root is asked
#   about. Where nobody can answer, every question is a denial.
# labels:
#   step: "3c"
#   class: ask
package lictor.steps.asked

import rego.v2

# METADATA
# title: Ask rule
# description: Defined if step 3c holds.
# labels:
#   step: "3c"
#   class: ask
result := {"step": "3c", "decision": "deny", "by": "unattended", "kind": "", "class": "deny_unattended"} if {
	by
	input.facts.unattended
} else := {"step": "3c", "decision": "ask", "by": by, "kind": "", "class": "ask"}

# METADATA
# title: Who asks
# description: An ask rule outranks the outside setting as the reason for the question.
by := "rule" if {
	input.facts.asked
	input.facts.ask_first
} else := "rule" if {
	input.facts.asked
	not input.facts.allowed
	not input.facts.session
} else := "rule" if {
	input.facts.sensitive_ask
} else := "outside" if {
	input.facts.outside_ask
}
