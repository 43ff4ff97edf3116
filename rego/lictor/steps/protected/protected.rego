# METADATA
# title: Protected path or command
# description: Git internals, lictor's and an agent's own files stay as they are, and no command answers for the user.
# labels:
#   step: "2"
#   class: deny_protected
package lictor.steps.protected

import rego.v2

# METADATA
# title: Protected path or command
# description: Defined if step 2 holds.
# labels:
#   step: "2"
#   class: deny_protected
result := {"step": "2", "decision": "deny", "by": "rule", "kind": "protected", "class": "deny_protected"} if input.facts.protected
