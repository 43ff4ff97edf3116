# METADATA
# title: Team policy
# description: The team policy is violated, or a managed bundle denies the call.
# labels:
#   step: "0"
#   class: deny_policy
package lictor.steps.policy

import rego.v2

import data.lictor.findings

# METADATA
# title: Team policy
# description: >-
#   Defined if step 0 holds. The last line serves a stock OPA that has managed
#   bundles loaded beside this policy; lictor runs them in queries of their own
#   and hands over the fact.
# labels:
#   step: "0"
#   class: deny_policy
result := violation if input.facts.policy

result := violation if input.facts.managed_deny

result := violation if {
	data.lictor.managed
	findings.denies
}

# METADATA
# title: Violation
# description: The result of step 0.
violation := {"step": "0", "decision": "deny", "by": "policy", "kind": "", "class": "deny_policy"}
