package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// project makes a root with these files in its `.lictor` folder.
func project(t testing.TB, files map[string]string) (*world, string) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, ".lictor")
	if files != nil {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return newWorld(t, root, t.TempDir()), dir
}

func open(t testing.TB, w *world) *Permissions {
	t.Helper()
	p, err := Load(w.env.Root, Options{Env: w.env})
	require.NoError(t, err)
	return p
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.Mkdir(path, 0o755))
}

func text(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestMalformedFilesFailAndAreLeftAlone(t *testing.T) {
	for name, c := range map[string][2]string{
		"not JSON":          {`{"permissions": {`, "line 1"},
		"trailing":          {`{} {}`, "line 1, column 4"},
		"not an object":     {`[]`, "not a JSON object"},
		"permissions":       {`{"permissions": []}`, `"permissions" must be an object`},
		"permissions null":  {`{"permissions": null}`, `"permissions" must be an object`},
		"list":              {`{"permissions": {"allow": "x"}}`, `"permissions.allow" must be a list`},
		"list null":         {`{"permissions": {"allow": null}}`, `"permissions.allow" must be a list`},
		"rule":              {`{"permissions": {"deny": ["Bash(x)", 1]}}`, `"permissions.deny[1]" must be a string`},
		"bad rule":          {`{"permissions": {"deny": ["Bash"]}}`, `permissions.deny[0]`},
		"duplicate":         {`{"permissions": {"deny": []}, "permissions": {}}`, `"permissions" appears twice`},
		"inner duplicate":   {`{"permissions": {"deny": [], "d\u0065ny": []}}`, `"deny" appears twice`},
		"foreign duplicate": {`{"x": [{"a": 1, "a": 2}]}`, `"a" appears twice`},
		"bad glob":          {`{"permissions": {"deny": ["Read(a[)"]}}`, "invalid glob"},
		"encoding":          {"{\"x\": \"\xff\"}", "UTF-8"},
		"too large":         {`{"x": "` + strings.Repeat("a", maxFile) + `"}`, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := project(t, map[string]string{"permissions.local.json": c[0]})
			path := filepath.Join(dir, "permissions.local.json")
			_, err := Load(w.env.Root, Options{Env: w.env})
			require.ErrorContains(t, err, path)
			assert.ErrorContains(t, err, c[1])

			p := LoadEmpty(w.env.Root, Options{Env: w.env})
			for _, err := range []error{p.Reload(), p.AddAllow("Bash(ls *)"), p.AddDeny("Bash(rm *)")} {
				require.Error(t, err)
			}
			_, err = p.RemoveRule(model.EffectAllow, "Bash(ls *)")
			require.Error(t, err)
			assert.NoError(t, p.AddSessionAllow("Bash(ls *)"))
			assert.Equal(t, c[0], text(t, path), "a malformed file is left alone")
			assert.Equal(t, StatusError, Validate(w.env.Root, Options{Env: w.env})[1].Status)
		})
	}
}

func TestLinksAndPipesAreNotRead(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(outside, []byte(`{"permissions":{"allow":["Bash(*)"]}}`), 0o600))
	for name, make := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(outside, path) },
		"dangling link": func(path string) error { return os.Symlink("/nowhere/at/all", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":          makePipe,
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := project(t, map[string]string{})
			path := filepath.Join(dir, "permissions.local.json")
			require.NoError(t, make(path))
			done := time.AfterFunc(10*time.Second, func() { panic("reading hangs") })
			defer done.Stop()
			_, err := Load(w.env.Root, Options{Env: w.env})
			require.ErrorContains(t, err, path)
			require.Error(t, LoadEmpty(w.env.Root, Options{Env: w.env}).AddAllow("Bash(ls *)"))
			require.Error(t, LoadEmpty(w.env.Root, Options{Env: w.env}).EnsureFiles())
			_, err = os.Lstat(path)
			require.NoError(t, err, "what is there stays")
		})
	}
	t.Run("linked folder", func(t *testing.T) {
		w, _ := project(t, nil)
		require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(w.env.Root, ".lictor")))
		_, err := Load(w.env.Root, Options{Env: w.env})
		require.ErrorContains(t, err, "link")
		require.ErrorContains(t, LoadEmpty(w.env.Root, Options{Env: w.env}).AddAllow("Bash(ls *)"), "link")
	})
	assert.Equal(t, `{"permissions":{"allow":["Bash(*)"]}}`, text(t, outside))
}

func TestWritingKeepsEverythingElse(t *testing.T) {
	for _, c := range []struct{ name, before, add, remove, after string }{
		{"a list of lines", "{\n\t\"x\": 1,\n\t\"permissions\": {\n\t\t\"mode\": \"y\",\n\t\t\"allow\": [\n\t\t\t\"Bash(a)\"\n\t\t],\n\t\t\"z\": [ 1,2 ]\n\t}\n}\n", "Bash(b)", "", "{\n\t\"x\": 1,\n\t\"permissions\": {\n\t\t\"mode\": \"y\",\n\t\t\"allow\": [\n\t\t\t\"Bash(a)\",\n\t\t\t\"Bash(b)\"\n\t\t],\n\t\t\"z\": [ 1,2 ]\n\t}\n}\n"},
		{"a list on one line", `{"permissions":{"allow":["Bash(a)"]},"n":1e400}`, "Bash(b)", "", `{"permissions":{"allow":["Bash(a)", "Bash(b)"]},"n":1e400}`},
		{"an empty list", `{"permissions":{"allow":[ ]}}`, "Bash(b)", "", `{"permissions":{"allow":["Bash(b)"]}}`},
		{"an empty list among lines", "{\n    \"permissions\": {\n        \"allow\": []\n    }\n}", "Bash(b)", "", "{\n    \"permissions\": {\n        \"allow\": [\n            \"Bash(b)\"\n        ]\n    }\n}"},
		{"no list", "{\n  \"permissions\": {\n    \"deny\": [\"Bash(x)\"]\n  }\n}\n", "Bash(b)", "", "{\n  \"permissions\": {\n    \"deny\": [\"Bash(x)\"],\n    \"allow\": [\"Bash(b)\"]\n  }\n}\n"},
		{"no permissions", `{"a": 1}`, "Bash(b)", "", `{"a": 1, "permissions": {"allow": ["Bash(b)"]}}`},
		{"nothing", `{}`, "Bash(b)", "", `{"permissions": {"allow": ["Bash(b)"]}}`},
		{"blank", " \n", "Bash(b)", "", "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(b)\"\n    ],\n    \"ask\": [],\n    \"deny\": []\n  }\n}\n"},
		{"line ends", "{\r\n  \"permissions\": {\r\n    \"allow\": []\r\n  }\r\n}\r\n", "Bash(b)", "", "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"Bash(b)\"\r\n    ]\r\n  }\r\n}\r\n"},
		{"special letters", `{}`, `Bash(a "b" <c> & \d *)`, "", `{"permissions": {"allow": ["Bash(a \"b\" <c> & \\d *)"]}}`},
		{"there already", `{"permissions":{"allow":["Bash(\u0061)"]}}`, "Bash(a)", "", `{"permissions":{"allow":["Bash(\u0061)"]}}`},
		{"remove first", `{"permissions":{"allow":["Bash(a)", "Bash(b)"]}}`, "", "Bash(a)", `{"permissions":{"allow":["Bash(b)"]}}`},
		{"remove last", "{\"permissions\":{\"allow\":[\n  \"Bash(a)\",\n  \"Bash(b)\"\n]}}", "", "Bash(b)", "{\"permissions\":{\"allow\":[\n  \"Bash(a)\"\n]}}"},
		{"remove twice", `{"permissions":{"allow":["Bash(b)", "Bash(a)", "Bash(b)", "Bash(b)", "Bash(c)"]}}`, "", "Bash(b)", `{"permissions":{"allow":["Bash(a)", "Bash(c)"]}}`},
		{"remove the only one", `{"permissions":{"allow":[ "Bash(b)" ]}}`, "", "Bash(b)", `{"permissions":{"allow":[]}}`},
		{"remove what is not there", `{"permissions":{"allow":[ "Bash(b)" ], "deny":["Bash(x)"]}}`, "", "Bash(x)", `{"permissions":{"allow":[ "Bash(b)" ], "deny":["Bash(x)"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := project(t, map[string]string{"permissions.local.json": c.before})
			p := open(t, w)
			if c.add != "" {
				require.NoError(t, p.AddAllow(c.add))
				require.NoError(t, p.AddAllow(c.add), "again")
			}
			if c.remove != "" {
				removed, err := p.RemoveRule(model.EffectAllow, c.remove)
				require.NoError(t, err)
				assert.Equal(t, c.before != c.after, removed)
			}
			assert.Equal(t, c.after, text(t, p.LocalPath()))
			assert.Equal(t, open(t, w).Snapshot(), p.Snapshot(), "memory and file agree")
		})
	}
}

func TestWritingMakesPrivateFiles(t *testing.T) {
	w, dir := project(t, nil)
	p := open(t, w)
	require.NoError(t, p.AddDeny("Bash(rm *)"))
	assert.NoFileExists(t, p.SharedPath(), "only the personal file gets rules")
	if fileModes {
		for path, mode := range map[string]os.FileMode{dir: 0o700, p.LocalPath(): 0o600, filepath.Join(dir, lockName): 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode().Perm(), path)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, OutcomeDeny, p.Evaluate(w.query(t, "bash", []byte(`{"command":"rm x"}`))))
	for _, bad := range []string{"Bash", "Read(a[)", "(x)"} {
		require.Error(t, p.AddAllow(bad))
		require.Error(t, p.AddSessionAllow(bad))
	}
	assert.Len(t, p.Set().Rules(), 1)
}

func TestRulesOfAllSourcesAddUp(t *testing.T) {
	w, _ := project(t, map[string]string{
		"permissions.json":       `{"permissions":{"allow":["Bash(a)"],"ask":["Bash(b)"],"other":1}}`,
		"permissions.local.json": `{"permissions":{"deny":["Bash(c)"]}}`,
	})
	user, system := filepath.Join(t.TempDir(), "permissions.json"), filepath.Join(t.TempDir(), "permissions.json")
	require.NoError(t, os.WriteFile(user, []byte(`{"permissions":{"deny":["Bash(a)"]}}`), 0o600))
	require.NoError(t, os.WriteFile(system, []byte(`{"permissions":{"allow":["Bash(d)"]}}`), 0o600))
	opts := Options{Env: w.env, User: user, System: system}
	p, err := Load(w.env.Root, opts)
	require.NoError(t, err)
	for command, want := range map[string]Outcome{"a": OutcomeDeny, "b": OutcomeAsk, "c": OutcomeDeny, "d": OutcomeAllow, "e": OutcomeDefault} {
		got, rule := p.EvaluateWithRule(w.query(t, "bash", []byte(`{"command":"`+command+`"}`)))
		assert.Equal(t, want, got, command)
		if command == "a" {
			assert.Equal(t, user, rule.Source)
		}
	}
	require.Len(t, p.Notices(), 1)
	assert.Contains(t, p.Notices()[0].Text, `"other"`)

	opts.Keep = func(r model.Rule) bool { return r.Effect != model.EffectAllow || r.Source == system }
	p, err = Load(w.env.Root, opts)
	require.NoError(t, err)
	assert.Len(t, p.Snapshot().Allow, 1)
}

func TestAFailedReloadKeepsTheRules(t *testing.T) {
	w, dir := project(t, map[string]string{"permissions.json": `{"permissions":{"deny":["Bash(x)"]}}`})
	p := open(t, w)
	require.NoError(t, p.AddSessionAllow("Bash(y)"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "permissions.json"), []byte(`{`), 0o600))
	require.Error(t, p.Reload())
	assert.Equal(t, OutcomeDeny, p.Evaluate(w.query(t, "bash", []byte(`{"command":"x"}`))))
	require.NoError(t, os.Remove(filepath.Join(dir, "permissions.json")))
	require.NoError(t, p.Reload())
	assert.Equal(t, OutcomeDefault, p.Evaluate(w.query(t, "bash", []byte(`{"command":"x"}`))))
	assert.Equal(t, OutcomeAllow, p.Evaluate(w.query(t, "bash", []byte(`{"command":"y"}`))), "session rules survive")
}

func TestSessionRulesOverlapNobodysMemory(t *testing.T) {
	w, _ := project(t, nil)
	p := open(t, w)
	for i := range 5 {
		require.NoError(t, p.AddSessionAllow(fmt.Sprintf("Bash(a%d)", i)))
	}
	before := p.Snapshot()
	require.NoError(t, p.AddSessionAllow("Bash(z)"))
	assert.Len(t, before.Session, 5)
	assert.Len(t, p.Snapshot().Session, 6)
	assert.Empty(t, p.Snapshot().Allow)
}

// TestReadersSeeOldOrNew changes rules while others read: `x` is always either
// allowed or denied, never neither.
func TestReadersSeeOldOrNew(t *testing.T) {
	w, dir := project(t, map[string]string{"permissions.json": `{"permissions":{"allow":["Bash(x)"]}}`})
	p := open(t, w)
	q := w.query(t, "bash", []byte(`{"command":"x"}`))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := p.Evaluate(q); got != OutcomeAllow && got != OutcomeDeny {
					t.Errorf("a reader saw %s", got)
					return
				}
				_ = p.Snapshot()
			}
		})
	}
	for i := range 100 {
		effect := "allow"
		if i%2 == 0 {
			effect = "deny"
		}
		require.NoError(t, writeFile(filepath.Join(dir, "permissions.json"), `{"permissions":{"`+effect+`":["Bash(x)"]}}`))
		require.NoError(t, p.Reload())
		require.NoError(t, p.AddSessionAllow(fmt.Sprintf("Bash(s%d)", i)))
	}
	close(stop)
	readers.Wait()
}

// writerEnv tells a second start of the test binary to add rules and leave.
const writerEnv = "LICTOR_TEST_ADD_RULES"

func TestMain(m *testing.M) {
	if spec := os.Getenv(writerEnv); spec != "" {
		root, name, _ := strings.Cut(spec, "|")
		p := LoadEmpty(root, Options{LockWait: 2 * time.Minute})
		for i := range 5 {
			if err := p.AddAllow(fmt.Sprintf("Bash(%s-%d *)", name, i)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestManyProcessesLoseNoRule(t *testing.T) {
	w, _ := project(t, map[string]string{"permissions.local.json": `{"kept": [1, 2], "permissions": {"deny": ["Bash(rm *)"]}}`})
	self, err := os.Executable()
	require.NoError(t, err)
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|p%d", writerEnv, w.env.Root, i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	writers.Wait()
	p := open(t, w)
	assert.Len(t, p.Snapshot().Allow, 100)
	assert.Len(t, p.Snapshot().Deny, 1)
	assert.Contains(t, text(t, p.LocalPath()), `"kept": [1, 2]`)
}

func TestAHeldLockTimesOut(t *testing.T) {
	w, dir := project(t, map[string]string{})
	held := make(chan struct{})
	release := make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		assert.NoError(t, locked(dir, time.Second, func() error {
			close(held)
			<-release
			return nil
		}))
	})
	<-held
	p := LoadEmpty(w.env.Root, Options{Env: w.env, LockWait: 50 * time.Millisecond})
	err := p.AddAllow("Bash(x)")
	require.ErrorContains(t, err, "another process held the lock")
	assert.Empty(t, p.Snapshot().Allow)
	close(release)
	holder.Wait()
	require.NoError(t, p.AddAllow("Bash(x)"))
}

func TestEveryServerNeedsConfirmation(t *testing.T) {
	w, _ := project(t, nil)
	p := open(t, w)
	for _, rule := range []string{"MCP(*)", "MCP(**)", "MCP(*/*)", " MCP( * ) ", "mcp__*(*)"} {
		var confirm *RequiresConfirmation
		require.ErrorAs(t, p.AddAllow(rule), &confirm, rule)
	}
	require.NoError(t, p.AddAllow("MCP(github/*)"))
	require.NoError(t, p.AddDeny("MCP(*)"), "a prohibition needs none")
}

// FuzzPermissionFile adds and removes a rule in any file that loads: everything
// else must stay, and the result must load again.
func FuzzPermissionFile(f *testing.F) {
	f.Add(`{"permissions":{"allow":["Bash(a)","Bash(b)"],"x":{"y":[]}}}`, "Bash(b)")
	f.Add("{\n  \"a\": [1, {\"b\": null}],\n  \"permissions\": {}\n}", "Read(x/**)")
	f.Add(" {\t\"permissions\" :\r\n{\"allow\" : [ ] } } ", "Bash(\"\\\u2028)")
	f.Fuzz(func(t *testing.T, text, rule string) {
		file, err := parseFile("f", text)
		if err != nil || strings.TrimSpace(text) == "" {
			return
		}
		r, err := Parse(rule, model.SyntaxPermissions, model.EffectAllow, "f")
		if err != nil || strings.ToValidUTF8(rule, "") != rule {
			return
		}
		d, err := parseDocument(text)
		require.NoError(t, err)
		with := d.withRule("allow", r.Text)
		more, err := parseFile("f", with)
		require.NoError(t, err, "%q", with)
		require.Len(t, more.rules, len(file.rules)+1)
		d, err = parseDocument(with)
		require.NoError(t, err)
		without, n := d.withoutRule("allow", r.Text)
		require.Positive(t, n)
		less, err := parseFile("f", without)
		require.NoError(t, err, "%q", without)
		require.Len(t, less.rules, len(more.rules)-n)
		for _, x := range less.rules {
			require.False(t, x.Effect == model.EffectAllow && x.Text == r.Text)
		}
	})
}
