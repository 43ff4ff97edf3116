# METADATA
# title: Tests
# description: Every example, each as a case of its own.
package lictor.managed.example_team.test

import rego.v2

import data.lictor.lib
import data.lictor.managed.example_team as bundle

test_bad[note] if {
	some id, examples in bundle._examples
	some example in examples.bad
	note := $"{id}: {example}"
	id in found(lib.call(example))
}

test_good[note] if {
	some id, examples in bundle._examples
	some example in examples.good
	note := $"{id}: {example}"
	not id in found(lib.call(example))
}

# METADATA
# title: Found
# description: The ids of what the bundle says about a call.
found(call) := {finding.id | some finding in findings(call)}

findings(call) := result if {
	result := bundle.deny | bundle.ask with input as call
}
