# METADATA
# title: Strict profile
# description: Any source turns it on, none turns it off.
package lictor.strict_test

import rego.v2

import data.lictor.strict

# METADATA
# title: Cases
# description: Policy, profiles, resulting policy, whether it is strict.
cases := {
	"nobody": [null, ["", "default"], null, false],
	"project": [null, ["", "strict"], {"profile": "strict", "requireSandbox": true}, true],
	"policy": [{"profile": "strict"}, ["default"], {"profile": "strict", "requireSandbox": true}, true],
	"explicit false": [{"requireSandbox": false}, ["strict"], {"profile": "strict", "requireSandbox": true}, true],
	"default": [{"denyPaths": ["x"]}, ["default"], {"denyPaths": ["x"]}, false],
}

# METADATA
# title: The table holds
# description: One case each.
test_strict[name] if {
	some name, [policy, profiles, want, on] in cases
	got := strict.result with input as {"policy": policy, "profiles": profiles}
	got == {"policy": want, "strict": on}
}

# METADATA
# title: Undefined for faulty input
# description: A misspelt profile must not count as none.
test_faulty[name] if {
	some name, document in {
		"unknown profile": {"policy": null, "profiles": ["strickt"]},
		"unknown profile in the policy": {"policy": {"profile": "loose"}, "profiles": []},
		"no profiles": {"policy": null},
		"no policy": {"profiles": []},
		"policy is a list": {"policy": [], "profiles": ["strict"]},
	}
	not strict.result with input as document
}
