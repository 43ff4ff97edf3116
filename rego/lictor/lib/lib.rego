# METADATA
# title: Library for bundle authors
# description: >-
#   Questions about a call that a managed bundle may ask. They look at
#   everything that could run or be touched: the parts of a command and what
#   runs inside them (behind sudo, sh -c, xargs …), redirections and mentions
#   beside path targets. That is right for prohibitions, which is all that a
#   bundle can say.
package lictor.lib

import rego.v2

# METADATA
# title: Commands
# description: >-
#   Every simple command that the call could run: the parts of each command
#   target, and the inner commands of each part. Each has program, args, text,
#   canonical and flat.
commands contains part if {
	some target in input.targets
	some part in target.parts
}

commands contains command if {
	some target in input.targets
	some part in target.parts
	some command in part.inner
}

# METADATA
# title: The call runs
# description: >-
#   Holds if some command runs the program (a base name) with one of the
#   subcommands, a set; with an empty set, whatever its arguments are.
runs(program, subcommands) if {
	some command in commands
	itself_runs(command, program, subcommands)
}

# METADATA
# title: The call runs any
# description: Holds if some command runs one of the programs, a set of base names.
runs_any(programs) if {
	some command in commands
	base_name(command.program) in programs
}

# METADATA
# title: A command runs
# description: >-
#   Like runs, for one part or inner command. A part counts with everything that
#   it really runs, so `sudo terraform destroy` is a part that runs terraform.
command_runs(command, program, subcommands) if itself_runs(command, program, subcommands)

command_runs(command, program, subcommands) if {
	some inner in command.inner
	itself_runs(inner, program, subcommands)
}

# METADATA
# title: A command itself runs
# description: Like command_runs, without what a part runs inside.
itself_runs(command, program, subcommands) if {
	base_name(command.program) == program
	subcommands == set()
}

itself_runs(command, program, subcommands) if {
	base_name(command.program) == program
	command.args[0] in subcommands
	not option(command.args[0])
}

itself_runs(command, program, subcommands) if {
	base_name(command.program) == program
	some subcommand in subcommands
	subcommand in command.args
	subcommand in possible_subcommands(command)
}

# METADATA
# title: Possible subcommands
# description: >-
#   The first argument that is no option, and whatever could be it: in
#   `git -C x push` both x and push, since only git knows that -C takes a value.
possible_subcommands(command) := {argument |
	some i, argument in command.args
	not option(argument)
	every before in sure_words(command.args, i) {
		option(before)
	}
}

# METADATA
# title: Words before an argument that cannot be an option's value
# description: The arguments before position i that do not follow an option.
sure_words(args, i) := [args[j] |
	some j, _ in args
	j < i
	not follows_option(args, j)
]

# METADATA
# title: Follows an option
# description: The argument at position i could be the value of the option before it.
follows_option(args, i) if {
	i > 0
	not option(args[i])
	option(args[i - 1])
}

# METADATA
# title: Option
# description: A word that starts with a dash and is not just one, nor two.
option(word) if {
	startswith(word, "-")
	not word in {"-", "--"}
}

# METADATA
# title: A command has an option
# description: >-
#   Holds if the command has the short option (one letter, also inside a group
#   such as -rf) or the long one (with or without =value). "" for none.
has_option(command, short, _) if {
	short != ""
	some word in options(command)
	regex.match(`^-[^-]`, word)
	contains(split(word, "=")[0], short)
}

has_option(command, _, long) if {
	long != ""
	some word in options(command)
	split(word, "=")[0] == $"--{long}"
}

# METADATA
# title: Options
# description: The words that start with a dash, up to a lone --.
options(command) := [word |
	some i, word in command.args
	option(word)
	not "--" in array.slice(command.args, 0, i)
]

# METADATA
# title: Paths
# description: >-
#   Every path that the call touches: path targets, redirections and mentions.
#   Each has access, and path, absolute and real as far as they are known.
paths contains target if {
	some target in input.targets
	target.kind == "path"
}

paths contains redirection if {
	some target in input.targets
	some redirection in target.redirections
}

paths contains mention if {
	some target in input.targets
	some mention in target.mentions
}

# METADATA
# title: Changed paths
# description: The paths that the call could change.
changed contains path if {
	some path in paths
	path.access in {"write", "delete"}
}

# METADATA
# title: The call touches a folder
# description: Holds if a path of the call lies in the folder, as written or behind its links. The folder is relative to the root, or absolute.
touches(folder) if {
	some path in paths
	touched(path, folder)
}

# METADATA
# title: The call changes a folder
# description: Like touches, for writing and deleting.
changes(folder) if {
	some path in changed
	touched(path, folder)
}

# METADATA
# title: A path is touched
# description: Any of the spellings of one path lies in the folder.
touched(path, folder) if {
	some key in ["path", "absolute", "real", "real_path"]
	path_under(path[key], folder)
}

# METADATA
# title: Path under a folder
# description: >-
#   Holds if the path is the folder or lies below it, by whole names: a/bc is not
#   under a/b. Both are clean and use /; a path with .. in it is under every
#   folder, for nobody knows where it leads.
path_under(path, folder) if trim_right(path, "/") == trim_right(folder, "/")

path_under(path, folder) if startswith(path, $"{trim_right(folder, "/")}/")

path_under(path, ".") if {
	path != ""
	not startswith(path, "/")
	not regex.match(`^[A-Za-z]:`, path)
}

path_under(path, _) if ".." in split(path, "/")

# METADATA
# title: Hosts
# description: Every host that the call names, in a URL target or in the text of a command.
hosts contains target.host if {
	some target in input.targets
	target.kind == "url"
}

hosts contains host if {
	some target in input.targets
	some host in target.hosts
}

# METADATA
# title: Host in a list
# description: >-
#   Holds if a pattern is the host, or is *.example.com and the host is below
#   example.com. A lone * matches nothing. Letter case and one trailing dot do
#   not count.
host_in(host, patterns) if {
	some pattern in patterns
	host_matches(normal_host(host), normal_host(pattern))
}

# METADATA
# title: Host matches
# description: One pattern, both sides in normal form.
host_matches(host, pattern) if {
	host == pattern
	not contains(pattern, "*")
}

host_matches(host, pattern) if {
	startswith(pattern, "*.")
	count(pattern) > 2
	endswith(host, substring(pattern, 1, -1))
	count(host) > count(pattern) - 1
}

# METADATA
# title: Host in normal form
# description: Lower case, without one trailing dot.
normal_host(host) := trim_suffix(lower(host), ".")

# METADATA
# title: Base name
# description: The last segment of a program's path.
base_name(program) := name if {
	segments := split(replace(program, `\`, "/"), "/")
	name := segments[count(segments) - 1]
}
