# METADATA
# title: Findings of managed bundles
# description: >-
#   Collects what the packages lictor.managed.<bundle> say. A finding is an
#   object with an id and a reason; whatever else a bundle's deny or ask may be
#   is invalid, and an invalid finding denies.
package lictor.findings

import rego.v2

# METADATA
# title: Result
# description: All findings, sorted, each with the bundle that it comes from.
result := {"deny": sort(deny), "ask": sort(ask), "invalid": sort(invalid)}

# METADATA
# title: Some bundle denies
# description: Holds for an invalid finding too.
denies if count(deny) + count(invalid) > 0

# METADATA
# title: Some bundle asks
# description: Holds if a bundle wants a question.
asks if count(ask) > 0

# METADATA
# title: Denials
# description: The well-formed deny findings.
deny contains {"bundle": bundle, "id": finding.id, "reason": finding.reason} if {
	some bundle
	findings := data.lictor.managed[bundle].deny
	is_set(findings)
	some finding in findings
	well_formed(finding)
}

# METADATA
# title: Questions
# description: The well-formed ask findings.
ask contains {"bundle": bundle, "id": finding.id, "reason": finding.reason} if {
	some bundle
	findings := data.lictor.managed[bundle].ask
	is_set(findings)
	some finding in findings
	well_formed(finding)
}

# METADATA
# title: Invalid findings
# description: What breaks the contract, by bundle and rule.
invalid contains {"bundle": bundle, "rule": rule} if {
	some rule in ["deny", "ask"]
	some bundle
	findings := data.lictor.managed[bundle][rule]
	not is_set(findings)
}

invalid contains {"bundle": bundle, "rule": rule} if {
	some rule in ["deny", "ask"]
	some bundle
	findings := data.lictor.managed[bundle][rule]
	is_set(findings)
	some finding in findings
	not well_formed(finding)
}

# METADATA
# title: Well-formed
# description: Exactly an id and a reason, both text that is not empty.
well_formed(finding) if {
	is_object(finding)
	object.keys(finding) == {"id", "reason"}
	is_string(finding.id)
	is_string(finding.reason)
	finding.id != ""
	finding.reason != ""
}
