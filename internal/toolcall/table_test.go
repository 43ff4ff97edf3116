package toolcall

import (
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableNames(t *testing.T) {
	table := builtin(t)
	for name, want := range map[string][2]string{
		"Bash": {"bash", "Bash"}, "run_bash": {"bash", "Bash"}, "run_tests": {"run_tests", "Tests"}, "fetch_url": {"web_fetch", "Fetch"},
		"edit": {"edit_file", "Edit"}, "LS": {"list_dir", "List"}, "git_push": {"git_push", "Git"}, "pr_read": {"pr_read", "Github"},
		"mcp__a__b": {"mcp__a__b", "MCP"}, "mcp/a/b": {"mcp__a__b", "MCP"}, "mcp_a_b": {"mcp__a__b", "MCP"},
		"weird": {"weird", ""}, "BASH": {"BASH", ""}, "": {"", ""},
	} {
		assert.Equal(t, want[0], table.Canonical(name), name)
		assert.Equal(t, want[1], table.Class(name), name)
	}
	assert.True(t, table.Known("Bash"))
	assert.False(t, table.Known("bAsh"))
	assert.False(t, table.Known("mcp__a__b"))
	assert.Equal(t, model.KindCommand, table.KindOf("Shell"))
	assert.Equal(t, model.KindInput, table.KindOf("mcp/a/b"))
	assert.Equal(t, model.Kind(""), table.KindOf("weird"))
	assert.Equal(t, "read_file", table.Suggest("raed_file"))
	assert.Equal(t, "", table.Suggest("something else entirely"))
	assert.Contains(t, table.Names(), "run_shell_command")
	assert.NotContains(t, table.Canonicals(), "run_shell_command")
	assert.Equal(t, strings.Fields("Bash Read Write Edit Mkdir Copy Move Delete List Glob Grep Fetch Git Github Memory Tests Rollback MCP"), table.Classes())
	assert.Equal(t, []model.Access{model.AccessRead, model.AccessWrite}, table.AccessOf("Copy"))
	assert.Nil(t, table.AccessOf("Bash"))
	assert.Nil(t, table.AccessOf("bash"))
}

// TestTableIsSafe holds for every entry that ships: what changes is never
// read-only, and the accesses of a class are those that the class promises.
func TestTableIsSafe(t *testing.T) {
	table := builtin(t)
	for name, entry := range table.tools {
		assert.Equal(t, entry.canonical, table.Canonical(entry.canonical), name)
		assert.Equal(t, entry.class, table.Class(entry.canonical), name)
		if entry.readOnly {
			assert.NotEqual(t, model.KindCommand, entry.kind, name)
			assert.NotEqual(t, model.KindURL, entry.kind, name)
		}
		for _, a := range entry.args {
			if entry.readOnly {
				assert.False(t, a.Access.Changes(), name)
			}
			if want := table.AccessOf(entry.class); want != nil && takes[a.Take] == model.KindPath && a.Access != "" {
				assert.Contains(t, want, a.Access, name)
			}
		}
	}
}

func TestWith(t *testing.T) {
	table := builtin(t)
	more, err := table.With([]byte(`{"$comment":["x"],
		"deploy":{"class":"Bash","kind":"command","args":[{"from":["script"],"take":"command"}]},
		"peek":{"is":"read_file"}, "ask_oracle":{"kind":"input","read_only":true}, "my_shell":{"is":"bash"}}`), "settings.json")
	require.NoError(t, err)
	assert.False(t, table.Known("deploy"), "the first table stays as it is")
	d, err := more.Decode(call("deploy", `{"script":"make"}`))
	require.NoError(t, err)
	assert.Equal(t, "make", d.Targets[0].Source)
	assert.Equal(t, "Bash", d.Class)
	d, err = more.Decode(call("peek", `{"path":"x"}`))
	require.NoError(t, err)
	assert.Equal(t, "read_file", d.Tool)
	assert.False(t, d.ReadOnly, "another name of a path tool is never read-only")
	d, err = more.Decode(call("ask_oracle", `{}`))
	require.NoError(t, err)
	assert.True(t, d.ReadOnly)

	for extra, want := range map[string]string{
		`[]`:                                   `settings.json: tools: `,
		`null`:                                 `an object of tools by name is needed`,
		`{"x":1}`:                              `settings.json: tools: "x": `,
		`{"x":{"kind":"input","kind":"path"}}`: `kind: duplicate key`,
		`{"x":{"kinds":"input"}}`:              `kinds: unknown key: did you mean "kind"?`,
		`{"x":{"Kind":"input"}}`:               `Kind: unknown key: did you mean "kind"?`,
		`{"x":{}}`:                             `"x": "kind" is ""`,
		`{"":{"kind":"input"}}`:                `a tool's name has 1 to 200 bytes`,
		`{"bash":{"kind":"input"}}`:            `"bash": the table has this tool already, and additions cannot change it`,
		`{"Bash":{"is":"read_file"}}`:          `the table has this tool already`,
		`{"mcp__a__b":{"kind":"input","read_only":true}}`:                                               `tools of MCP servers need no entry`,
		`{"mcp/a/b":{"kind":"input"}}`:                                                                  `tools of MCP servers need no entry`,
		`{"x":{"kind":"input","class":"MCP"}}`:                                                          `class MCP belongs to tools of MCP servers`,
		`{"x":{"kind":"input","class":"Bosh"}}`:                                                         `"class" is "Bosh"`,
		`{"x":{"kind":"path","class":"Read"}}`:                                                          `no argument gives the tool a path target`,
		`{"x":{"kind":"path","read_only":true,"args":[{"from":["p"],"take":"path","access":"read"}]}}`:  `cannot be "read_only"`,
		`{"x":{"kind":"input","read_only":true,"args":[{"from":["p"],"take":"path","access":"read"}]}}`: `cannot be "read_only"`,
		`{"x":{"kind":"command","read_only":true,"args":[{"from":["p"],"take":"command"}]}}`:            `cannot change paths or run commands`,
		`{"x":{"kind":"url","read_only":true,"args":[{"from":["p"],"take":"url"}]}}`:                    `cannot be "read_only"`,
		`{"x":{"is":"read_file","read_only":true}}`:                                                     `cannot be "read_only"`,
		`{"x":{"is":"bash","class":"Read"}}`:                                                            `another name of "bash" has its class and kind`,
		`{"x":{"is":"Bash"}}`:                                                                           `"is" names "Bash", which is no tool with an entry of its own`,
		`{"x":{"is":"nope"}}`:                                                                           `"is" names "nope"`,
		`{"x":{"kind":"path","args":[{"from":["p"],"take":"path"}]}}`:                                   `a path needs "access"`,
		`{"x":{"kind":"path","args":[{"from":["p"],"take":"path","access":"eat"}]}}`:                    `"access" is "eat"`,
		`{"x":{"kind":"path","args":[{"from":["p"],"take":"path","access":"read","role":"x"}]}}`:        `"role" is "x"`,
		`{"x":{"kind":"path","args":[{"from":[],"take":"path","access":"read"}]}}`:                      `"from" must list`,
		`{"x":{"kind":"path","args":[{"from":["é"],"take":"path","access":"read"}]}}`:                   `"from" must list`,
		`{"x":{"kind":"path","args":[{"from":["p"],"take":"swallow"}]}}`:                                `"take" is "swallow"`,
		`{"x":{"kind":"url","args":[{"from":["p"],"take":"url","access":"read"}]}}`:                     `only paths have "access"`,
		`{"x":{"kind":"input","hint":"fish"}}`:                                                          `"hint" is "fish"`,
		`{"x":{"kind":"input","descriptor":"a {b"}}`:                                                    `"descriptor" has a {`,
	} {
		_, err := table.With([]byte(extra), "settings.json")
		if assert.Error(t, err, extra) {
			assert.Contains(t, err.Error(), want)
			assert.True(t, strings.HasPrefix(err.Error(), "settings.json: tools: "), err.Error())
		}
	}
}

func TestLoadTableRefuses(t *testing.T) {
	for _, text := range []string{``, `{`, `{} x`, `{"a":{"kind":"input"},"a":{"kind":"input"}}`, `{"mcp__a__b":{"kind":"input"}}`, `{"a":{"is":"b"},"b":{"is":"a"}}`} {
		_, err := LoadTable([]byte(text))
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), "tools.json: ")
		}
	}
}
