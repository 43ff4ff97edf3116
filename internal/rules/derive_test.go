package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDeriveAllowRules(t *testing.T) {
	root := t.TempDir()
	w := newWorld(t, root, t.TempDir())
	root = w.env.Root
	for _, c := range []struct {
		tool, args string
		want       []string
	}{
		{"bash", `{"command":"python3.12 x"}`, nil},
		{"bash", `{"command":"./run.sh"}`, nil},
		{"bash", `{"command":"sudo ls"}`, nil},
		{"bash", `{"command":"export A=b"}`, nil},
		{"bash", `{"command":"ls && declare -x A=b"}`, nil},
		{"bash", `{"command":"echo '$(x)'"}`, nil},
		{"bash", `{"command":"git status && git diff"}`, []string{"Bash(git *)"}},
		{"bash", `{"command":"mkfs.ext4 x"}`, nil},
		{"bash", `{"command":"# nothing"}`, nil},
		{"bash", `{"command":"ls ("}`, nil},
		{"write_file", `{"path":"/home/x","content":""}`, nil},
		{"write_file", `{"path":"/x","content":""}`, nil},
		{"write_file", `{"path":"/USR/local/x","content":""}`, nil},
		{"write_file", `{"path":"/mnt/data/x","content":""}`, []string{"Write(/mnt/data/**)"}},
		{"write_file", `{"path":"/mnt/da[t]a/x","content":""}`, []string{`Write(/mnt/da\[t\]a/**)`}},
		{"read_many_files", `{"paths":["a","b/c","/mnt/x/y"]}`, []string{"Read(" + root + "/**)", "Read(/mnt/x/**)"}},
		{"read_many_files", `{"paths":["a","/etc/passwd"]}`, nil},
		{"copy_file", `{"src":"/mnt/a/b","dst":"c"}`, []string{"Copy(/mnt/a/** -> " + root + "/**)"}},
		{"git", `{"args":["-C","sub","status"]}`, nil}, // the rule would not match the call
		{"git", `{"args":["config","x","y"]}`, nil},
		{"grep", `{"pattern":"x"}`, nil},
		{"fetch_url", `{"url":"https://example.com"}`, nil},
		{"rollback", `{}`, nil},
		{"pr_create", `{}`, nil},
		{"mcp__a__b*", `{}`, nil},
	} {
		q := w.query(t, c.tool, []byte(c.args))
		assert.Equal(t, c.want, DeriveAllowRules(q, w.env, nil), "%s %s", c.tool, c.args)
	}
}

func TestDeriveAllowRulesNormalizesFirst(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	q := w.query(t, "edit_file", []byte(`{"path":"/mnt/worktree-1/a"}`))
	got := DeriveAllowRules(q, w.env, func(abs string) string {
		return strings.Replace(abs, "/mnt/worktree-1", w.env.Root, 1)
	})
	assert.Equal(t, []string{"Edit(" + w.env.Root + "/**)"}, got)
	assert.Equal(t, "/mnt/worktree-1/a", q.Targets[0].Rel, "the query stays as it is")
}

func TestDeriveAllowRulesInAnOddRoot(t *testing.T) {
	w, _ := project(t, nil)
	odd := w.env.Root + "/a [b] {c,d} (e) *"
	mkdir(t, odd)
	w = newWorld(t, odd, t.TempDir())
	got := DeriveAllowRules(w.query(t, "edit_file", []byte(`{"path":"x"}`)), w.env, nil)
	assert.Len(t, got, 1)
	p := open(t, w)
	assert.NoError(t, p.AddAllow(got[0]))
	assert.Equal(t, OutcomeAllow, p.Evaluate(w.query(t, "edit_file", []byte(`{"path":"deep/er"}`))))
	assert.Equal(t, OutcomeDefault, p.Evaluate(w.query(t, "edit_file", []byte(`{"path":"../other"}`))))
}

func TestDeriveDenyRule(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir())
	for _, c := range []struct{ tool, args, want string }{
		{"bash", `{"command":"rm -rf x; ls"}`, "Bash(rm *)"},
		{"bash", `{"command":"/bin/ls"}`, "Bash(ls *)"},
		{"git", `{"args":["-C","/x","push"]}`, "Git(push *)"},
		{"git_push", `{}`, "Git(push *)"},
		{"run_tests", `{"command":"go test"}`, ""},
		{"read_file", `{"path":"x"}`, ""},
	} {
		assert.Equal(t, c.want, DeriveDenyRule(w.query(t, c.tool, []byte(c.args)), w.env), "%s %s", c.tool, c.args)
	}
}
