# METADATA
# title: Findings of managed bundles
# description: What bundles that are loaded beside the policy do to the verdict.
package lictor.findings_test

import rego.v2

import data.lictor
import data.lictor.findings

# METADATA
# title: Bundles
# description: By case, what data.lictor.managed holds, and the decision and step for a call that an allow rule covers.
cases := {
	"none": [{}, "allow", "6"],
	"no finding": [{"a": {"deny": set(), "ask": set()}}, "allow", "6"],
	"deny": [{"a": {"deny": {{"id": "x", "reason": "r"}}}}, "deny", "0"],
	"ask": [{"a": {"ask": {{"id": "x", "reason": "r"}}}}, "ask", "3d"],
	"both": [{"a": {"ask": {{"id": "x", "reason": "r"}}}, "b": {"deny": {{"id": "y", "reason": "r"}}}}, "deny", "0"],
	"deny is a boolean": [{"a": {"deny": true}}, "deny", "0"],
	"deny is false": [{"a": {"deny": false}}, "deny", "0"],
	"ask is text": [{"a": {"ask": "no"}}, "deny", "0"],
	"deny is an object": [{"a": {"deny": {"x": "r"}}}, "deny", "0"],
	"finding without a reason": [{"a": {"deny": {{"id": "x"}}}}, "deny", "0"],
	"finding without an id": [{"a": {"ask": {{"id": "", "reason": "r"}}}}, "deny", "0"],
	"finding with more": [{"a": {"ask": {{"id": "x", "reason": "r", "allow": true}}}}, "deny", "0"],
	"finding is text": [{"a": {"ask": {"x"}}}, "deny", "0"],
	"finding id is a number": [{"a": {"ask": {{"id": 1, "reason": "r"}}}}, "deny", "0"],
}

# METADATA
# title: The chain honours them
# description: One case each.
test_verdict[name] if {
	some name, [managed, decision, step] in cases
	got := lictor.verdict with input as {"facts": {"allowed": true}} with data.lictor.managed as managed
	[got.decision, got.step] == [decision, step]
}

# METADATA
# title: Plan mode honours them
# description: Plan mode never asks.
test_plan_mode if {
	managed := {"a": {"ask": {{"id": "x", "reason": "r"}}}}
	got := lictor.verdict with input as {"facts": {"allowed": true, "plan": true}} with data.lictor.managed as managed
	[got.decision, got.step] == ["deny", "3b"]
}

# METADATA
# title: Nobody can answer
# description: A managed ask is a denial then.
test_unattended if {
	managed := {"a": {"ask": {{"id": "x", "reason": "r"}}}}
	got := lictor.verdict with input as {"facts": {"allowed": true, "unattended": true}} with data.lictor.managed as managed
	[got.decision, got.by, got.step] == ["deny", "unattended", "3d"]
}

# METADATA
# title: Result
# description: Sorted, with the bundle; what is invalid says where.
test_result if {
	managed := {
		"b": {"deny": {{"id": "2", "reason": "r"}, {"id": "1", "reason": "r"}}},
		"a": {"ask": {{"id": "3", "reason": "r"}}, "deny": "?"},
	}
	got := findings.result with data.lictor.managed as managed
	got == {
		"deny": [{"bundle": "b", "id": "1", "reason": "r"}, {"bundle": "b", "id": "2", "reason": "r"}],
		"ask": [{"bundle": "a", "id": "3", "reason": "r"}],
		"invalid": [{"bundle": "a", "rule": "deny"}],
	}
}
