# METADATA
# title: Session rules
# description: What "yes, for this session" covers.
package lictor.session_test

import rego.v2

import data.lictor.session

# METADATA
# title: Cases
# description: The targets of a call of the tool t, and the session rules.
cases := {
	"command": [
		[{"kind": "command", "command": "a b", "grade": "static"}],
		[{"kind": "command", "tool": "t", "command": "a b", "outside_sandbox": false}],
	],
	"command outside the sandbox": [
		[{"kind": "command", "command": "$A", "grade": "dynamic", "outside_sandbox": true}],
		[{"kind": "command", "tool": "t", "command": "$A", "outside_sandbox": true}],
	],
	"unreadable command": [[{"kind": "command", "command": "(", "grade": "unparseable"}], []],
	"host": [[{"kind": "url", "url": "https://h/x", "host": "h"}], [{"kind": "host", "tool": "t", "host": "h"}]],
	"no host": [[{"kind": "url", "url": "x", "host": ""}], []],
	"path": [[{"kind": "path", "path": "a"}, {"kind": "path", "path": "b"}], [{"kind": "tool", "tool": "t"}]],
	"input": [[{"kind": "input"}], [{"kind": "tool", "tool": "t"}]],
	"all or nothing": [[{"kind": "path", "path": "a"}, {"kind": "url", "host": ""}], []],
	"unknown kind": [[{"kind": "other"}], []],
	"no target": [[], []],
}

# METADATA
# title: The table holds
# description: One case each.
test_session[name] if {
	some name, [targets, want] in cases
	got := session.result with input as {"tool": "t", "targets": targets}
	got == {"rules": want}
}

# METADATA
# title: Undefined for faulty input
# description: Without a list of targets there is no answer.
test_faulty if not session.result with input as {"tool": "t", "targets": null}
