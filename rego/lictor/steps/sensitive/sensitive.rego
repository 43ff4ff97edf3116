# METADATA
# title: Sensitive path
# description: A path that holds secrets is denied, unless a rule of the same tool names it.
# labels:
#   step: "1"
#   class: deny_sensitive
package lictor.steps.sensitive

import rego.v2

# METADATA
# title: Sensitive path
# description: Defined if step 1 holds.
# labels:
#   step: "1"
#   class: deny_sensitive
result := {"step": "1", "decision": "deny", "by": "sensitive", "kind": "", "class": "deny_sensitive"} if input.facts.sensitive
