package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// ruleset is rules by where they are written: `settings` or permission files.
type ruleset struct {
	syntax           model.Syntax
	allow, ask, deny []string
}

func permissions(allow, ask, deny []string) ruleset {
	return ruleset{model.SyntaxPermissions, allow, ask, deny}
}

func settings(allow, ask, deny []string) ruleset {
	return ruleset{model.SyntaxSettings, allow, ask, deny}
}

func (s ruleset) compile(t testing.TB, env Env) (*Set, []Notice) {
	t.Helper()
	var all []model.Rule
	for effect, texts := range map[model.Effect][]string{model.EffectAllow: s.allow, model.EffectAsk: s.ask, model.EffectDeny: s.deny} {
		for _, text := range texts {
			r, err := Parse(text, s.syntax, effect, "file.json")
			require.NoError(t, err)
			all = append(all, r)
		}
	}
	set, notices, err := Compile(all, env)
	require.NoError(t, err)
	return set, notices
}

// call is one call in a compact form; command targets may carry references.
type testCall struct {
	tool, args string
	redirect   map[string]model.Access
	mention    map[string]model.Access
	hosts      []string
}

func (c testCall) query(t testing.TB, w *world) *Query {
	q := w.query(t, c.tool, json.RawMessage(c.args))
	for i := range q.Targets {
		if q.Targets[i].Command == nil {
			continue
		}
		q.Targets[i].Redirections, q.Targets[i].Mentions = nil, nil
		q.Targets[i].Command.Hosts = c.hosts
		for p, access := range c.redirect {
			ref := model.PathRef{Access: access, Part: 0}
			if p == "$dynamic" {
				ref.Dynamic, ref.Text = true, p
			} else {
				ref.Path = w.path(t, p, access, "").Path
			}
			q.Targets[i].Redirections = append(q.Targets[i].Redirections, ref)
		}
		for p, access := range c.mention {
			program := "cat"
			if access == model.AccessWrite {
				program = "mv"
			}
			q.Targets[i].Mentions = append(q.Targets[i].Mentions, model.PathRef{Access: access, Path: w.path(t, p, access, "").Path, Program: program})
		}
	}
	return q
}

func TestMatch(t *testing.T) {
	const (
		covered = "allow"
		denied  = "deny"
		asked   = "ask"
		nothing = ""
	)
	allow := func(rules ...string) []string { return rules }
	ls := func(refs map[string]model.Access) testCall {
		return testCall{tool: "bash", args: `{"command":"ls"}`, redirect: refs}
	}
	for _, c := range []struct {
		name  string
		rules ruleset
		call  testCall
		want  string
	}{
		{"an allow rule of one tool is not for its class", settings(allow("edit_file(src/**)"), nil, nil), testCall{tool: "edit_anchored", args: `{"path":"src/a"}`}, nothing},
		{"a deny rule of one path tool speaks for its class", settings(nil, nil, allow("read_file(x)")), testCall{tool: "read_many_files", args: `{"paths":["a","x"]}`}, denied},
		{"so does a bare one", settings(nil, nil, allow("read_file")), testCall{tool: "read_many_files", args: `{"paths":["a"]}`}, denied},
		{"and one for a command tool", settings(nil, nil, allow("bash(ls)")), testCall{tool: "run_bash", args: `{"command":"ls"}`}, denied},
		{"but it never crosses classes", settings(nil, nil, allow("edit_file(x)")), testCall{tool: "write_file", args: `{"path":"x"}`}, nothing},
		{"tests are not Bash", permissions(nil, nil, allow("Bash(ls)")), testCall{tool: "run_tests", args: `{"command":"ls"}`}, nothing},
		{"a string class's tool rule is for that tool", permissions(nil, nil, allow("pr_read(*)")), testCall{tool: "pr_create", args: `{}`}, nothing},
		{"a permission rule may name a tool", permissions(nil, nil, allow("pr_create(*)")), testCall{tool: "pr_create", args: `{}`}, denied},
		{"a star ends a tool name", settings(allow("read_*"), nil, nil), testCall{tool: "read_many_files", args: `{"paths":["a"]}`}, covered},
		{"also with a pattern", settings(allow("read_*(src/**)"), nil, nil), testCall{tool: "read_file", args: `{"path":"src/a"}`}, covered},
		{"and not for other tools", settings(allow("read_*(src/**)"), nil, nil), testCall{tool: "edit_file", args: `{"path":"src/a"}`}, nothing},
		{"mcp servers by prefix", settings(allow("mcp/github*"), nil, nil), testCall{tool: "mcp/github/x", args: `{}`}, nothing}, // not a name

		{"a bare path rule covers what is inside", settings(allow("read_file"), nil, nil), testCall{tool: "read_file", args: `{"path":"a"}`}, covered},
		{"and nothing outside", settings(allow("read_file"), nil, nil), testCall{tool: "read_file", args: `{"path":"../a"}`}, nothing},
		{"a settings star covers what is inside", settings(allow("read_file(*)"), nil, nil), testCall{tool: "read_file", args: `{"path":"a/b"}`}, covered},
		{"and nothing outside either", settings(allow("read_file(*)"), nil, nil), testCall{tool: "read_file", args: `{"path":"/etc/hosts"}`}, nothing},
		{"two slashes are absolute in settings", settings(allow("read_file(//etc/*)"), nil, nil), testCall{tool: "read_file", args: `{"path":"/etc/hosts"}`}, covered},
		{"a deny pattern at any depth holds outside", settings(nil, nil, allow("read_file(hosts)")), testCall{tool: "read_file", args: `{"path":"/etc/hosts"}`}, denied},

		{"Read stops copies", permissions(nil, nil, allow("Read(secrets/**)")), testCall{tool: "copy_file", args: `{"src":"secrets/k","dst":"x"}`}, denied},
		{"and searches", permissions(nil, nil, allow("Read(secrets/**)")), testCall{tool: "grep", args: `{"pattern":"x","path":"secrets"}`}, denied},
		{"and mentions", permissions(nil, nil, allow("Read(secrets/**)")), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"secrets/k": model.AccessRead}}, denied},
		{"settings rules do too", settings(nil, nil, allow("read_file(secrets/**)")), testCall{tool: "copy_file", args: `{"src":"secrets/k","dst":"x"}`}, denied},
		{"Read does not stop writes", permissions(nil, nil, allow("Read(out)")), ls(map[string]model.Access{"out": model.AccessWrite}), nothing},
		{"Write stops redirections", permissions(allow("Bash(*)"), nil, allow("Write(out)")), ls(map[string]model.Access{"out": model.AccessWrite}), denied},
		{"Edit does too", permissions(allow("Bash(*)"), nil, allow("Edit(out)")), ls(map[string]model.Access{"out": model.AccessWrite}), denied},
		{"and copies onto it", permissions(nil, nil, allow("Write(out)")), testCall{tool: "copy_file", args: `{"src":"a","dst":"out"}`}, denied},
		{"Delete stops rm", permissions(nil, nil, allow("Delete(keep/**)")), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"keep/a": model.AccessDelete}}, denied},
		{"and a move away", permissions(nil, nil, allow("Delete(keep/**)")), testCall{tool: "move_file", args: `{"src":"keep/a","dst":"b"}`}, denied},
		{"Move stops mv", permissions(nil, nil, allow("Move(keep/**)")), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"keep/a": model.AccessWrite}}, denied},
		{"an ask rule asks", permissions(nil, allow("Write(out)"), nil), ls(map[string]model.Access{"out": model.AccessWrite}), asked},
		{"a bare write rule stops every redirection", settings(nil, nil, allow("write_file")), ls(map[string]model.Access{"out": model.AccessWrite}), denied},

		{"a redirection needs a write rule", permissions(allow("Bash(ls *)"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), nothing},
		{"and has one", permissions(allow("Bash(ls *)", "Write(out)"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), covered},
		{"or an edit rule", permissions(allow("Bash(ls *)", "Edit(**)"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), covered},
		{"a mkdir rule is none", permissions(allow("Bash(ls *)", "Mkdir(**)"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), nothing},
		{"settings: a tool of the class", settings(allow("bash(ls*)", "write_file(out)"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), covered},
		{"settings: or bare", settings(allow("bash(ls*)", "edit_file"), nil, nil), ls(map[string]model.Access{"out": model.AccessWrite}), covered},
		{"not for a path outside", settings(allow("bash(ls*)", "edit_file"), nil, nil), ls(map[string]model.Access{"/x/out": model.AccessWrite}), nothing},
		{"unless an absolute rule covers it", permissions(allow("Bash(ls *)", "Write(/x/**)"), nil, nil), ls(map[string]model.Access{"/x/out": model.AccessWrite}), covered},
		{"a read inside needs no rule", permissions(allow("Bash(ls *)"), nil, nil), ls(map[string]model.Access{"in": model.AccessRead}), covered},
		{"a read outside takes coverage away", permissions(allow("Bash(ls *)"), nil, nil), ls(map[string]model.Access{"/x/in": model.AccessRead}), nothing},
		{"a dynamic target needs every path", permissions(allow("Bash(ls *)", "Write(**/*)"), nil, nil), ls(map[string]model.Access{"$dynamic": model.AccessWrite}), nothing},
		{"and has it", permissions(allow("Bash(ls *)", "Write(**)"), nil, nil), ls(map[string]model.Access{"$dynamic": model.AccessWrite}), covered},
		{"or a bare rule", settings(allow("bash(ls*)", "write_file"), nil, nil), ls(map[string]model.Access{"$dynamic": model.AccessWrite}), covered},
		{"a deny rule for every path stops it", permissions(allow("Bash(*)"), nil, allow("Write(**)")), ls(map[string]model.Access{"$dynamic": model.AccessWrite}), denied},
		{"a mention inside changes nothing", permissions(allow("Bash(ls *)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"a": model.AccessRead}}, covered},
		{"a mention outside takes coverage away", permissions(allow("Bash(ls *)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"/x": model.AccessRead}}, nothing},
		{"unless an absolute rule names it", permissions(allow("Bash(ls *)", "Read(/x)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"/x": model.AccessRead}}, covered},
		{"a mention never allows", permissions(allow("Read(**)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, mention: map[string]model.Access{"a": model.AccessRead}}, nothing},

		{"one pattern covers both sides", permissions(allow("Copy(src/**)"), nil, nil), testCall{tool: "copy_file", args: `{"src":"src/a","dst":"src/b"}`}, covered},
		{"or none", permissions(allow("Copy(src/**)"), nil, nil), testCall{tool: "copy_file", args: `{"src":"src/a","dst":"b"}`}, nothing},
		{"braces cover both sides", permissions(allow("Copy({a,b}/**)"), nil, nil), testCall{tool: "copy_file", args: `{"src":"a/x","dst":"b/x"}`}, covered},
		{"one side is enough to deny", permissions(nil, nil, allow("Copy(src/**)")), testCall{tool: "copy_file", args: `{"src":"a","dst":"src/b"}`}, denied},
		{"a pair needs both to deny", permissions(nil, nil, allow("Copy(src/** -> out/**)")), testCall{tool: "copy_file", args: `{"src":"src/a","dst":"b"}`}, nothing},
		{"and has both", permissions(nil, nil, allow("Copy(src/** -> out/**)")), testCall{tool: "copy_file", args: `{"src":"src/a","dst":"out/b"}`}, denied},
		{"the other direction is another pair", permissions(allow("Move(a/* -> c/*)"), nil, nil), testCall{tool: "move_file", args: `{"src":"c/x","dst":"a/x"}`}, nothing},
		{"Copy is not Move", permissions(allow("Copy(**)"), nil, nil), testCall{tool: "move_file", args: `{"src":"a","dst":"b"}`}, nothing},
		{"settings know copies too", settings(allow("copy_file(src/**)"), nil, nil), testCall{tool: "copy_file", args: `{"src":"src/a","dst":"src/b"}`}, covered},

		{"parts by different rules", permissions(allow("Bash(ls *)", "Bash(pwd)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls && pwd"}`}, covered},
		{"blanks of a pattern fold", permissions(allow("Bash(  ls   -l )"), nil, nil), testCall{tool: "bash", args: `{"command":"ls -l"}`}, covered},
		{"nothing covers what cannot be read", settings(allow("bash"), nil, nil), testCall{tool: "bash", args: `{"command":"ls ("}`}, nothing},
		{"a comment has no part", permissions(allow("Bash(ls *)"), nil, nil), testCall{tool: "bash", args: `{"command":"# x"}`}, nothing},
		{"and is covered by a rule for all", permissions(allow("Bash(*)"), nil, nil), testCall{tool: "bash", args: `{"command":"# x"}`}, covered},

		{"hosts in settings", settings(allow("web_fetch(example.com)"), nil, nil), testCall{tool: "web_fetch", args: `{"url":"https://EXAMPLE.com./x"}`}, covered},
		{"not below", settings(allow("web_fetch(example.com)"), nil, nil), testCall{tool: "web_fetch", args: `{"url":"https://a.example.com"}`}, nothing},
		{"below", settings(allow("web_fetch(*.example.com)"), nil, nil), testCall{tool: "web_fetch", args: `{"url":"https://a.b.example.com"}`}, covered},
		{"only below", settings(allow("web_fetch(*.example.com)"), nil, nil), testCall{tool: "web_fetch", args: `{"url":"https://example.com"}`}, nothing},
		{"an address in another notation", settings(nil, nil, allow("web_fetch(127.0.0.1)")), testCall{tool: "web_fetch", args: `{"url":"http://2130706433/"}`}, denied},
		{"other names of a tool are the same tool", settings(nil, nil, allow("web_fetch(evil.test)")), testCall{tool: "fetch_url", args: `{"url":"http://evil.test/"}`}, denied},
		{"the proxy has its own rules", settings(nil, nil, allow("web_fetch(evil.test)")), testCall{tool: "network", args: `{"url":"http://evil.test/"}`}, nothing},
		{"which are these", settings(nil, nil, allow("network(evil.test)")), testCall{tool: "network", args: `{"url":"http://evil.test/"}`}, denied},
		{"a host in a command counts", settings(nil, nil, allow("web_fetch(*.evil.test)")), testCall{tool: "bash", args: `{"command":"ls"}`, hosts: []string{"a.evil.test"}}, denied},
		{"also by its URL", permissions(nil, nil, allow("Fetch(https://evil.test/*)")), testCall{tool: "bash", args: `{"command":"ls"}`, hosts: []string{"evil.test"}}, denied},
		{"but allows nothing", settings(allow("web_fetch(evil.test)"), nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, hosts: []string{"evil.test"}}, nothing},
		{"URL patterns fold the host", permissions(allow("Fetch(https://Example.COM/Docs/*)"), nil, nil), testCall{tool: "fetch_url", args: `{"url":"https://example.com/Docs/a"}`}, covered},
		{"and keep the path", permissions(allow("Fetch(https://example.com/docs/*)"), nil, nil), testCall{tool: "fetch_url", args: `{"url":"https://example.com/Docs/a"}`}, nothing},
		{"an encoded letter hides nothing", permissions(nil, nil, allow("Fetch(https://example.com/private/*)")), testCall{tool: "fetch_url", args: `{"url":"https://example.com/%70rivate//a"}`}, denied},
		{"a percent sign allows no more", permissions(allow("Fetch(https://example.com/private/*)"), nil, nil), testCall{tool: "fetch_url", args: `{"url":"https://example.com/%70rivate/a"}`}, nothing},

		{"git without global options", permissions(nil, nil, allow("Git(push *)")), testCall{tool: "git", args: `{"args":["-C","a b","-c","x=y","push"]}`}, denied},
		{"joined options too", permissions(nil, nil, allow("Git(push *)")), testCall{tool: "git", args: `{"args":["--git-dir=x","--no-pager","push"]}`}, denied},
		{"git in a command counts", permissions(nil, nil, allow("Git(push *)")), testCall{tool: "bash", args: `{"command":"ls && git -C x push -f"}`}, denied},
		{"and asks", permissions(nil, allow("Git(push *)"), nil), testCall{tool: "run_tests", args: `{"command":"git push"}`}, asked},
		{"git rules do not allow commands", permissions(allow("Git(status *)"), nil, nil), testCall{tool: "bash", args: `{"command":"git status"}`}, nothing},
		{"no allow rule covers -c", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["-c","alias.x=!sh","x"]}`}, nothing},
		{"nor --git-dir", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["--git-dir=/x","status"]}`}, nothing},
		{"nor --exec-path", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["--exec-path=/x","status"]}`}, nothing},
		{"nor -C outside", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["-C","../x","status"]}`}, nothing},
		{"nor behind a blank", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["-C","a /../../x","status"]}`}, nothing},
		{"-C inside is fine", permissions(allow("Git(*)"), nil, nil), testCall{tool: "git", args: `{"args":["-C","sub","status"]}`}, covered},
		{"-c of a verb is the verb's", permissions(allow("Git(commit *)"), nil, nil), testCall{tool: "git", args: `{"args":["commit","-c","HEAD"]}`}, covered},

		{"an empty pattern is an empty descriptor", permissions(allow("Rollback()"), nil, nil), testCall{tool: "rollback", args: `{}`}, covered},
		{"and nothing else", permissions(allow("Github()"), nil, nil), testCall{tool: "pr_create", args: `{}`}, nothing},
		{"Grep matches its pattern", permissions(allow("Grep(TODO*)"), nil, nil), testCall{tool: "grep", args: `{"pattern":"TODO x","path":"src"}`}, covered},
		{"not where it searches", permissions(allow("Grep(TODO*)"), nil, nil), testCall{tool: "grep", args: `{"pattern":"x","path":"TODO"}`}, nothing},
		{"and nothing outside", permissions(allow("Grep(*)"), nil, nil), testCall{tool: "grep", args: `{"pattern":"x","path":"/etc"}`}, nothing},
		{"unless a Read rule reaches there", permissions(allow("Grep(*)", "Read(/etc/**)"), nil, nil), testCall{tool: "grep", args: `{"pattern":"x","path":"/etc"}`}, covered},
		{"settings match where it searches", settings(nil, nil, allow("grep(secrets)")), testCall{tool: "grep", args: `{"pattern":"x","path":"secrets"}`}, denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "mcp servers by prefix" {
				_, err := Parse(c.rules.allow[0], model.SyntaxSettings, model.EffectAllow, "")
				require.Error(t, err)
				return
			}
			w := newWorld(t, t.TempDir(), t.TempDir())
			set, _ := c.rules.compile(t, w.env)
			var m Match
			set.Match(c.call.query(t, w), &m)
			got := nothing
			switch {
			case len(m.Deny) > 0:
				got = denied
				assert.Contains(t, c.rules.deny, m.Deny[0].Rule.Text)
				assert.NotEmpty(t, m.Deny[0].Matched)
			case len(m.Ask) > 0:
				got = asked
			case m.Covered:
				got = covered
				assert.NotEmpty(t, m.Allow)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestMatchLooksBehindLinks(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	outside, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, "secrets"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "secrets", "k"), nil, 0o600))
	require.NoError(t, os.Symlink("secrets/k", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "out")))
	w := newWorld(t, root, home)

	match := func(rules ruleset, path string) *Match {
		set, _ := rules.compile(t, w.env)
		m := new(Match)
		set.Match(testCall{tool: "read_file", args: `{"path":"` + path + `"}`}.query(t, w), m)
		return m
	}
	m := match(permissions(nil, nil, []string{"Read(secrets/**)"}), "link")
	require.Len(t, m.Deny, 1)
	assert.True(t, m.Deny[0].ViaReal)
	assert.Equal(t, "secrets/k", m.Deny[0].Matched)

	m = match(permissions(nil, nil, []string{"Read(link)"}), "link")
	require.Len(t, m.Deny, 1)
	assert.False(t, m.Deny[0].ViaReal)

	assert.False(t, match(permissions([]string{"Read(link)"}, nil, nil), "link").Covered, "the real path needs a rule too")
	assert.True(t, match(permissions([]string{"Read(link)", "Read(secrets/*)"}, nil, nil), "link").Covered)
	assert.False(t, match(settings([]string{"read_file"}, nil, nil), "out/x").Covered)

	m = match(permissions([]string{"Read(out/**)"}, nil, nil), "out/x")
	assert.False(t, m.Covered)
	assert.Nil(t, m.Paths[0].AbsAllow)
	m = match(permissions([]string{"Read(out/**)", "Read(" + outside + "/**)"}, nil, nil), "out/x")
	assert.True(t, m.Covered)
	require.NotNil(t, m.Paths[0].AbsAllow)
	assert.Contains(t, m.Paths[0].AbsAllow.Text, outside)
}

func TestMatchNamesSensitiveFiles(t *testing.T) {
	for _, c := range []struct {
		rules ruleset
		tool  string
		path  string
		named bool
	}{
		{settings([]string{"read_file(.env.*)"}, nil, nil), "read_file", ".env.local", true},
		{settings([]string{"read_file(**)"}, nil, nil), "read_file", ".env", false},
		{settings([]string{"read_file(src/**)"}, nil, nil), "read_file", "src/.env", false},
		{settings([]string{"read_file(*)"}, nil, nil), "read_file", ".env", false},
		{settings([]string{"read_file(*.*)"}, nil, nil), "read_file", ".env", false},
		{settings([]string{"read_file"}, nil, nil), "read_file", ".env", false},
		{settings([]string{"read_file(.env)"}, nil, nil), "edit_file", ".env", false},
		{settings([]string{"read_file(.env)"}, nil, nil), "read_many_files", ".env", false},
		{permissions([]string{"Read(**/.ssh/**)"}, nil, nil), "read_file", "a/.ssh/id_rsa", true},
		{permissions([]string{"Read(**/*.pem)"}, nil, nil), "read_file", "a/k.pem", true},
		{permissions([]string{"Read({**,x}/.env)"}, nil, nil), "read_file", "a/.env", true},
	} {
		w := newWorld(t, t.TempDir(), t.TempDir())
		set, _ := c.rules.compile(t, w.env)
		args := `{"path":"` + c.path + `","paths":["` + c.path + `"]}`
		var m Match
		set.Match(testCall{tool: c.tool, args: args}.query(t, w), &m)
		assert.Equal(t, c.named, m.Paths[0].NamedAllow != nil, "%v on %s %s", c.rules, c.tool, c.path)
	}
}

func TestMatchLiftsPathsOutside(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for _, c := range []struct {
		rules      ruleset
		call       testCall
		allow, ask bool
	}{
		{permissions([]string{"Read(/x/**)"}, nil, nil), testCall{tool: "read_file", args: `{"path":"/x/a"}`}, true, false},
		{permissions([]string{"Read(~/n/**)"}, nil, nil), testCall{tool: "read_file", args: `{"path":"~/n/a"}`}, true, false},
		{permissions(nil, []string{"Read(/x/**)"}, nil), testCall{tool: "read_file", args: `{"path":"/x/a"}`}, false, true},
		{permissions([]string{"Write(/x/**)"}, nil, nil), testCall{tool: "read_file", args: `{"path":"/x/a"}`}, false, false},
		{settings(nil, []string{"read_file(/x/**)"}, nil), testCall{tool: "read_file", args: `{"path":"/x/a"}`}, false, false},
		{settings([]string{"read_file(//x/**)"}, nil, nil), testCall{tool: "read_file", args: `{"path":"/x/a"}`}, true, false},
		{permissions([]string{"Copy(** -> /x/**)"}, nil, nil), testCall{tool: "copy_file", args: `{"src":"a","dst":"/x/a"}`}, true, false},
		{permissions(nil, []string{"Copy(** -> /x/**)"}, nil), testCall{tool: "copy_file", args: `{"src":"a","dst":"/x/a"}`}, false, true},
		{permissions([]string{"Write(/x/**)"}, nil, nil), testCall{tool: "bash", args: `{"command":"ls"}`, redirect: map[string]model.Access{"/x/a": model.AccessWrite}}, true, false},
	} {
		set, _ := c.rules.compile(t, w.env)
		var m Match
		set.Match(c.call.query(t, w), &m)
		last := m.Paths[len(m.Paths)-1]
		assert.Equal(t, c.allow, last.AbsAllow != nil, "%+v", c)
		assert.Equal(t, c.ask, last.AbsAsk != nil, "%+v", c)
	}
}

func TestNoticesAndErrors(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for _, c := range []struct {
		syntax model.Syntax
		rule   string
		notice string
	}{
		{model.SyntaxSettings, "web_search(foo)", "never matches"},
		{model.SyntaxSettings, "bahs(rm *)", `no tool of this name is known (did you mean "bash"?)`},
		{model.SyntaxSettings, "web_fetch(*)", "a lone *"},
		{model.SyntaxSettings, "MCP(github/create_issue)", "mcp__SERVER__TOOL"},
		{model.SyntaxSettings, "MCP", ""}, // a tool may be called that
		{model.SyntaxSettings, "Rollback(x)", "permissions.json"},
		{model.SyntaxSettings, "Bash(ls *)", ""},
		{model.SyntaxSettings, "Read(a)", ""},
		{model.SyntaxPermissions, "NotATool(*)", "never matches"},
		{model.SyntaxPermissions, "Fetch(example.com)", "Fetch(https://example.com/*)"},
		{model.SyntaxPermissions, "Fetch(docs.example.com/*)", "never matches"},
		{model.SyntaxPermissions, "Fetch(*.example.com/*)", ""},
		{model.SyntaxPermissions, "Fetch(https://example.com/*)", ""},
		{model.SyntaxPermissions, "Read()", "never matches"},
		{model.SyntaxPermissions, "Bash( )", "never matches"},
		{model.SyntaxPermissions, "Copy(a -> )", "never matches"},
		{model.SyntaxPermissions, "mcp__a__b(x)", "matched against a/b"},
		{model.SyntaxPermissions, "mcp__a__b()", "never matches"},
		{model.SyntaxPermissions, "mcp__a__b(*)", ""},
		{model.SyntaxPermissions, "mcp__a__b(a/*)", ""},
		{model.SyntaxPermissions, "mcp__a__*(x)", ""},
		{model.SyntaxSettings, "explore", ""},
		{model.SyntaxSettings, "mcp__a__b", ""},
		{model.SyntaxSettings, "bash(rm *)", ""},
	} {
		r, err := Parse(c.rule, c.syntax, model.EffectAllow, "file.json")
		require.NoError(t, err)
		_, notices, err := Compile([]model.Rule{r}, w.env)
		require.NoError(t, err)
		if c.notice == "" {
			assert.Empty(t, notices, c.rule)
			continue
		}
		require.NotEmpty(t, notices, c.rule)
		assert.Contains(t, notices[0].String(), c.notice)
		assert.Contains(t, notices[0].String(), "file.json: allow rule "+c.rule)
	}
	for _, rule := range []string{"Read(a[)", "Copy(a -> b{)", "Write({a)"} {
		r, err := Parse(rule, model.SyntaxPermissions, model.EffectDeny, "file.json")
		require.NoError(t, err)
		_, _, err = Compile([]model.Rule{r}, w.env)
		require.ErrorContains(t, err, "file.json")
		assert.ErrorContains(t, err, rule)
		assert.ErrorContains(t, err, "invalid glob")
	}
	r, err := Parse("web_fetch(https://x)", model.SyntaxSettings, model.EffectDeny, "file.json")
	require.NoError(t, err)
	_, _, err = Compile([]model.Rule{r}, w.env)
	assert.ErrorContains(t, err, "file.json")
}

func TestFoldedPaths(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	w.env.Fold = true
	set, _ := permissions([]string{"Read(Docs/**)"}, nil, []string{"Read([s]ecret/Straße)"}).compile(t, w.env)
	var m Match
	set.Match(testCall{tool: "read_file", args: `{"path":"SECRET/STRASSE"}`}.query(t, w), &m)
	assert.Len(t, m.Deny, 1)
	set.Match(testCall{tool: "read_file", args: `{"path":"dOCS/a"}`}.query(t, w), &m)
	assert.True(t, m.Covered)
}

func TestFoldedPairsKeepTheirReadings(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	w.env.Fold = true
	set, _ := permissions([]string{"Copy(A/** -> B/**)"}, nil, []string{"Read(Place)", "Write(Real)"}).compile(t, w.env)
	q := testCall{tool: "copy_file", args: `{"src":"A/One","dst":"B/Two"}`}.query(t, w)
	var m Match
	set.Match(q, &m)
	assert.True(t, m.Covered)
	q.Targets[0].Place = "PLACE"
	q.Targets[1].Moved, q.Targets[1].RealRel, q.Targets[1].RealInside, q.Targets[1].Real = true, "REAL", true, w.env.Root+"/REAL"
	set.Match(q, &m)
	assert.False(t, m.Covered)
	assert.Len(t, m.Deny, 2)
}

func TestUnextractableCallsAreNeverCovered(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	set, _ := settings([]string{"apply_diff"}, nil, []string{"edit_file(x)"}).compile(t, w.env)
	q := testCall{tool: "apply_diff", args: `{"diff":"+++ b/a"}`}.query(t, w)
	var m Match
	set.Match(q, &m)
	assert.True(t, m.Covered)
	q.Unextractable = true
	set.Match(q, &m)
	assert.False(t, m.Covered)
	set.Match(&Query{Tool: "apply_diff", Class: "Edit", Unextractable: true}, &m)
	assert.False(t, m.Covered)
}
