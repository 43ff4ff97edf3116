# METADATA
# scope: subpackages
# title: The lictor policy
# description: Everything below this package reads the input document of schemas/input.json, unless it says otherwise.
# schemas:
#   - input: schema

# METADATA
# title: The verdict
# description: What the steps of package lictor.chain come to.
package lictor

import rego.v2

import data.lictor.chain

# METADATA
# title: Verdict
# description: >-
#   The first step that holds decides; the others are its hits, for explanations and
#   the audit. There is no default: an undefined verdict is an error, and every
#   caller denies on an error.
# entrypoint: true
verdict := object.union(decision, {"class": class, "hits": hits}) if {
	steps := sort(chain.steps)
	[_, class, decision] := steps[0]
	hits := [hit | some [_, _, hit] in array.slice(steps, 1, count(steps))]
} else := object.union(decision, {"class": class, "hits": []}) if {
	[class, decision] := chain.otherwise
}
