package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzParseSettings: whatever the text is, the reader ends, names the file in its
// error, and what it accepts can be written and read again to the same.
func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(everyKey))
	for _, c := range loosening {
		f.Add([]byte(c.text))
	}
	for _, seed := range []string{"", "{}", "null", "[", `{"a":`, "{\"executor\":\"os\",\n\"executor\":\"host\"}", `{"limits":{"maxSteps":1e999}}`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSettings("settings.json", text)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "settings.json"), err.Error())
			require.Less(t, len(err.Error()), 2000+2*len(text))
			return
		}
		assert.Contains(t, []string{"auto", "os", "host", "landlock"}, s.Executor)
		written, err := s.JSON()
		require.NoError(t, err)
		again, err := ParseSettings("settings.json", written)
		require.NoError(t, err, string(written))
		rewritten, err := again.JSON()
		require.NoError(t, err)
		require.JSONEq(t, string(written), string(rewritten))

		safe := SafeSettings(s)
		safeText, err := json.Marshal(safe)
		require.NoError(t, err)
		twice, err := json.Marshal(SafeSettings(safe))
		require.NoError(t, err)
		require.Equal(t, string(safeText), string(twice), "safe settings are safe")
		require.Empty(t, loosened(&Loaded{Settings: safe, Sources: []RuleSource{{}}}))
	})
}

// FuzzParsePolicy: the same for the team policy.
func FuzzParsePolicy(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"profile": "strict", "disallowedCommands": ["curl * | sh"], "denyPaths": ["x"]}`,
		`{"network": {"blockedHosts": ["*.evil.example", "10.0.0.1"], "strictAllowlist": true}}`,
		`{"limits": {"maxSteps": 3}, "allowedModels": ["a*"], "audit": {"enabled": true, "level": "all"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := ParsePolicy("policy.json", text)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "policy.json"), err.Error())
		}
	})
}

// FuzzParsePermissions: the same for permission files; and every rule that is
// read can be kept or left out by its text.
func FuzzParsePermissions(f *testing.F) {
	for _, seed := range []string{"", "{}", allowSeed, `{"permissions": {"deny": ["Read(secrets/[abc)"]}}`, `{"permissions": null}`, `{"permissions": {"allow": null}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := ParsePermissions("permissions.json", text)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "permissions.json"), err.Error())
			return
		}
		for _, rule := range rules {
			require.Equal(t, "permissions.json", rule.Source)
			require.NotEmpty(t, rule.Text)
		}
	})
}

const allowSeed = `{"x": [1, {"y": null}], "permissions": {"allow": ["Bash(*)"], "ask": ["Git(push *)"], "deny": ["Read(**/.env)"]}}`

// FuzzTrust: a trust file never trusts what its own hashes do not say.
func FuzzTrust(f *testing.F) {
	good, err := json.Marshal(trustFile{Version: 1, Roots: map[string]Pin{"/r": {Hash: risk("a", "1").Hash(), Risk: risk("a", "1")}}})
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"version":1,"roots":{"/r":{"hash":"","risk":null,"time":"2026-01-01T00:00:00Z"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "trust.json")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		trust := OpenTrust(file)
		for root, pin := range trust.pins {
			require.NoError(t, trust.Broken())
			require.NotEmpty(t, pin.Hash, root)
			require.Equal(t, pin.Risk.Hash(), pin.Hash)
		}
	})
}
