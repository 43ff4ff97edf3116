# METADATA
# title: Calls of examples
# description: What lib.call makes of the examples of a bundle.
package lictor.call_test

import rego.v2

import data.lictor.lib

test_command if {
	call := lib.call("git  push origin https://User@Git.example:8443/x main")
	call.tool == "bash"
	some part in call.targets[0].parts
	part.program == "git"
	part.args == ["push", "origin", "https://User@Git.example:8443/x", "main"]
	call.targets[0].hosts == ["git.example"]
	lib.runs("git", {"push"}) with input as call
	lib.hosts == {"git.example"} with input as call
}

test_parts if {
	call := lib.call({"command": "cd x && sudo rm a > /dev/sda", "parts": [["cd", "x"], ["sudo", "rm", "a"]], "inner": [["rm", "a"]], "writes": ["/dev/sda"], "hosts": ["h"], "tool": "run_bash"})
	call.tool == "run_bash"
	count(call.targets[0].parts) == 2
	lib.runs_any({"rm"}) with input as call
	lib.changes("/dev") with input as call
	call.targets[0].hosts == ["h"]
}

test_path if {
	call := lib.call({"path": "src/x.go", "args": {"content": "x"}})
	call.tool == "write_file"
	call.args == {"content": "x"}
	lib.changes("src") with input as call
	read := lib.call({"path": "/etc/hosts", "access": "read"})
	read.tool == "read_file"
	lib.touches("/etc") with input as read
	not lib.changes("/etc") with input as read
}

test_url[note] if {
	some url, host in {
		"https://example.com": "example.com",
		"https://u:p@Example.com:8443/a@b?c#d": "example.com",
		"http://[fd00:ec2::254]:80/": "fd00:ec2::254",
		"http://example.com?x=//y": "example.com",
		"example.com:80/x": "example.com",
	}
	note := url
	lib.call({"url": url}).targets[0].host == host
}

test_input if {
	lib.call({"tool": "mcp__a__b", "json": {"x": 1}}).targets == [{"kind": "input", "json": {"x": 1}}]
}

test_no_call[note] if {
	some note, example in {
		"empty": "",
		"blank": "  ",
		"number": 1,
		"misspelt": {"comand": "x"},
		"unknown key": {"command": "x", "part": []},
		"two kinds": {"command": "x", "url": "y"},
		"access": {"path": "x", "access": "execute"},
		"json without tool": {"json": {}},
	}
	not lib.call(example)
}
