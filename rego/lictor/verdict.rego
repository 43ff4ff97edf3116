# METADATA
# scope: subpackages
# title: The lictor policy
# description: Everything below this package reads the input document of schemas/input.json, unless it says otherwise.
# schemas:
#   - input: schema

# METADATA
# title: The chain
# description: >-
#   The ordered chain of steps. The first step that holds decides. Each step is a
#   rule of its own that says when it holds; a fact that stands in a line below
#   besides is one that the step cannot hold without, so that the index skips the
#   line where it is missing.
package lictor

import rego.v2

import data.lictor.steps

# METADATA
# title: Verdict
# description: >-
#   One line per step, in the order in which they decide. There is no default:
#   an undefined verdict is an error, and every caller denies on an error.
# entrypoint: true
verdict := decided(steps.invalid.result) if input.facts.input_error # in: the call cannot be read

else := decided(step) if step := steps.policy.result # 0: team policy, managed deny

else := decided(steps.outside.result) if input.facts.outside # 0b: outside the root

else := decided(steps.sensitive.result) if input.facts.sensitive # 1: sensitive path

else := decided(steps.protected.result) if input.facts.protected # 2: protected path or command

else := decided(steps.denied.result) if input.facts.denied # 3: deny rule

else := decided(steps.planning.result) if input.facts.plan # 3b: plan mode

else := decided(step) if step := steps.asked.result # 3c: ask rule

else := decided(step) if step := steps.managed_ask.result # 3d: managed ask

else := decided(steps.read_only.result) if input.facts.read_only # 4: read-only tool

else := decided(steps.sandboxed.result) if input.facts.command # 5: OS sandbox

else := decided(step) if step := steps.allowed.result # 6: allow or session rule

else := decided(steps.otherwise.result) # 7: otherwise

# METADATA
# title: Decided
# description: The deciding result, together with the lower-ranked steps that hold too, for explanations and the audit.
decided(result) := object.union(result, {"hits": hits}) if {
	hits := [object.remove(hit, ["class"]) |
		some [step, name] in candidates
		step != result.step
		hit := steps[name].result
	]
}

# METADATA
# title: Steps that may hold
# description: >-
#   Step and name of every step with a fact that it cannot hold without, one line
#   for each; the set keeps them in the order of the chain. What holds besides
#   the first ranks lower. The last step only holds where no other does.
candidates contains ["0", "policy"] if input.facts.policy

candidates contains ["0", "policy"] if input.facts.managed_deny

candidates contains ["0", "policy"] if data.lictor.managed

candidates contains ["0b", "outside"] if input.facts.outside

candidates contains ["1", "sensitive"] if input.facts.sensitive

candidates contains ["2", "protected"] if input.facts.protected

candidates contains ["3", "denied"] if input.facts.denied

candidates contains ["3b", "planning"] if input.facts.plan

candidates contains ["3c", "asked"] if input.facts.asked

candidates contains ["3c", "asked"] if input.facts.sensitive_ask

candidates contains ["3c", "asked"] if input.facts.outside_ask

candidates contains ["3d", "managed_ask"] if input.facts.managed_ask

candidates contains ["3d", "managed_ask"] if data.lictor.managed

candidates contains ["4", "read_only"] if input.facts.read_only

candidates contains ["5", "sandboxed"] if input.facts.confined

candidates contains ["6", "allowed"] if input.facts.allowed

candidates contains ["6", "allowed"] if input.facts.session
