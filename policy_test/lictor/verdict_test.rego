# METADATA
# title: Decision cases
# description: The chain as a table. Every row is a call's facts, and what must come of them.
package lictor_test

import rego.v2

import data.lictor

# METADATA
# title: Cases
# description: Facts, then step, decision, by, kind and class, then the steps of the hits.
cases := {
	"nothing is known": [{}, ["7", "ask", "default", "", "ask"], []],
	"nobody can answer": [{"unattended"}, ["7", "deny", "unattended", "", "deny_unattended"], []],
	"unreadable call": [{"input_error"}, ["in", "deny", "input", "", "deny_input"], []],
	"unreadable call of a read-only tool": [{"input_error", "read_only"}, ["in", "deny", "input", "", "deny_input"], ["4"]],
	"team policy": [{"policy"}, ["0", "deny", "policy", "", "deny_policy"], []],
	"team policy outranks every rule": [
		{"policy", "denied", "asked", "allowed", "session", "ask_first"},
		["0", "deny", "policy", "", "deny_policy"], ["3", "3c", "6"],
	],
	"managed deny": [{"managed_deny", "allowed"}, ["0", "deny", "policy", "", "deny_policy"], ["6"]],
	"outside the root": [{"outside", "read_only"}, ["0b", "deny", "outside", "", "deny_outside"], ["4"]],
	"sensitive path": [{"sensitive", "read_only"}, ["1", "deny", "sensitive", "", "deny_sensitive"], ["4"]],
	"sensitive path that an ask rule names": [{"sensitive_ask", "read_only"}, ["3c", "ask", "rule", "", "ask"], ["4"]],
	"an allow rule does not silence that question": [
		{"sensitive_ask", "allowed", "session"},
		["3c", "ask", "rule", "", "ask"], ["6"],
	],
	"that question does not hide a deny rule": [{"sensitive_ask", "denied"}, ["3", "deny", "rule", "", "deny_rule"], ["3c"]],
	"protected path": [{"protected", "allowed"}, ["2", "deny", "rule", "protected", "deny_protected"], ["6"]],
	"protected path in the sandbox": [
		{"protected", "command", "confined"},
		["2", "deny", "rule", "protected", "deny_protected"], ["5"],
	],
	"deny rule": [{"denied", "allowed"}, ["3", "deny", "rule", "", "deny_rule"], ["6"]],
	"deny rule in plan mode": [{"denied", "plan", "command"}, ["3", "deny", "rule", "", "deny_rule"], ["3b"]],
	"plan mode, read-only tool": [{"plan", "read_only"}, ["4", "allow", "read_only", "", "allow_readonly"], []],
	"plan mode, read-only tool and an ask rule": [{"plan", "read_only", "asked"}, ["3c", "ask", "rule", "", "ask"], ["4"]],
	"plan mode, command in the sandbox": [
		{"plan", "command", "confined"},
		["3b", "allow", "sandbox", "", "allow_sandbox"], ["5"],
	],
	"plan mode, unreadable command": [
		{"plan", "command", "confined", "unparseable", "allowed"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["6"],
	],
	"plan mode, command outside the sandbox": [
		{"plan", "command", "allowed"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["6"],
	],
	"plan mode, change": [{"plan", "change", "allowed"}, ["3b", "deny", "rule", "plan", "deny_plan"], ["6"]],
	"plan mode, change beside a sandboxed command": [
		{"plan", "command", "confined", "change"},
		["3b", "deny", "rule", "plan", "deny_plan"], [],
	],
	"plan mode, allow rule": [{"plan", "allowed"}, ["3b", "allow", "rule", "", "allow_rule"], ["6"]],
	"plan mode, session rule": [{"plan", "session"}, ["3b", "deny", "rule", "plan", "deny_plan"], ["6"]],
	"plan mode, always ask": [{"plan", "allowed", "always_ask"}, ["3b", "deny", "rule", "plan", "deny_plan"], []],
	"plan mode, anything else": [{"plan", "unattended"}, ["3b", "deny", "rule", "plan", "deny_plan"], []],
	"plan mode, ask rule": [{"plan", "asked", "allowed"}, ["3b", "deny", "rule", "plan", "deny_plan"], ["6"]],
	"plan mode, ask rule and a sandboxed command": [
		{"plan", "asked", "command", "confined"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["3c", "5"],
	],
	"plan mode, sensitive path that is asked about": [
		{"plan", "sensitive_ask", "allowed"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["3c", "6"],
	],
	"plan mode, outside that is asked about": [
		{"plan", "outside_ask", "allowed"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["3c", "6"],
	],
	"plan mode, managed ask": [
		{"plan", "managed_ask", "allowed"},
		["3b", "deny", "rule", "plan", "deny_plan"], ["3d", "6"],
	],
	"ask rule": [{"asked"}, ["3c", "ask", "rule", "", "ask"], []],
	"ask rule outranks the sandbox": [{"asked", "command", "confined"}, ["3c", "ask", "rule", "", "ask"], ["5"]],
	"ask rule under an allow rule": [{"asked", "allowed"}, ["6", "allow", "rule", "", "allow_rule"], []],
	"ask rule under a session rule": [{"asked", "session"}, ["6", "allow", "session", "", "allow_session"], []],
	"ask rule first": [{"asked", "allowed", "ask_first"}, ["3c", "ask", "rule", "", "ask"], ["6"]],
	"ask first without an ask rule": [{"allowed", "ask_first"}, ["6", "allow", "rule", "", "allow_rule"], []],
	"ask rule, unattended": [{"asked", "unattended"}, ["3c", "deny", "unattended", "", "deny_unattended"], []],
	"outside that is asked about": [{"outside_ask", "allowed"}, ["3c", "ask", "outside", "", "ask"], ["6"]],
	"a rule is the better reason": [{"outside_ask", "asked"}, ["3c", "ask", "rule", "", "ask"], []],
	"outside that is asked about, unattended": [
		{"outside_ask", "unattended"},
		["3c", "deny", "unattended", "", "deny_unattended"], [],
	],
	"managed ask": [{"managed_ask", "read_only"}, ["3d", "ask", "policy", "", "ask"], ["4"]],
	"managed ask, unattended": [{"managed_ask", "unattended"}, ["3d", "deny", "unattended", "", "deny_unattended"], []],
	"read-only tool": [{"read_only", "allowed"}, ["4", "allow", "read_only", "", "allow_readonly"], ["6"]],
	"command in the sandbox": [{"command", "confined"}, ["5", "allow", "sandbox", "", "allow_sandbox"], []],
	"command in the sandbox, unattended": [
		{"command", "confined", "unattended"},
		["5", "allow", "sandbox", "", "allow_sandbox"], [],
	],
	"unreadable command in the sandbox": [{"command", "confined", "unparseable"}, ["7", "ask", "default", "", "ask"], []],
	"sandboxed command and a path": [{"command", "confined", "change"}, ["7", "ask", "default", "", "ask"], []],
	"command outside the sandbox": [{"command"}, ["7", "ask", "default", "", "ask"], []],
	"allow rule": [{"allowed", "session"}, ["6", "allow", "rule", "", "allow_rule"], []],
	"session rule": [{"session"}, ["6", "allow", "session", "", "allow_session"], []],
	"always ask": [{"allowed", "session", "always_ask"}, ["7", "ask", "default", "", "ask"], []],
	"always ask, unattended": [
		{"session", "always_ask", "unattended"},
		["7", "deny", "unattended", "", "deny_unattended"], [],
	],
}

# METADATA
# title: Document of facts
# description: The input document in which the given facts hold.
document(facts) := {"facts": {fact: true | some fact in facts}}

# METADATA
# title: The table holds
# description: One case each.
test_verdict[name] if {
	some name, [facts, [step, decision, by, kind, class], hits] in cases
	got := lictor.verdict with input as document(facts)
	[got.step, got.decision, got.by, got.kind, got.class] == [step, decision, by, kind, class]
	[hit.step | some hit in got.hits] == hits
}

# METADATA
# title: Hits have no class
# description: A hit says step, decision, by and kind, and nothing else.
test_hits_are_closed if {
	got := lictor.verdict with input as document({"policy", "denied", "read_only"})
	every hit in got.hits {
		object.keys(hit) == {"step", "decision", "by", "kind"}
	}
	count(got.hits) == 2
}

# METADATA
# title: False is not a fact
# description: A stock OPA may be given false for what does not hold.
test_false_facts_do_not_hold if {
	got := lictor.verdict with input as {"facts": {"allowed": true, "denied": false, "always_ask": false}}
	got.step == "6"
}

# METADATA
# title: No facts, no verdict
# description: An undefined verdict is an error, which every caller takes as a denial.
test_undefined_without_facts[name] if {
	some name, document in {"empty": {}, "null": {"facts": null}, "list": {"facts": []}}
	not lictor.verdict with input as document
}

# METADATA
# title: Everything that holds
# description: A denial at the top leaves every other step as a hit.
test_hits_in_order if {
	facts := {
		"policy", "outside", "sensitive", "protected", "denied", "asked", "managed_ask", "read_only",
		"command", "confined", "session",
	}
	got := lictor.verdict with input as document(facts)
	[hit.step | some hit in got.hits] == ["0b", "1", "2", "3", "3d", "4", "5", "6"]
}
