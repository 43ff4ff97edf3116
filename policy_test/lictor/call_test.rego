# METADATA
# title: Calls of examples
# description: The documents that a bundle's examples stand for.
package lictor.call_test

import rego.v2

import data.lictor.lib

# METADATA
# title: Command examples
# description: As text, and with the parts and inner commands that blanks cannot tell.
test_commands if {
	plain := lib.call("git  push https://u@Evil.example:8443/x?y")
	plain.tool == "bash"
	plain.targets[0].parts[0].program == "git"
	plain.targets[0].parts[0].args[0] == "push"
	plain.targets[0].hosts == ["evil.example"]
	rich := lib.call({
		"command": "sudo rm x > /out && ls",
		"parts": [["sudo", "rm", "x"], ["ls"]],
		"inner": [["rm", "x"]],
		"hosts": ["h"],
		"writes": ["/out", "in"],
		"tool": "run_bash",
	})
	rich.tool == "run_bash"
	{command.program | some command in lib.commands} == {"sudo", "rm", "ls"} with input as rich
	rich.targets[0].hosts == ["h"]
	[path.real | some path in rich.targets[0].redirections] == ["/out", "/project/in"]
}

# METADATA
# title: URL examples
# description: The host is what a browser would go to.
test_urls[url] if {
	some url, host in {
		"https://Docs.example/x": "docs.example",
		"http://docs.example:80?x": "docs.example",
		"https://good.example@evil.example/": "evil.example",
		"http://[::1]:80/": "::1",
	}
	got := lib.call({"url": url})
	got.tool == "web_fetch"
	got.targets[0].host == host
}

# METADATA
# title: Path examples
# description: The access tells the tool, unless it is named.
test_paths if {
	written := lib.call({"path": "src/a"})
	[written.tool, written.targets[0].access, written.args.path] == ["write_file", "write", "src/a"]
	read := lib.call({"path": "/etc/x", "access": "read"})
	[read.tool, read.targets[0].real_path] == ["read_file", "/etc/x"]
	named := lib.call({"path": "a", "tool": "edit_file", "args": {"x": 1}})
	[named.tool, named.args] == ["edit_file", {"x": 1}]
}

# METADATA
# title: Other examples
# description: A tool with its arguments.
test_inputs if {
	got := lib.call({"tool": "mcp__x__y", "json": {"a": 1}})
	[got.tool, got.targets[0].kind, got.targets[0].json] == ["mcp__x__y", "input", {"a": 1}]
}

# METADATA
# title: Faulty examples
# description: A misspelt key must not make another call of an example.
test_faulty[name] if {
	some name, example in {
		"blank": " ",
		"number": 1,
		"misspelt": {"command": "ls", "part": []},
		"url and path": {"url": "https://x", "path": "y"},
		"misspelt url": {"url": "https://x", "urls": []},
		"misspelt path": {"path": "x", "acess": "read"},
		"tool alone": {"tool": "x"},
		"unknown access": {"path": "x", "access": "run"},
	}
	not lib.call(example)
}
