package lictor.lib

import rego.v2

# METADATA
# title: Call
# description: >-
#   The input document of an example, for tests and for the table _examples of a
#   bundle. An example is the text of one simple command without quotes; or an
#   object: {"command", "parts"?, "inner"?, "hosts"?, "writes"?, "mentions"?} where
#   parts and inner are lists of words for what blanks cannot tell, and mentions
#   are {"program", "access", "path"}; {"url"}; {"path",
#   "access"?, "args"?}; or {"tool", "json"}. Everything may also have "tool".
#   Undefined for anything else.
call(example) := document("bash", [command_target({"command": example})]) if {
	is_string(example)
	trim_space(example) != ""
}

call(example) := document(object.get(example, "tool", "bash"), [command_target(example)]) if {
	is_string(example.command)
	not example.url
	not example.path
	known_keys(example, {"command", "parts", "inner", "hosts", "writes", "mentions", "tool"})
}

call(example) := document(object.get(example, "tool", "web_fetch"), [target]) if {
	is_string(example.url)
	not example.command
	not example.path
	known_keys(example, {"url", "tool"})
	target := {"kind": "url", "url": example.url, "host": url_host(example.url)}
}

call(example) := object.union(document(tool, [target]), {"args": object.get(example, "args", {"path": example.path})}) if {
	is_string(example.path)
	not example.command
	not example.url
	known_keys(example, {"path", "access", "tool", "args"})
	tools := {"read": "read_file", "write": "write_file", "delete": "delete_file", "list": "list_dir"}
	access := object.get(example, "access", "write")
	tool := object.get(example, "tool", tools[access])
	target := object.union({"kind": "path", "access": access}, located(example.path))
}

call(example) := document(example.tool, [{"kind": "input", "json": example.json}]) if {
	known_keys(example, {"tool", "json"})
	object.keys(example) == {"tool", "json"}
}

# METADATA
# title: Known keys
# description: A misspelt key of an example must not make another call of it.
known_keys(example, known) if {
	is_object(example)
	count(object.keys(example) - known) == 0
}

# METADATA
# title: Document of an example
# description: A call in build mode without sandbox, in /project, by a user whose home is /home/user.
document(tool, targets) := {
	"tool": tool,
	"read_only": false,
	"mode": "build",
	"isolation": "none",
	"unattended": false,
	"root": "/project",
	"home": "/home/user",
	"targets": targets,
	"facts": {},
}

# METADATA
# title: Command target of an example
# description: The parts are given, or the text is one simple command.
command_target(example) := {
	"kind": "command",
	"command": example.command,
	"dialect": "bash",
	"opaque": false,
	"grade": "static",
	"parts": [part(words, inner) | some words in parts],
	"lines": [example.command],
	"writes": writes,
	"reads": [],
	"hosts": object.get(example, "hosts", named_hosts),
	"redirections": [object.union({"access": "write", "part": 0}, located(path)) | some path in writes],
	"mentions": [object.union(object.filter(mention, {"access", "program", "part"}), located(mention.path)) | some mention in mentions],
} if {
	mentions := [object.union({"part": 0}, mention) | some mention in object.get(example, "mentions", [])]
	words := split_words(example.command)
	parts := object.get(example, "parts", [words])
	inner := object.get(example, "inner", [])
	writes := object.get(example, "writes", [])
	named_hosts := [url_host(word) | some word in words; contains(word, "://")]
}

# METADATA
# title: Words
# description: What blanks separate.
split_words(text) := [word | some word in split(text, " "); word != ""]

# METADATA
# title: Part of an example
# description: One simple command, and what runs in it.
part(words, inner) := object.union(simple(words), {"inner": [simple(each) | some each in inner]})

# METADATA
# title: Simple command
# description: A command of plain words.
simple(words) := {
	"text": concat(" ", words),
	"canonical": concat(" ", words),
	"flat": concat(" ", words),
	"program": words[0],
	"args": array.slice(words, 1, count(words)),
}

# METADATA
# title: Located path
# description: A path of an example as the disk would tell it, without links.
located(path) := {"path_text": path, "path": path, "absolute": path, "real": path, "real_path": path} if {
	startswith(path, "/")
}

located(path) := {
	"path_text": path,
	"path": path,
	"absolute": $"/project/{path}",
	"real": $"/project/{path}",
	"real_path": path,
	"inside": true,
	"real_inside": true,
} if {
	not startswith(path, "/")
}

# METADATA
# title: Host of a URL
# description: The host in the text of a URL, in lower case, without user, port and brackets.
url_host(url) := trim_left(split(authority, "]")[0], "[") if {
	authority := url_authority(url)
	startswith(authority, "[")
}

url_host(url) := split(authority, ":")[0] if {
	authority := url_authority(url)
	not startswith(authority, "[")
}

# METADATA
# title: Authority of a URL
# description: What stands between the scheme and the path, without the user.
url_authority(url) := lower(users[count(users) - 1]) if {
	pieces := split(url, "://")
	rest := pieces[count(pieces) - 1]
	users := split(split(split(split(rest, "/")[0], "?")[0], "#")[0], "@")
}
