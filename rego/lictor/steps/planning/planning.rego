# METADATA
# title: Plan mode
# description: In plan mode a call that is not read-only follows the table of package lictor.plan. Never asks.
# labels:
#   step: "3b"
#   class: deny_plan
package lictor.steps.planning

import rego.v2

import data.lictor.plan

# METADATA
# title: Plan mode
# description: Defined if step 3b holds, and then always with a verdict.
# labels:
#   step: "3b"
#   class: deny_plan
result := plan.verdict if {
	input.facts.plan
	not input.facts.read_only
}
