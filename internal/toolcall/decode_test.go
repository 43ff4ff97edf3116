package toolcall

import (
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInputErrors has every input error of SPEC section 1, and what an agent or
// an attacker could send instead of an argument.
func TestInputErrors(t *testing.T) {
	table := builtin(t)
	for _, c := range []struct{ tool, args, want string }{
		{"", `{}`, `: tool: must be a name of 1 to 200 bytes`},
		{"bash", `{`, `bash: arguments: malformed JSON: a key in double quotes is expected (at byte 1)`},
		{"bash", `null`, `bash: arguments: must be a JSON object`},
		{"bash", `["ls"]`, `bash: arguments: must be a JSON object`},
		{"bash", `"ls"`, `bash: arguments: must be a JSON object`},
		{"weird", `[]`, `weird: arguments: must be a JSON object`},
		{"weird", `{"a":1,"a":1}`, `weird: a: duplicate key (at byte 7)`},
		{"mcp__a__b", `{} {}`, `mcp__a__b: arguments: something follows the JSON document: give one document (at byte 3)`},
		{"bash", `{"command":"ls","command":"rm x"}`, `bash: command: duplicate key (at byte 16)`},
		{"bash", `{"command":"ls","c\u006fmmand":"rm x"}`, `bash: command: duplicate key (at byte 16)`},
		{"bash", `{"command":"ls","Command":"rm x"}`, `bash: Command: looks like "command": write it exactly so`},
		{"bash", `{"command":"ls","COMMAND":"rm x"}`, `bash: COMMAND: looks like "command": write it exactly so`},
		{"WebFetch", `{"url":"https://a","uſl":"x","URL":"https://b"}`, `WebFetch: URL: looks like "url": write it exactly so`},
		{"bash", "{\"command\":\"ls\",\"\u212a\":1,\"\u212awd\":1,\"cwd\":\"x\",\"s\u0068ell\":\"bash\",\"\u017fhell\":\"sh\"}", "bash: \u017fhell: looks like \"shell\": write it exactly so"},
		{"bash", `{}`, `bash: command: is missing`},
		{"bash", ``, `bash: command: is missing`},
		{"bash", `{"command":null}`, `bash: command: is missing`},
		{"bash", `{"command":""}`, `bash: command: must not be empty`},
		{"bash", `{"command":" \n\t"}`, `bash: command: must not be empty`},
		{"bash", `{"command":["ls"]}`, `bash: command: must be a string`},
		{"shell", `{"command":[]}`, `shell: command: must not be empty`},
		{"shell", `{"command":["bash","-lc",""]}`, `shell: command: must not be empty`},
		{"bash", `{"command":1}`, `bash: command: must be a string`},
		{"shell", `{"command":["ls",1]}`, `shell: command: must be a string, or a list of a program and its arguments`},
		{"bash", `{"command":{"x":1}}`, `bash: command: must be a string`},
		{"bash", `{"command":"ls","outside_sandbox":"yes"}`, `bash: outside_sandbox: must be true or false`},
		{"Bash", `{"command":"ls","dangerouslyDisableSandbox":1}`, `Bash: dangerouslyDisableSandbox: must be true or false`},
		{"bash", `{"command":"ls","workdir":1}`, `bash: workdir: must be a string`},
		{"bash", `{"command":"ls","workdir":"a","cwd":"b"}`, `bash: cwd: names another folder than the call names already`},
		{"bash", `{"command":"ls","shell":["bash"]}`, `bash: shell: must be a string`},
		{"shell", `{"command":["zsh","-c","ls"],"shell":"bash"}`, `shell: shell: names another shell than the call names already`},
		{"run_tests", `{}`, `run_tests: command: is missing`},
		{"read_file", `{}`, `read_file: path: is missing`},
		{"Read", `{"file_path":""}`, `Read: file_path: must not be empty`},
		{"read_file", `{"path":["a"]}`, `read_file: path: must be a string`},
		{"read_file", `{"path":"https://evil/x"}`, `read_file: path: must be a path, not a URL`},
		{"read_file", `{"path":"file://host/x"}`, `read_file: path: must be a path, not a URL`},
		{"read_many_files", `{"paths":[]}`, `read_many_files: paths: must not be empty`},
		{"read_many_files", `{"paths":["a",2]}`, `read_many_files: paths: must be a string or a list of strings`},
		{"read_many_files", `{"paths":["a",""]}`, `read_many_files: paths: must not be empty`},
		{"copy_file", `{"src":"a"}`, `copy_file: dst: is missing`},
		{"copy_file", `{"dst":"a"}`, `copy_file: src: is missing`},
		{"move_file", `{"src":"a","source":"c","dst":"b"}`, `move_file: src: must be one source with one destination: leave out the other spellings`},
		{"grep", `{}`, `grep: pattern: is missing`},
		{"grep", `{"pattern":"a","query":"b"}`, `grep: query: says something else than "pattern"`},
		{"grep", `{"pattern":"a","path":1}`, `grep: path: must be a string or a list of strings`},
		{"glob", `{"path":"x"}`, `glob: pattern: is missing`},
		{"web_fetch", `{}`, `web_fetch: url: is missing: a URL is needed`},
		{"web_fetch", `{"url":" "}`, `web_fetch: url: must not be empty`},
		{"web_fetch", `{"prompt":"no link here"}`, `web_fetch: url: is missing: a URL is needed`},
		{"WebFetch", `{"prompt":"https://a.com"}`, `WebFetch: url: is missing: a URL is needed`},
		{"fetch_url", `{"url":1}`, `fetch_url: url: must be a string`},
		{"git", `{}`, `git: args: is missing`},
		{"git", `{"args":""}`, `git: args: must not be empty`},
		{"git", `{"args":["git"]}`, `git: args: must not be empty`},
		{"git", `{"args":[1]}`, `git: args: must be a list of strings or one string of shell words`},
		{"git", `{"args":["status"],"command":"push"}`, `git: command: says something else than another argument of the call`},
		{"memory_save", `{"name":"x"}`, `memory_save: scope: is missing`},
		{"memory_save", `{"name":"x","scope":{}}`, `memory_save: scope: must be a string`},
		{"apply_diff", `{}`, `apply_diff: diff: is missing`},
		{"apply_diff", `{"diff":" "}`, `apply_diff: diff: must not be empty`},
		{"lsp_apply_workspace_edit", `{"edit":5}`, `lsp_apply_workspace_edit: edit: must be an object or a list`},
		{"lsp_apply_workspace_edit", `{"edit":{"edits":[{"path":5}]}}`, `lsp_apply_workspace_edit: edit.edits[0].path: must be a string`},
		{"lsp_apply_workspace_edit", `{"edit":{"edits":[{"Path":"x"}]}}`, `lsp_apply_workspace_edit: edit.edits[0].Path: looks like "path": write it exactly so`},
		{"create_and_run_task", `{"task":1}`, `create_and_run_task: task: must be an object`},
		{"create_and_run_task", `{"task":{}}`, `create_and_run_task: task.command: is missing`},
	} {
		_, err := table.Decode(call(c.tool, c.args))
		if assert.Error(t, err, c.tool+c.args) {
			assert.Equal(t, c.want, err.Error(), c.args)
			assert.True(t, IsInputError(err))
		}
	}
}

func TestGitWords(t *testing.T) {
	for text, want := range map[string]string{
		`status`: "status", `git commit -m "a b" --author='x y'`: "commit -m a b --author=x y", `log\ x`: "log x",
		`log -n1 "a\"b" 'c"d'`: `log -n1 a"b c"d`, `commit -m ""`: "commit -m ", `show HEAD~1 a#b`: "show HEAD~1 a#b", `add "*.go"`: "add *.go",
		`log "a\x"`: `log a\x`,
	} {
		d, err := builtin(t).Decode(model.Call{Tool: "git", Args: []byte(`{"args":` + quoteJSON(text) + `}`)})
		require.NoError(t, err, text)
		assert.Equal(t, want, d.Targets[0].Descriptor)
	}
	for _, text := range []string{
		"push; rm x", "push && rm x", "push & x", "log | sh", "log > f", "log < f", "log $(x)", "log `x`", "log $X", `log "$X"`,
		"log \"`x`\"", "log 'x", `log "x`, `log \`, "log \\\nx", "log\nrm x", "log (x)", "log #x", "log \"a\\\nb\"", "log \x00",
	} {
		_, err := builtin(t).Decode(model.Call{Tool: "git", Args: []byte(`{"args":` + quoteJSON(text) + `}`)})
		assert.True(t, IsInputError(err), "%q", text)
	}
	// In a list nothing is shell text.
	d, err := builtin(t).Decode(call("git", `{"args":["commit","-m","a; $(b)"]}`))
	require.NoError(t, err)
	assert.Equal(t, "commit -m a; $(b)", d.Targets[0].Descriptor)
}

func TestReadOnly(t *testing.T) {
	table, yes, no := builtin(t), true, false
	for _, c := range []struct {
		tool, args string
		word       *bool
		want       bool
	}{
		{"read_file", `{"path":"a"}`, nil, true},
		{"read_file", `{"path":"a"}`, &no, false},
		{"write_file", `{"path":"a"}`, &yes, false},
		{"bash", `{"command":"ls"}`, &yes, false},
		{"web_fetch", `{"url":"https://a"}`, &yes, false},
		{"web_search", `{"query":"a"}`, &yes, false},
		{"explore", `{}`, &yes, true},
		{"explore", `{}`, nil, false},
		{"explore", `{}`, &no, false},
		{"mcp__a__b", `{}`, nil, false},
		{"git", `{"args":"status"}`, &yes, false},
		{"git_status", `{}`, nil, true},
		{"git_diff", `{"path":"a b"}`, nil, true},
		{"git_diff", `{"args":"--output=x"}`, nil, false},
		{"git_log", `{"args":["-n1"]}`, nil, false},
		{"git_log", `{"opts":{"a":"b"}}`, nil, false},
		{"git_commit", `{"message":"x"}`, &yes, false},
		{"read_many_files", `{"paths":["*"]}`, nil, false},
		{"read_many_files", `{"paths":["app/[id]/page.tsx"]}`, nil, true},
		{"glob", `{"pattern":"{..,a}/b"}`, nil, false},
	} {
		d, err := table.Decode(model.Call{Tool: c.tool, Args: []byte(c.args), ReadOnly: c.word})
		require.NoError(t, err)
		assert.Equal(t, c.want, d.ReadOnly, "%s %s", c.tool, c.args)
	}
}

// TestTargets has the calls whose targets are more, or others, than one
// argument says.
func TestTargets(t *testing.T) {
	table := builtin(t)
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"a","file_path":"b"}`, `read_file Read path read-only|path read "a"|path read "b"`},
		{"read_file", `{"path":"a","file_path":"a"}`, `read_file Read path read-only|path read "a"`},
		{"read_file", `{"path":"a","file_path":null}`, `read_file Read path read-only|path read "a"`},
		{"read_file", `{"path":"file:///etc/a%20b"}`, `read_file Read path read-only|path read "/etc/a b"`},
		{"read_file", `{"path":"FILE:/etc/passwd"}`, `read_file Read path read-only|path read "/etc/passwd"`},
		{"read_file", `{"path":"a:b"}`, `read_file Read path read-only|path read "a:b"`},
		{"read_file", `{"p\u0061th":"\u00e9\ud83d\ude00\/x"}`, `read_file Read path read-only|path read "é😀/x"`},
		{"read_many_files", `{"paths":"a"}`, `read_many_files Read path read-only|path read "a"`},
		{"read_many_files", `{"paths":["a","b","a"]}`, `read_many_files Read path read-only|path read "a"|path read "b"`},
		{"read_many_files", `{"paths":["*"]}`, `read_many_files Read path unextractable|path read searched "."`},
		{"read_many_files", `{"paths":["/etc/*"]}`, `read_many_files Read path unextractable|path read searched "/etc"`},
		{"bash", `{"command":"ls","cmd":"rm x"}`, `bash Bash command|command "ls"|command "rm x"`},
		{"bash", `{"command":"ls","outside_sandbox":true,"timeout":5,"unknown":{"a":[]}}`, `bash Bash command|command "ls" outside_sandbox`},
		{"bash", `{"command":"ls","outside_sandbox":false,"sandbox_permissions":"use_default"}`, `bash Bash command|command "ls"`},
		{"shell", `{"command":["sh","-c","ls -l"]}`, `bash Bash command hint=sh|command "ls -l"`},
		{"shell", `{"command":["/tmp/bash","-c","ls"]}`, `bash Bash command|command "/tmp/bash -c ls"`},
		{"shell", `{"command":["bash","-c","ls","x"]}`, `bash Bash command|command "bash -c ls x"`},
		{"shell", `{"command":["echo","it's","$(x)",""]}`, `bash Bash command|command "echo 'it'\\''s' '$(x)' ''"`},
		{"shell", `{"command":["powershell.exe","-Command","ls"]}`, `bash Bash command hint=powershell|command "powershell.exe -Command ls"`},
		{"bash", `{"command":"ls","shell":"C:\\x\\PWSH.exe"}`, `bash Bash command hint=powershell|command "ls"`},
		{"bash", `{"command":"ls -l","shell":"/tmp/evil"}`, `bash Bash command|command "/tmp/evil -c 'ls -l'"`},
		{"PowerShell", `{"command":"ls","shell":"bash"}`, `powershell Bash command hint=powershell|command "ls"`},
		{"write_stdin", `{"chars":""}`, `write_stdin Bash command hint=stdin|input`},
		{"grep", `{"pattern":"x","path":"","glob":"!**/a"}`, `grep Grep path read-only|path read searched "." descriptor "x"`},
		{"grep", `{"pattern":"x","paths":["a","b"]}`, `grep Grep path read-only|path read searched "a" descriptor "x"|path read searched "b" descriptor "x"`},
		{"glob", `{"pattern":"/etc/*.conf"}`, `glob Glob path read-only|path list searched "." descriptor "/etc/*.conf"|path list searched "/etc" descriptor "/etc/*.conf"`},
		{"glob", `{"pattern":"a/../../x/*"}`, `glob Glob path read-only|path list searched "." descriptor "a/../../x/*"|path list searched "./../x" descriptor "a/../../x/*"`},
		{"glob", `{"pattern":"~/x"}`, `glob Glob path read-only|path list searched "." descriptor "~/x"|path list searched "~/x" descriptor "~/x"`},
		{"web_fetch", `{"url":"https://a","prompt":"see <https://b/x>, http://a."}`, `web_fetch Fetch url|url "https://a"|url "https://b/x"|url "http://a"`},
		{"web_fetch", `{"prompt":"FTP://a :// x"}`, `web_fetch Fetch url|url "FTP://a"`},
		{"git_diff", `{"path":".env","staged":true,"n":[1, {"b":2,"a":1}]}`, `git_diff Git input|input descriptor "diff n=[1,{\"a\":1,\"b\":2}] path=.env staged=true"|path read searched ".env" descriptor "diff n=[1,{\"a\":1,\"b\":2}] path=.env staged=true"`},
		{"git", `{"args":["log"],"cwd":"/x"}`, `git Git input|input descriptor "log"|path list searched "/x" descriptor "log"`},
		{"lsp_apply_workspace_edit", `{"edit":{"edits":[]}}`, `lsp_apply_workspace_edit Edit path unextractable|input`},
		{"lsp_apply_workspace_edit", `{"edit":"{\"edits\":[{\"path\":\"a\"}]}"}`, `lsp_apply_workspace_edit Edit path|path write "a"`},
		{"apply_diff", `{"diff":"@@ -1 +1 @@\n-a\n+b\n"}`, `apply_diff Edit path unextractable|input`},
		{"apply_diff", `{"diff":"hello"}`, `apply_diff Edit path unextractable|input`},
		{"apply_diff", `{"diff":"@@ -1 +1 @@\n-a\n+b\n","path":"x"}`, `apply_diff Edit path unextractable|path write "x"`},
		{"apply_diff", `{"diff":"copy from a\ncopy to b\n"}`, `apply_diff Edit path|path read source "a"|path write "b"`},
		{"apply_patch", `{"input":"cd sub && apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF"}`, `apply_patch Edit path unextractable|path write "a"`},
		{"apply_patch", `{"input":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n*** End Patch\nEOF\n"}`, `apply_patch Edit path|path write "a"`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: a\n*** End Patch\nrm -rf x"}`, `apply_patch Edit path unextractable|path write "a"`},
		{"apply_patch", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}`, `apply_patch Edit path|path write "x"`},
		{"apply_patch", `{"command":["apply_patch","*** Begin Patch\n*** Delete File: a\n*** End Patch"]}`, `apply_patch Edit path|path delete "a"`},
		{"list_dir", `{"path":""}`, `list_dir List path read-only|path list searched "."`},
		{"rollback", `{}`, `rollback Rollback input|input`},
		{"memory_list", `{}`, `memory_list Memory input read-only|input descriptor "list"`},
	} {
		d, err := table.Decode(call(c.tool, c.args))
		if !assert.NoError(t, err, c.args) {
			continue
		}
		got := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(describeDecoded(d)), "\n    ", "|"), "\n", "")
		assert.Equal(t, c.want, got, c.args)
	}
}

func TestTooManyTargets(t *testing.T) {
	args := `{"paths":["` + strings.Repeat(`a","`, MaxTargets+1) + `b"]}`
	_, err := builtin(t).Decode(call("read_many_files", args))
	assert.EqualError(t, err, "read_many_files: paths: names more than 4096 targets: split the call")
	_, err = builtin(t).Decode(call("web_fetch", `{"prompt":"`+strings.Repeat("http://a http://b http://c http://d http://e http://f http://g http://h http://i http://j http://k http://l http://m http://n http://o http://p http://q http://r http://s http://t ", 2000)+`"}`))
	assert.Error(t, err)
}

func quoteJSON(s string) string {
	b := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", `\u0000`)
	return `"` + b.Replace(s) + `"`
}
