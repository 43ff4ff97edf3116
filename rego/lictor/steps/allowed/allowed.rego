# METADATA
# title: Allow or session rule
# description: An allow rule, else a session rule, covers every target, and no target is a URL that must always be asked about.
# labels:
#   step: "6"
#   class: allow_rule
package lictor.steps.allowed

import rego.v2

# METADATA
# title: Allow or session rule
# description: Defined if step 6 holds.
# labels:
#   step: "6"
#   class: allow_rule
result := {"step": "6", "decision": "allow", "by": "rule", "kind": "", "class": "allow_rule"} if {
	input.facts.allowed
	not input.facts.always_ask
} else := {"step": "6", "decision": "allow", "by": "session", "kind": "", "class": "allow_session"} if {
	input.facts.session
	not input.facts.always_ask
}
