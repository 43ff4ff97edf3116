# METADATA
# title: Strict profile
# description: >-
#   Applies the profile. Input {"policy", "profiles"}: the merged team policy or
#   null, and the profiles that the settings of home and project ask for ("" for
#   none). Any of them can turn the strict profile on, none can turn it off.
# schemas:
#   - input: {type: object, properties: {policy: {}, profiles: {type: array, items: {type: string}}}}
package lictor.strict

import rego.v2

# METADATA
# title: Result
# description: >-
#   {"policy", "strict"}: the policy that applies. The strict profile implies
#   requireSandbox. Undefined if the input is not as described.
result := {"policy": object.union(document, {"profile": "strict", "requireSandbox": true}), "strict": true} if {
	valid
	strict
} else := {"policy": input.policy, "strict": false} if {
	valid
}

# METADATA
# title: Strict
# description: Somebody turns the strict profile on.
strict if input.policy.profile == "strict"

strict if "strict" in input.profiles

# METADATA
# title: Document
# description: The policy, or an empty one.
document := {} if {
	input.policy == null
} else := input.policy

# METADATA
# title: Valid input
# description: A misspelt profile must not count as none.
valid if {
	type_name(input.policy) in {"object", "null"}
	object.get(document, "profile", "default") in {"default", "strict"}
	is_array(input.profiles)
	every profile in input.profiles {
		profile in {"", "default", "strict"}
	}
}
