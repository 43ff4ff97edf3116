# METADATA
# title: Deny rule
# description: A deny rule matches one of the targets.
# labels:
#   step: "3"
#   class: deny_rule
package lictor.steps.denied

import rego.v2

# METADATA
# title: Deny rule
# description: Defined if step 3 holds.
# labels:
#   step: "3"
#   class: deny_rule
result := {"step": "3", "decision": "deny", "by": "rule", "kind": "", "class": "deny_rule"} if input.facts.denied
