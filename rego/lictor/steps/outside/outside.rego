# METADATA
# title: Outside the root
# description: A path target or redirection outside the root is denied, unless a rule with an absolute pattern names it.
# labels:
#   step: "0b"
#   class: deny_outside
package lictor.steps.outside

import rego.v2

# METADATA
# title: Outside the root
# description: Defined if step 0b holds.
# labels:
#   step: "0b"
#   class: deny_outside
result := {"step": "0b", "decision": "deny", "by": "outside", "kind": "", "class": "deny_outside"} if input.facts.outside
