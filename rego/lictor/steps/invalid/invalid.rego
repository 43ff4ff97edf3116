# METADATA
# title: Unreadable call
# description: A call whose arguments cannot be read is denied; the reason names the field.
# labels:
#   step: "in"
#   class: deny_input
package lictor.steps.invalid

import rego.v2

# METADATA
# title: Unreadable call
# description: Defined if step in holds.
# labels:
#   step: "in"
#   class: deny_input
result := {"step": "in", "decision": "deny", "by": "input", "kind": "", "class": "deny_input"} if input.facts.input_error
