# METADATA
# title: Managed ask
# description: A managed bundle wants a person to look at the call.
# labels:
#   step: "3d"
#   class: ask
package lictor.steps.managed_ask

import rego.v2

import data.lictor.findings

# METADATA
# title: Managed ask
# description: Defined if step 3d holds.
# labels:
#   step: "3d"
#   class: ask
result := {"step": "3d", "decision": "deny", "by": "unattended", "kind": "", "class": "deny_unattended"} if {
	asks
	input.facts.unattended
} else := {"step": "3d", "decision": "ask", "by": "policy", "kind": "", "class": "ask"} if {
	asks
}

# METADATA
# title: Who asks
# description: The fact of lictor's own bundle queries, or a bundle loaded beside this policy.
asks if input.facts.managed_ask

asks if {
	data.lictor.managed
	findings.asks
}
