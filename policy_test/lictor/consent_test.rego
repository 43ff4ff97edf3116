# METADATA
# title: Consent
# description: What loosens safety in a project, key by key.
package lictor.consent_test

import rego.v2

import data.lictor.consent

# METADATA
# title: Settings
# description: A settings document and the risks that it holds, as key and value.
cases := {
	"nothing": [{}, {}],
	"safe values": [
		{
			"executor": "os", "paths": {"outsideRoot": "deny"}, "env": {"allow": []}, "tools": {}, "shell": "",
			"web": {"allowLocalhost": false}, "permissions": {"deny": ["a"], "ask": ["b", "read_file(/src/**)"]},
			"formatters": {"commands": {"x": false}}, "network": {"allow": null}, "sandbox": {"denyRead": ["x"]},
		},
		{},
	],
	"auto": [{"executor": "auto"}, {}],
	"host": [{"executor": "host"}, {"executor": "host"}],
	"landlock": [{"executor": "landlock"}, {"executor": "landlock"}],
	"unknown executor": [{"executor": 1}, {"executor": 1}],
	"allow rules": [{"permissions": {"allow": ["bash"]}}, {"permissions.allow": ["bash"]}],
	"ask rules that name a place": [
		{"permissions": {"ask": ["a(~/x)", "b(x)", "c(//etc/y)", "d(../z)", "copy_file(a -> ~/b)", 7]}},
		{"permissions.ask": ["a(~/x)", "c(//etc/y)", "d(../z)", "copy_file(a -> ~/b)", 7]},
	],
	"ask is no list": [{"permissions": {"ask": "x"}}, {"permissions.ask": "x"}],
	"ask is null": [{"permissions": {"ask": null}}, {}],
	"writable folders": [{"sandbox": {"writePaths": ["~"]}}, {"sandbox.writePaths": ["~"]}],
	"environment": [{"env": {"allow": ["X"]}}, {"env.allow": ["X"]}],
	"network": [{"network": {"allow": ["npm"]}}, {"network.allow": ["npm"]}],
	"localhost": [{"web": {"allowLocalhost": true}}, {"web.allowLocalhost": true}],
	"formatters": [
		{"formatters": {"enabled": true, "commands": {"a": {"command": ["x"]}, "b": false}}},
		{"formatters.commands": {"a": {"command": ["x"]}}},
	],
	"formatters are a list": [{"formatters": {"commands": ["x"]}}, {"formatters.commands": ["x"]}],
	"outside": [{"paths": {"outsideRoot": "ask"}}, {"paths.outsideRoot": "ask"}],
	"tools": [{"tools": {"x": {}}}, {"tools": {"x": {}}}],
	"shell": [{"shell": "zsh"}, {"shell": "zsh"}],
}

# METADATA
# title: The table holds
# description: One case each.
test_settings[name] if {
	some name, [settings, want] in cases
	got := consent.result with input as {"source": "s", "settings": settings, "files": []}
	{risk.key: risk.value | some risk in got.risks} == want
	every risk in got.risks {
		risk.source == "s"
	}
}

# METADATA
# title: Permission files
# description: There a leading slash is absolute.
test_files if {
	files := [
		{"source": "b", "permissions": {"allow": ["Bash(go *)"], "ask": ["Read(/etc/x)", "Read(src/**)"]}},
		{"source": "a", "permissions": {"allow": [], "deny": ["Read(/x)"]}},
		{"source": "c", "permissions": {"ask": ["Copy(a -> /x)", "Read({/a,b})"]}},
	]
	got := consent.result with input as {"source": "s", "settings": {"executor": "host"}, "files": files}
	got.risks == [
		{"key": "permissions.allow", "value": ["Bash(go *)"], "source": "b"},
		{"key": "permissions.ask", "value": ["Read(/etc/x)"], "source": "b"},
		{"key": "permissions.ask", "value": ["Copy(a -> /x)", "Read({/a,b})"], "source": "c"},
		{"key": "executor", "value": "host", "source": "s"},
	]
}

# METADATA
# title: Undefined for faulty input
# description: A missing list is not an empty one.
test_faulty[name] if {
	some name, document in {
		"no settings": {"source": "s", "files": []},
		"no files": {"source": "s", "settings": {}},
		"no source": {"settings": {}, "files": []},
		"file without permissions": {"source": "s", "settings": {}, "files": [{"source": "a"}]},
	}
	not consent.result with input as document
}
