package bundle

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestRoutes(t *testing.T) {
	inner := command("sudo /usr/bin/Terraform destroy", "sudo", "/usr/bin/Terraform", "destroy")
	inner.Targets[0].Parts[0].Inner = []model.Simple{{Program: "/usr/bin/Terraform", Args: []string{"destroy"}}}
	opaque := command("$X", "")
	opaque.Targets[0].Opaque = true
	writes := command("echo x > /dev/sda", "echo", "x")
	writes.Targets[0].Writes = []string{"/dev/sda"}
	resolved := command("echo x > y", "echo", "x")
	resolved.Targets[0].Redirections = []model.PathRef{{Access: model.AccessWrite, Path: model.Path{Text: "y", Real: "/dev/sda"}}}
	named := command("curl https://api.example.com", "curl", "https://api.example.com")
	named.Targets[0].Hosts = []string{"api.example.com"}
	url := &model.Input{Tool: "web_fetch", Targets: []model.Target{{Kind: model.KindURL, Host: model.Host{Host: "2852039166", IP: "169.254.169.254"}}}}
	path := &model.Input{Tool: "write_file", Called: "Write", Targets: []model.Target{{Kind: model.KindPath, Path: model.Path{Rel: ".github/x"}}}}
	none := &model.Input{}
	git := command("git status", "git", "status")

	for _, c := range []struct {
		name  string
		route Route
		input *model.Input
		want  bool
	}{
		{"nothing declared", Route{}, none, true},
		{"program", Route{Programs: []string{"git"}}, git, true},
		{"another program", Route{Programs: []string{"terraform"}}, git, false},
		{"an argument is no program", Route{Programs: []string{"status"}}, git, false},
		{"inner, by its base name in any case", Route{Programs: []string{"terraform"}}, inner, true},
		{"opaque may run anything", Route{Programs: []string{"terraform"}}, opaque, true},
		{"opaque may reach any host", Route{Hosts: []string{"a.example"}}, opaque, true},
		{"opaque may touch any path", Route{Paths: []string{"/dev/"}}, opaque, true},
		{"opaque is still a command", Route{Kinds: []string{"url"}}, opaque, false},
		{"redirection", Route{Paths: []string{"/dev/sd"}}, writes, true},
		{"resolved redirection", Route{Paths: []string{"/dev/sd"}}, resolved, true},
		{"no redirection", Route{Paths: []string{"/dev/sd"}}, git, false},
		{"path target", Route{Paths: []string{".github/"}}, path, true},
		{"host of a command", Route{Hosts: []string{"*.example.com"}}, named, true},
		{"not the domain itself", Route{Hosts: []string{"*.api.example.com"}}, named, false},
		{"any host", Route{Hosts: []string{"*"}}, named, true},
		{"any host, and there is none", Route{Hosts: []string{"*"}}, git, false},
		{"address behind a notation", Route{Hosts: []string{"169.254.169.254"}}, url, true},
		{"kind", Route{Kinds: []string{"url", "path"}}, path, true},
		{"tool", Route{Tools: []string{"write_file"}}, path, true},
		{"tool as the agent calls it", Route{Tools: []string{"Write"}}, path, true},
		{"another tool", Route{Tools: []string{"bash"}}, path, false},
		{"text", Route{Text: []string{"| sh", "git s"}}, git, true},
		{"all lists must fit", Route{Programs: []string{"git"}, Kinds: []string{"url"}}, git, false},
		{"all lists fit", Route{Programs: []string{"git"}, Kinds: []string{"command"}, Tools: []string{"bash"}}, git, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compileRoutes([]Rule{{Route: c.route}})
			assert.Equal(t, c.want, r.apply(c.input))
			if c.input != inner {
				// Only a name with capitals costs an allocation.
				assert.Zero(t, testing.AllocsPerRun(10, func() { r.apply(c.input) }))
			}
		})
	}
	nothing := compileRoutes(nil)
	assert.False(t, nothing.apply(git))
}

// TestDerivedNeed: a rule is skipped for what its own text proves, and for
// nothing else.
func TestDerivedNeed(t *testing.T) {
	for text, want := range map[string]bool{
		// The call is `git status`, with the inner command `less -R`.
		"some c in lib.commands\n lib.command_runs(c, \"git\", {\"push\"})":                            false,
		"some c in lib.commands\n lib.command_runs(c, \"git\", {\"push\", \"status\"})":                true,
		"some c in lib.commands\n lib.command_runs(c, \"git\", set())":                                 true,
		"some c in lib.commands\n c.program == \"npm\"":                                                false,
		"some c in lib.commands\n \"less\" == lib.base_name(c.program)":                                true,
		"some c in lib.commands\n lib.base_name(c.program) in {\"npm\", \"yarn\"}":                     false,
		"some t in input.targets\n some p in t.parts\n p.program == \"npm\"":                           false,
		"some t in input.targets\n some p in t.parts\n some i in p.inner\n i.program == \"less\"":      true,
		"lib.runs(\"npm\", {\"publish\"})":                                                             false,
		"lib.runs_any({\"npm\", \"git\"})":                                                             true,
		"not lib.runs(\"npm\", {\"publish\"})":                                                         true,
		"some c in lib.commands\n not c.program == \"npm\"":                                            true,
		"some c in lib.commands\n c.program != \"npm\"":                                                true,
		"some t in input.targets\n some m in t.mentions\n m.program == \"npm\"":                        true,
		"some c in [{\"program\": \"npm\"}]\n c.program == \"npm\"":                                    true,
		"some c in lib.commands\n c.program == _name":                                                  true,
		"data.lictor.lib.runs(\"npm\", {\"publish\"})":                                                 false,
		"some c in data.lictor.lib.commands\n data.lictor.lib.command_runs(c, \"npm\", {\"publish\"})": false,
		"every c in lib.commands {\n c.program == \"npm\"\n }":                                         true,
		"some c in lib.commands\n lib.command_runs(c, \"git\", {x | some x in [\"push\"]})":            true,
		"x := lib.runs(\"npm\", {\"publish\"})\n x":                                                    true,
		"count([1 | some c in lib.commands; c.program == \"npm\"]) == 0":                               true,
	} {
		t.Run(text, func(t *testing.T) {
			b, err := load(context.Background(), "need", files{
				manifestFile: []byte(`{"revision": "1", "roots": ["lictor/managed/need"]}`),
				"need.rego": []byte("package lictor.managed.need\n\nimport rego.v2\n\nimport data.lictor.lib\n\n_name := \"git\"\n\n_used := lib.commands\n\n" + metadata19 +
					"deny contains {\"id\": \"a\", \"reason\": \"b\"} if {\n " + text + "\n}\n"),
			}, LoadOptions{AllowUnsigned: true})
			require.NoError(t, err)
			call := command("git status", "git", "status")
			call.Targets[0].Parts[0].Inner = []model.Simple{{Program: "less", Args: []string{"-R"}}}
			full, _, err := b.applicable(call)
			require.NoError(t, err)
			assert.Equal(t, want, full != nil)
			if !want {
				// What was skipped has indeed nothing to say.
				input, err := document(call)
				require.NoError(t, err)
				var every subset
				every.add(0)
				deny, _, err := b.findings(context.Background(), every, input)
				require.NoError(t, err)
				assert.Empty(t, deny)
			}
		})
	}
}
