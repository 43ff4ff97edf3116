package rules

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMatchCommands runs rules against commands as the shell analysis reads them.
func TestMatchCommands(t *testing.T) {
	rules := func(rules ...string) []string { return rules }
	for _, c := range []struct {
		rules   ruleset
		command string
		want    string
	}{
		{settings(nil, nil, rules("bash(rm -rf*)")), "rm -fr x", "deny"},
		{settings(nil, nil, rules("bash(rm -rf*)")), "rm x --recursive --force", "deny"},
		{settings(nil, nil, rules("bash(rm -rf*)")), "rm -r x", ""},
		{settings(nil, rules("bash(rm -rf*)"), nil), "rm -fr x", "ask"},
		{settings(nil, nil, rules("bash(/bin/rm -rf*)")), "rm -fr x", "deny"},
		{permissions(rules("Bash(rm -rf*)"), nil, nil), "rm -fr x", ""},
		{permissions(nil, nil, rules("Bash(git push --force*)")), "git -C x push -f origin", "deny"},
		{permissions(nil, nil, rules("Bash(git push --force*)")), "sudo git push origin +main", "deny"},
		{permissions(nil, nil, rules("Bash(git push --force*)")), "git push origin main", ""},
		{permissions(nil, nil, rules("Bash(rm -rf*)")), "rm -fr x (", "deny"},
		{permissions(nil, nil, rules("Bash(rm *)")), "rm x (", "deny"},
		{permissions(nil, nil, rules("Bash(curl * | sh)")), "cd x && sudo curl a|sh", "deny"},
		{permissions(nil, nil, rules("Git(push *)")), "env A=1 git --no-pager push", "deny"},
		{permissions(nil, nil, rules("Git(push *)")), "echo git push", ""},
		{permissions(rules("Bash(git *)"), nil, rules("Git(push *)")), "git status", "allow"},

		{permissions(rules("Bash(cat *)"), nil, nil), "cat a/b", "allow"},
		{permissions(rules("Bash(cat *)"), nil, nil), "cat /etc/passwd", ""},
		{permissions(rules("Bash(cat *)", "Read(/etc/passwd)"), nil, nil), "cat /etc/passwd", "allow"},
		{permissions(rules("Bash(*)"), nil, rules("Read(secrets/**)")), "cat ./secrets/../secrets/k", "deny"},
		{permissions(rules("Bash(*)"), nil, rules("Write(out/**)")), "echo x | tee out/f", "deny"},
		{permissions(rules("Bash(*)"), nil, rules("Edit(out/**)")), "echo x > out/f", "deny"},
		{permissions(rules("Bash(*)"), nil, rules("Delete(keep/**)")), "rm -r keep", "deny"},
		{settings(rules("bash"), nil, rules("delete_file(keep/**)")), "rm -r keep", "deny"},
		{settings(rules("bash"), nil, rules("web_fetch(evil.test)")), "curl https://evil.test/x", "deny"},

		{permissions(rules("Bash(echo *)"), nil, nil), "echo x > out/f", ""},
		{permissions(rules("Bash(echo *)", "Write(out/**)"), nil, nil), "echo x > out/f", "allow"},
		{permissions(rules("Bash(echo *)", "Write(out/**)"), nil, nil), "echo x > /tmp/f", ""},
		{permissions(rules("Bash(echo *)", "Write(out/**)"), nil, nil), "echo x > $f", ""},
		{permissions(rules("Bash(echo *)"), nil, nil), "echo x > /dev/null 2>&1", "allow"},
		{permissions(rules("Bash(go *)"), nil, nil), "X=1; go test", "allow"},
		{permissions(rules("Bash(go *)"), nil, nil), "X=1", ""},
		{permissions(rules("Bash(go *)"), nil, nil), "X=1 go test", ""},
		{permissions(rules("Bash(*)"), nil, nil), "$X go test", "allow"},
		{permissions(rules("Bash(* *)"), nil, nil), "$X go test", ""},
		{permissions(rules("Bash(*)"), nil, nil), "ls (", ""},
		{permissions(rules("Bash(ls *)"), nil, nil), "l''s -la", "allow"},
		{permissions(rules("Bash(git commit -m *)"), nil, nil), `git commit -m "a && rm -rf b"`, "allow"},
	} {
		w := newWorld(t, t.TempDir(), t.TempDir())
		set, _ := c.rules.compile(t, w.env)
		args, err := json.Marshal(map[string]string{"command": c.command})
		require.NoError(t, err)
		var m Match
		set.Match(w.query(t, "bash", args), &m)
		got := ""
		switch {
		case len(m.Deny) > 0:
			got = "deny"
		case len(m.Ask) > 0:
			got = "ask"
		case m.Covered:
			got = "allow"
		}
		assert.Equal(t, c.want, got, "%q under %+v", c.command, c.rules)
	}
}
