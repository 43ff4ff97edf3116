# METADATA
# title: Read-only tool
# description: A tool that only reads needs no rule.
# labels:
#   step: "4"
#   class: allow_readonly
package lictor.steps.read_only

import rego.v2

# METADATA
# title: Read-only tool
# description: Defined if step 4 holds.
# labels:
#   step: "4"
#   class: allow_readonly
result := {"step": "4", "decision": "allow", "by": "read_only", "kind": "", "class": "allow_readonly"} if input.facts.read_only
