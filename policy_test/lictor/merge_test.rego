# METADATA
# title: Team policy, merged
# description: The table of the merge, key by key.
package lictor.merge_test

import rego.v2

import data.lictor.merge

# METADATA
# title: Cases
# description: The documents of two layers, and the merged policy.
cases := {
	"nobody": [null, null, null],
	"empty": [{}, null, {}],
	"comments": [{"$comment": "why", "network": {"$comment": ["x"]}}, {"$schema": "s"}, {}],
	"strict profile": [{"profile": "strict"}, {"profile": "default"}, {"profile": "strict"}],
	"default profile": [{"profile": "default"}, {}, {"profile": "default"}],
	"commands": [{"disallowedCommands": ["b", "a"]}, {"disallowedCommands": ["c", "a"]}, {"disallowedCommands": ["a", "b", "c"]}],
	"no commands": [{"disallowedCommands": []}, {}, {"disallowedCommands": []}],
	"paths": [{"denyPaths": ["x"]}, {"denyPaths": ["y"]}, {"denyPaths": ["x", "y"]}],
	"hosts": [
		{"network": {"blockedHosts": ["x"]}}, {"network": {"strictAllowlist": true}},
		{"network": {"blockedHosts": ["x"], "strictAllowlist": true}},
	],
	"true wins": [{"requireSandbox": false}, {"requireSandbox": true}, {"requireSandbox": true}],
	"false stays": [{"askFirst": false}, {}, {"askFirst": false}],
	"audit": [
		{"audit": {"enabled": true, "level": "denials"}}, {"audit": {"level": "mutations", "checkpoint": true}},
		{"audit": {"enabled": true, "level": "mutations", "checkpoint": true}},
	],
	"observe": [{"audit": {"observe": true}}, {}, {"audit": {"observe": true}}],
	"observe never": [{"audit": {"observe": true}}, {"audit": {"observe": false}}, {"audit": {"observe": false}}],
	"audit level": [{"audit": {"level": "all"}}, {"audit": {"level": "mutations"}}, {"audit": {"level": "all"}}],
	"models": [{"allowedModels": ["b", "a"]}, {"allowedModels": ["c"]}, {"allowedModels": [["a", "b"], ["c"]]}],
	"merged models": [{"allowedModels": [["a", "b"], ["c"]]}, {"allowedModels": ["c"]}, {"allowedModels": [["a", "b"], ["c"]]}],
	"no limit of models": [{"allowedModels": []}, {"allowedModels": []}, {}],
	"limits": [
		{"limits": {"maxSteps": 30, "tokenBudget": 5000}}, {"limits": {"maxSteps": 10}},
		{"limits": {"maxSteps": 10, "tokenBudget": 5000}},
	],
	"outside": [{"paths": {"outsideRoot": "ask"}}, {"paths": {"outsideRoot": "deny"}}, {"paths": {"outsideRoot": "deny"}}],
}

# METADATA
# title: The table holds
# description: One case each, in both orders.
test_merge[name] if {
	some name, [a, b, want] in cases
	layers := [{"source": "a", "policy": a}, {"source": "b", "policy": b}]
	got := merge.result with input as {"layers": layers}
	got.policy == want
	reversed := merge.result with input as {"layers": array.reverse(layers)}
	reversed.policy == want
}

# METADATA
# title: Faulty layers
# description: A policy that cannot be enforced in full is not enforced in part.
faulty := {
	"unknown key": {"denyPath": ["x"]},
	"unknown inner key": {"network": {"blockedHost": ["x"]}},
	"outer key is no object": {"network": true},
	"list is text": {"denyPaths": "x"},
	"list of numbers": {"denyPaths": [1]},
	"true is text": {"requireSandbox": "yes"},
	"number is text": {"limits": {"maxSteps": "3"}},
	"unknown profile": {"profile": "loose"},
	"unknown level": {"audit": {"level": "some"}},
	"null": {"profile": null},
	"models are text": {"allowedModels": "x"},
	"models of numbers": {"allowedModels": [[1]]},
	"policy is a list": ["x"],
}

# METADATA
# title: Undefined for faulty layers
# description: One case each.
test_faulty[name] if {
	some name, policy in faulty
	not merge.result with input as {"layers": [{"source": "a", "policy": policy}]}
}

# METADATA
# title: Undefined for faulty input
# description: A missing list is not an empty one.
test_faulty_input[name] if {
	some name, document in {
		"no layers": {},
		"layer without a source": {"layers": [{"policy": {}}]},
		"layer without a policy": {"layers": [{"source": "a"}]},
		"source is a number": {"layers": [{"source": 1, "policy": null}]},
	}
	not merge.result with input as document
}

# METADATA
# title: Origins
# description: Every value says which layer set it.
test_origins if {
	layers := [
		{"source": "m", "policy": {"limits": {"maxSteps": 3}, "denyPaths": ["x"], "profile": "default", "allowedModels": ["a"]}},
		{"source": "u", "policy": {"limits": {"maxSteps": 9}, "denyPaths": ["x", "y"], "profile": "strict"}},
	]
	got := merge.result with input as {"layers": layers}
	{[row.key, row.value, row.source] | some row in got.origins} == {
		["limits.maxSteps", 3, "m"],
		["denyPaths", "x", "m"],
		["denyPaths", "x", "u"],
		["denyPaths", "y", "u"],
		["profile", "strict", "u"],
		["allowedModels", ["a"], "m"],
	}
	got.origins[0].source == "m"
}
