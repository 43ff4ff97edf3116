# METADATA
# title: OS sandbox
# description: A command that could be read and that the OS confines needs no rule. A path target beside it does.
# labels:
#   step: "5"
#   class: allow_sandbox
package lictor.steps.sandboxed

import rego.v2

# METADATA
# title: OS sandbox
# description: Defined if step 5 holds.
# labels:
#   step: "5"
#   class: allow_sandbox
result := {"step": "5", "decision": "allow", "by": "sandbox", "kind": "", "class": "allow_sandbox"} if {
	input.facts.command
	input.facts.confined
	not input.facts.unparseable
	not input.facts.change
}
