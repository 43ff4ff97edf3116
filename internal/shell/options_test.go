package shell

import (
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOptionPatterns(t *testing.T) {
	tests := []struct {
		pattern, command string
		covers           bool
	}{
		{"rm -rf*", "rm -rf x", true},
		{"rm -rf*", "rm -fr x", true},
		{"rm -rf*", "rm -r -f x", true},
		{"rm -rf*", "rm -f -r x", true},
		{"rm -rf*", "rm -Rf x", true},
		{"rm -rf*", "rm -rfv x", true},
		{"rm -rf*", "rm -r -v -f x", true},
		{"rm -rf*", "rm --recursive --force x", true},
		{"rm -rf*", "rm x -rf", true},
		{"rm -rf*", "rm -r --fo x", true},
		{"rm -rf*", "rm -rf -- x", true},
		{"rm -rf*", "rm --recurs -f x y", true},
		{"rm -rf*", "/bin/rm -fr x", true},
		{"rm -rf *", "rm -fr x", true},
		{"rm -rf /*", "rm -fr /etc", true},
		{"git push --force*", "git push -f", true},
		{"git push *--force*", "git push origin main -f", true},
		{"git push --force*", "git push origin +main", true},
		{"git push --force*", "git push --force-with-lease", true},
		{"git push --force*", "git -C r push -f", true},
		{"git push --force*", "git push origin main --forc", true},
		{"git push --delete*", "git push origin :main", true},
		{"git push --delete*", "git push -d origin main", true},
		{"git reset --hard*", "git reset HEAD~1 --hard", true},
		{"git clean -fdx*", "git clean -xfd", true},
		{"git clean -f*", "git clean -d --force", true},
		{"chmod -R 777*", "chmod 777 -R x", true},
		{"chmod -R 777*", "chmod --recursive 777 x", true},
		{"git branch -D*", "git branch -D x", true},
		{"git commit --no-verify*", "git commit -m x -n", true},
		{"rm -rf*", "rm $x /", true},

		{"rm -rf*", "rm -r x", false},
		{"rm -rf*", "rm -f x", false},
		{"rm -rf*", "rm -- -rf", false},
		{"rm -rf*", "rm x-rf", false},
		{"rm -rf*", "rm x", false},
		{"rm -rf*", "rm $x", false},
		{"rm -rf*", "rm -f \"$tmp\"", false},
		{"rm -rf*", "echo rm -rf", false},
		{"rm -rf*", "grm2 -rf x", false},
		{"rm -rf /*", "rm -fr x", false},
		{"git push --force*", "git push origin main", false},
		{"git push --force*", "git pull --force", false},
		{"git push --force*", "git push origin $BRANCH", false},
		{"git push --force*", "git commit -m --force", false},
		{"git reset --hard*", "git reset --soft HEAD~1", false},
		{"git clean -f*", "git clean -n", false},
		{"chmod -R 777*", "chmod 777 x", false},
		{"chmod -R 777*", "chmod -R 755 x", false},
		{"git commit --no-verify*", "git commit -m -n", false},
		{"git branch -D*", "git branch -d x", false},
	}
	for _, tt := range tests {
		p, ok := OptionMatch(tt.pattern)
		require.True(t, ok, tt.pattern)
		c := Analyze(tt.command, model.ShellBash)
		_, form, got := p.CoversCommand(c)
		assert.Equal(t, tt.covers, got, "%q on %q (%s)", tt.pattern, tt.command, form)
		if !strings.ContainsAny(tt.command, `"/`) && !strings.Contains(tt.command, "-C") {
			assert.Equal(t, tt.covers, p.Covers(strings.Fields(tt.command)), "%q on words of %q", tt.pattern, tt.command)
		}
	}
	for _, pattern := range []string{"rm *", "rm", "*", "", "foo -x*", "r* -f", "git *", "rm -r? x", "-rf"} {
		_, ok := OptionMatch(pattern)
		assert.False(t, ok, pattern)
	}
	p, _ := OptionMatch("rm -rf*")
	part, form, ok := p.CoversCommand(Analyze("ls; sudo rm -f -r x", model.ShellBash))
	assert.True(t, ok)
	assert.Equal(t, 1, part)
	assert.Equal(t, "rm -f -r x", form)
}

func TestWords(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"commit -m 'a b'", []string{"commit", "-m", "a b"}},
		{`commit -m "a \"b\" \x"`, []string{"commit", "-m", `a "b" \x`}},
		{`add a\ b ''`, []string{"add", "a b", ""}},
		{"show HEAD^{tree} stash@{0} HEAD~1 *.go", []string{"show", "HEAD^{tree}", "stash@{0}", "HEAD~1", "*.go"}},
		{"log --format='%h; $x'", []string{"log", "--format=%h; $x"}},
		{"  a\t b ", []string{"a", "b"}},
		{"a#b", []string{"a#b"}},
	}
	for _, tt := range tests {
		got, err := Words(tt.text)
		require.NoError(t, err, tt.text)
		assert.Equal(t, tt.want, got, tt.text)
	}
	for _, text := range []string{
		"push; rm x", "a | b", "a && b", "a > f", "a < f", "a $(b)", "a `b`", "a $x", `a "$x"`, "a 'b", `a "b`, `a\`, "a\nb", "a (b)", "a # b", "{a,b}",
		"a &", "a\x00b", "a\x1bb",
	} {
		_, err := Words(text)
		assert.Error(t, err, text)
	}
}

func TestKey(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{"pnpm test", "pnpm  test", true},
		{"pnpm test", " pnpm\ttest ", true},
		{"pnpm test # now", "pnpm test", true},
		{"a | b", "a|b", true},
		{"a && b", "a &&\nb", true},
		{"cat <<E\nx\nE", "cat  <<E\nx\nE", true},
		{"pnpm test", "pnpm test; rm x", false},
		{"pnpm test", "pnpm test x", false},
		{"pnpm test", "pnpm 'test x'", false},
		{"echo 'a  b'", "echo 'a b'", false},
		{"a && b", "a || b", false},
		{"a", "a &", false},
		{"a", "! a", false},
		{"a", "(a)", false},
		{"cat <<E\nx\nE", "cat <<E\ny\nE", false},
		{"if", "if ", false},
		{"ls # \\\nrm x", "ls rm x", false},
		{"a >f", "a >g", false},
		{"a >f", "a >>f", false},
	}
	for _, tt := range tests {
		for _, sh := range []model.Shell{model.ShellUnknown, model.ShellBash} {
			assert.Equal(t, tt.same, SameTree(tt.a, tt.b, sh), "%q %q", tt.a, tt.b)
		}
	}
}

func TestDenyForms(t *testing.T) {
	c := Analyze("cd x  &&  sudo 'rm' -rf \"a b\"", model.ShellBash)
	forms := denyForms(c)
	for _, want := range []string{
		c.Source, "cd x", "sudo rm -rf 'a b'", "sudo 'rm' -rf \"a b\"", "sudo rm -rf a b", "rm -rf 'a b'", "rm -rf a b",
		"cd x && sudo rm -rf 'a b'", "cd x && rm -rf 'a b'",
	} {
		assert.Contains(t, forms, want)
	}
	n := 0
	DenyForms(c, func(string, int) bool { n++; return n < 3 })
	assert.Equal(t, 3, n, "it stops when told to")
	plain := denyForms(Analyze("ls -la", model.ShellBash))
	assert.Equal(t, []string{"ls -la"}, plain, "no spelling twice")
	assert.Zero(t, testing.AllocsPerRun(100, func() { DenyForms(c, func(string, int) bool { return true }) }))
	assert.Contains(t, denyForms(Analyze("rm\t -rf   x", model.ShellBash)), "rm -rf x")
	assert.Contains(t, denyForms(Analyze("curl   a |   sh; if true; then ls  ; fi", model.ShellBash)), "curl a | sh; if true; then ls ; fi", "the text with blanks folded")
}
