package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Fork bomb
# description: A function or script that starts itself twice leaves no process slots to anybody.
# custom:
#   kinds: [command]
#   text: ["(){", "() {", "( )", "()\n", "function ", "$0", "fork"]
deny contains {"id": "fork-bomb", "reason": "the command starts itself over and over and fills the machine with processes"} if {
	some target in input.targets
	_starts_itself(target)
}

_starts_itself(target) if _bomb(_squeezed(target.command))

_starts_itself(target) if {
	squeezed := _squeezed(target.command)
	some part in target.parts
	part.program != ""
	_defines(squeezed, part.program)
	_repeats(squeezed, part.program)
}

# METADATA
# title: Killing every process
# description: Signals to all processes, or to the first one, end every session on the machine.
# custom:
#   programs: [kill, killall5, pkill, killall]
deny contains {"id": "kill-everything", "reason": $"{command.flat} would end every process"} if {
	some command in lib.commands
	_kills_all(lib.base_name(command.program), command.args)
}

# METADATA
# title: Squeezed
# description: A text without blanks.
_squeezed(text) := replace(replace(replace(text, " ", ""), "\t", ""), "\n", "")

_bomb(text) if contains(text, ":(){")

_bomb(text) if regex.match(`(\./)?\$0[|&]+(\./)?\$0`, text)

_bomb(text) if regex.match(`fork\(?\)?(while|until)(true|1|fork)`, text)

_bomb(text) if regex.match(`(while|until)(\(?(true|1)\)?)?[:{]?(os\.)?fork`, text)

_defines(text, name) if contains(text, $"{name}()")

_defines(text, name) if contains(text, $"function{name}")

_repeats(text, name) if contains(text, $"{name}|{name}")

_repeats(text, name) if contains(text, $"{name}&{name}")

_kills_all("killall5", _) := true

_kills_all("kill", args) if {
	some i, word in args
	i > 0
	word in {"-1", "1"}
	every before in array.slice(args, 0, i) {
		before != "-l"
	}
}

_kills_all(program, args) if {
	program in {"pkill", "killall"}
	some word in args
	word in {".", ".*", "init", "systemd", "launchd"}
}

_examples["fork-bomb"] := {
	"bad": [
		{"command": ":(){ :|:& };:", "parts": [[":"], [":"], [":"]]},
		{"command": "bomb() { bomb | bomb & }; bomb", "parts": [["bomb"], ["bomb"], ["bomb"]]},
		{"command": "./$0 | ./$0 &", "parts": [["./$0"], ["./$0"]]},
		{"command": "perl -e 'fork while fork'", "parts": [["perl", "-e", "fork while fork"]]},
	],
	"good": [
		{"command": "build() { make; }; build", "parts": [["make"], ["build"]]},
		{"command": "echo \"$0\"", "parts": [["echo", "$0"]]},
		"git fork-point",
	],
}

_examples["kill-everything"] := {
	"bad": ["kill -9 -1", "kill -KILL -1", "kill -s TERM -1", "kill -9 1", "killall5 -9", "pkill -9 .*"],
	"good": ["kill 1234", "kill -1 1234", "kill -9 4711", "kill -l 1", "pkill node", "kill %1"],
}
