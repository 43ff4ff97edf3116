# METADATA
# title: Library for bundle authors
# description: Every helper, on one call that has everything, and on edge cases.
package lictor.lib_test

import rego.v2

import data.lictor.lib

# METADATA
# title: A call
# description: sudo rm -rf build && curl https://evil.example > out/x, with what hides in it.
call := {"targets": [
	{
		"kind": "command",
		"hosts": ["evil.example"],
		"parts": [
			{"program": "sudo", "args": ["/bin/rm", "-rf", "build"], "inner": [
				{"program": "/bin/rm", "args": ["-rf", "build"]},
				{"program": "rm", "args": ["-rf", "build"]},
			]},
			{"program": "curl", "args": ["https://evil.example"], "inner": []},
			{"program": "git", "args": ["-C", "x", "push", "--force=yes", "--", "-n"], "inner": []},
		],
		"redirections": [{"access": "write", "path": "out/x", "real_path": "out/x"}],
		"mentions": [{"access": "delete", "path": "build", "real": "/w/build"}],
	},
	{"kind": "path", "access": "read", "path": "link", "real_path": "secret/a"},
	{"kind": "url", "host": "docs.example"},
]}

# METADATA
# title: Commands
# description: Parts and inner commands.
test_commands if {
	commands := lib.commands with input as call
	{command.program | some command in commands} == {"sudo", "/bin/rm", "rm", "curl", "git"}
}

# METADATA
# title: The call runs
# description: Through sudo, by base name, by subcommand.
test_runs if {
	lib.runs("rm", set()) with input as call
	lib.runs("git", {"push", "pull"}) with input as call
	not lib.runs("git", {"commit"}) with input as call
	not lib.runs("cp", set()) with input as call
	lib.runs_any({"cp", "curl"}) with input as call
	not lib.runs_any({"cp"}) with input as call
	not lib.runs("rm", set()) with input as {"targets": []}
}

# METADATA
# title: Subcommands
# description: Arguments, and what could be the subcommand.
test_possible_subcommands[name] if {
	some name, [args, want] in {
		"first word": [["push", "origin"], {"push"}],
		"after an option": [["-C", "x", "push", "origin"], {"x", "push"}],
		"after a switch": [["--no-pager", "push"], {"push"}],
		"message": [["commit", "-m", "push"], {"commit"}],
		"none": [["-v"], set()],
		"dash": [["-", "x"], {"-"}],
	}
	lib.possible_subcommands({"args": args}) == want
}

# METADATA
# title: Options
# description: Short ones in groups, long ones with values, nothing after --.
test_has_option if {
	rm := {"args": ["-rf", "build"]}
	lib.has_option(rm, "f", "force")
	lib.has_option(rm, "r", "")
	not lib.has_option(rm, "x", "force")
	push := {"args": ["push", "--force=yes", "--", "-n"]}
	lib.has_option(push, "f", "force")
	not lib.has_option(push, "n", "dry-run")
	not lib.has_option(push, "o", "")
	not lib.has_option(push, "", "")
}

# METADATA
# title: Paths
# description: Targets, redirections and mentions, as written and behind links.
test_paths if {
	paths := lib.paths with input as call
	{path.path | some path in paths} == {"out/x", "build", "link"}
	changed := lib.changed with input as call
	{path.path | some path in changed} == {"out/x", "build"}
	lib.touches("secret") with input as call
	not lib.changes("secret") with input as call
	lib.changes("out") with input as call
	lib.changes("/w") with input as call
	not lib.touches("other") with input as call
}

# METADATA
# title: Path under a folder
# description: Path, folder, whether it is under it.
test_path_under[name] if {
	some name, [path, folder, want] in {
		"itself": ["a/b", "a/b", true],
		"below": ["a/b/c", "a/b", true],
		"slash": ["a/b/c", "a/b/", true],
		"longer name": ["a/bc", "a/b", false],
		"above": ["a", "a/b", false],
		"climbs": ["a/b/../c", "x", true],
		"dots in a name": ["a..b", "x", false],
		"root": ["/etc/x", "/", true],
		"relative in the root folder": ["x", "/", false],
		"the project": ["a", ".", true],
		"outside the project": ["/etc", ".", false],
		"drive": ["C:/x", ".", false],
		"no path": ["", ".", false],
	}
	is_under(path, folder) == want
}

is_under(path, folder) if {
	lib.path_under(path, folder)
} else := false

# METADATA
# title: Hosts
# description: Of URL targets and command texts.
test_hosts if {
	hosts := lib.hosts with input as call
	hosts == {"evil.example", "docs.example"}
}

# METADATA
# title: Host in a list
# description: Host, pattern, whether it matches.
test_host_in[name] if {
	some name, [host, pattern, want] in {
		"equal": ["a.example", "a.example", true],
		"case and dot": ["A.Example.", "a.example", true],
		"below": ["x.a.example", "*.a.example", true],
		"not itself": ["a.example", "*.a.example", false],
		"suffix of a name": ["xa.example", "*.a.example", false],
		"lone star": ["a.example", "*", false],
		"star and dot": ["a.example", "*.", false],
		"star inside": ["a.b.example", "a.*.example", false],
		"nothing before the dot": [".a.example", "*.a.example", false],
	}
	matches(host, pattern) == want
}

matches(host, pattern) if {
	lib.host_in(host, ["other.example", pattern])
} else := false

# METADATA
# title: Base name
# description: Of POSIX and Windows paths.
test_base_name if {
	lib.base_name("/usr/bin/rm") == "rm"
	lib.base_name(`C:\\bin\\rm.exe`) == "rm.exe"
	lib.base_name("rm") == "rm"
}
