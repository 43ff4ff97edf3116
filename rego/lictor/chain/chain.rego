# METADATA
# title: The chain
# description: >-
#   The steps as a table, in their order. A row is the rank of its step, the class
#   of a call that it decides, and the decision; the condition says when the step
#   holds. Each condition has a fact that the step cannot hold without, so that the
#   index skips the row where it is missing. Several rows are one step that holds for
#   several reasons, of which the first names the step.
package lictor.chain

import rego.v2

import data.lictor.findings
import data.lictor.plan

# METADATA
# title: Unreadable call
# description: A call whose arguments cannot be read is denied; the reason names the field.
# labels:
#   step: "in"
#   class: deny_input
steps contains [0, "deny_input", {"step": "in", "decision": "deny", "by": "input", "kind": ""}] if input.facts.input_error

# METADATA
# title: Team policy
# description: >-
#   The team policy is violated, or a managed bundle denies the call.
# labels:
#   step: "0"
#   class: deny_policy
steps contains [1, "deny_policy", {"step": "0", "decision": "deny", "by": "policy", "kind": ""}] if input.facts.policy

# METADATA
# title: Managed deny
# description: A managed bundle denies the call; lictor runs bundles in queries of their own and hands over the fact.
# labels:
#   step: "0"
#   class: deny_policy
steps contains [1, "deny_policy", {"step": "0", "decision": "deny", "by": "policy", "kind": ""}] if input.facts.managed_deny

# METADATA
# title: Managed deny, in a stock OPA
# description: A managed bundle that is loaded beside this policy denies the call.
# labels:
#   step: "0"
#   class: deny_policy
steps contains [1, "deny_policy", {"step": "0", "decision": "deny", "by": "policy", "kind": ""}] if {
	data.lictor.managed
	findings.denies
}

# METADATA
# title: Outside the root
# description: >-
#   A path target or redirection outside the root is denied, unless a rule with an
#   absolute pattern names it.
# labels:
#   step: "0b"
#   class: deny_outside
steps contains [2, "deny_outside", {"step": "0b", "decision": "deny", "by": "outside", "kind": ""}] if input.facts.outside

# METADATA
# title: Sensitive path
# description: A path that holds secrets is denied, unless a rule of the same tool names it.
# labels:
#   step: "1"
#   class: deny_sensitive
steps contains [3, "deny_sensitive", {"step": "1", "decision": "deny", "by": "sensitive", "kind": ""}] if input.facts.sensitive

# METADATA
# title: Protected path or command
# description: >-
#   Git internals, lictor's and an agent's own files stay as they are, and no command
#   answers for the user.
# labels:
#   step: "2"
#   class: deny_protected
steps contains [4, "deny_protected", {"step": "2", "decision": "deny", "by": "rule", "kind": "protected"}] if input.facts.protected

# METADATA
# title: Deny rule
# description: A deny rule matches one of the targets.
# labels:
#   step: "3"
#   class: deny_rule
steps contains [5, "deny_rule", {"step": "3", "decision": "deny", "by": "rule", "kind": ""}] if input.facts.denied

# METADATA
# title: Plan mode
# description: >-
#   In plan mode a call that is not read-only follows the table of package lictor.plan.
#   Never asks.
# labels:
#   step: "3b"
#   class: deny_plan
steps contains [6, class, result] if {
	input.facts.plan
	not input.facts.read_only
	[class, result] := plan.verdict
}

# METADATA
# title: Ask rule
# description: >-
#   An ask rule matches and nothing covers the call (with askFirst: even then), an ask
#   rule names a sensitive path, or a path outside the root is asked about. A rule is
#   the better reason.
# labels:
#   step: "3c"
#   class: ask
steps contains [7, class, result] if {
	input.facts.asked
	not covered
	[class, result] := question({"step": "3c", "decision": "ask", "by": "rule", "kind": ""})
}

# METADATA
# title: Ask rule for a sensitive path
# description: An ask rule names a sensitive path. Nothing covers that.
# labels:
#   step: "3c"
#   class: ask
steps contains [7, class, result] if {
	input.facts.sensitive_ask
	[class, result] := question({"step": "3c", "decision": "ask", "by": "rule", "kind": ""})
}

# METADATA
# title: Outside that is asked about
# description: The settings want a question for paths outside the root. A rule is the better reason.
# labels:
#   step: "3c"
#   class: ask
steps contains [7, class, result] if {
	input.facts.outside_ask
	not ruled
	[class, result] := question({"step": "3c", "decision": "ask", "by": "outside", "kind": ""})
}

# METADATA
# title: Managed ask
# description: A managed bundle wants a person to look at the call.
# labels:
#   step: "3d"
#   class: ask
steps contains [8, class, result] if {
	input.facts.managed_ask
	[class, result] := question({"step": "3d", "decision": "ask", "by": "policy", "kind": ""})
}

# METADATA
# title: Managed ask, in a stock OPA
# description: A managed bundle that is loaded beside this policy asks.
# labels:
#   step: "3d"
#   class: ask
steps contains [8, class, result] if {
	data.lictor.managed
	findings.asks
	[class, result] := question({"step": "3d", "decision": "ask", "by": "policy", "kind": ""})
}

# METADATA
# title: Read-only tool
# description: A tool that only reads needs no rule.
# labels:
#   step: "4"
#   class: allow_readonly
steps contains [9, "allow_readonly", {"step": "4", "decision": "allow", "by": "read_only", "kind": ""}] if input.facts.read_only

# METADATA
# title: OS sandbox
# description: >-
#   A command that could be read and that the OS confines needs no rule. A path target
#   beside it does.
# labels:
#   step: "5"
#   class: allow_sandbox
steps contains [10, "allow_sandbox", {"step": "5", "decision": "allow", "by": "sandbox", "kind": ""}] if {
	input.facts.command
	input.facts.confined
	not input.facts.unparseable
	not input.facts.change
}

# METADATA
# title: Allow or session rule
# description: >-
#   An allow rule, else a session rule, covers every target, and no target is a URL that
#   must always be asked about.
# labels:
#   step: "6"
#   class: allow_rule
steps contains [11, "allow_rule", {"step": "6", "decision": "allow", "by": "rule", "kind": ""}] if {
	input.facts.allowed
	not input.facts.always_ask
}

# METADATA
# title: Session rule
# description: A session rule covers every target. An allow rule is the better reason.
# labels:
#   step: "6"
#   class: allow_session
steps contains [11, "allow_session", {"step": "6", "decision": "allow", "by": "session", "kind": ""}] if {
	input.facts.session
	not input.facts.allowed
	not input.facts.always_ask
}

# METADATA
# title: Otherwise
# description: >-
#   Nothing decided, so a person is asked. Holds for every document that has facts;
#   one without them leaves the verdict undefined, which every caller must take as a
#   denial.
# labels:
#   step: "7"
#   class: ask
otherwise := question({"step": "7", "decision": "ask", "by": "default", "kind": ""}) if is_object(input.facts)

# METADATA
# title: Question
# description: Class and result of a step that asks. Where nobody can answer, a question is a denial.
question(result) := ["deny_unattended", denial] if {
	input.facts.unattended
	denial := {"step": result.step, "decision": "deny", "by": "unattended", "kind": ""}
} else := ["ask", result]

# METADATA
# title: An ask rule asks
# description: The first two rows of the step, whose reason is better than the third's.
ruled if input.facts.sensitive_ask

ruled if {
	input.facts.asked
	not covered
}

# METADATA
# title: Covered
# description: An allow or session rule outranks the ask rules, unless the settings say askFirst.
covered if {
	input.facts.allowed
	not input.facts.ask_first
}

covered if {
	input.facts.session
	not input.facts.ask_first
}
