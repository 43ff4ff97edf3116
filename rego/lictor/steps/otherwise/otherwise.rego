# METADATA
# title: Otherwise
# description: Nothing decided, so a person is asked; where nobody can answer, the call is denied.
# labels:
#   step: "7"
#   class: ask
package lictor.steps.otherwise

import rego.v2

# METADATA
# title: Otherwise
# description: >-
#   Always holds for a document that has facts. One without them leaves the
#   verdict undefined, which every caller must take as a denial.
# labels:
#   step: "7"
#   class: ask
result := {"step": "7", "decision": "deny", "by": "unattended", "kind": "", "class": "deny_unattended"} if {
	input.facts.unattended
} else := {"step": "7", "decision": "ask", "by": "default", "kind": "", "class": "ask"} if {
	is_object(input.facts)
}
