# METADATA
# title: Plan mode
# description: What plan mode makes of a call that is not read-only. A table, and the words for its rows.
package lictor.plan

import rego.v2

import data.lictor.findings

# METADATA
# title: The table
# description: One row per kind of call, its class and its decision.
table := {
	"asked about": refused,
	"change": refused,
	"sandboxed command": ["allow_sandbox", {"step": "3b", "decision": "allow", "by": "sandbox", "kind": ""}],
	"command": refused,
	"allowed by a rule": ["allow_rule", {"step": "3b", "decision": "allow", "by": "rule", "kind": ""}],
	"other": refused,
}

# METADATA
# title: Refusal
# description: The denial tells the model to put the change into its plan.
refused := ["deny_plan", {"step": "3b", "decision": "deny", "by": "rule", "kind": "plan"}]

# METADATA
# title: Verdict
# description: The row of this call.
verdict := table[call]

# METADATA
# title: Kind of call
# description: >-
#   The first row that fits. Plan mode never asks, so a question is a denial;
#   a path target beside a command counts as a change.
call := "asked about" if {
	asks
} else := "change" if {
	input.facts.change
} else := "sandboxed command" if {
	input.facts.command
	input.facts.confined
	not input.facts.unparseable
} else := "command" if {
	input.facts.command
} else := "allowed by a rule" if {
	input.facts.allowed
	not input.facts.always_ask
} else := "other"

# METADATA
# title: A question
# description: Any matching ask rule counts, even one that an allow rule would outrank in build mode.
asks if input.facts.asked

asks if input.facts.sensitive_ask

asks if input.facts.outside_ask

asks if input.facts.managed_ask

asks if {
	data.lictor.managed
	findings.asks
}
