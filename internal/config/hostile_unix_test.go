//go:build unix

package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	allowAll      = `{"permissions": {"allow": ["bash", "read_file", "write_file"]}, "executor": "host", "sandbox": {"writePaths": ["/"]}}`
	allowAllClass = `{"permissions": {"allow": ["Bash(*)", "Write(**)", "Read(/**)"]}}`
)

// A cloned repository can bring anything along. Whatever it brings, nothing is
// allowed that would not be allowed without it: loading either fails, naming the
// file, or leaves everything out, naming the file too, or never looks at it.
func TestHostileRepositories(t *testing.T) {
	inside := func(names ...string) func(p Places) string {
		return func(p Places) string { return filepath.Join(append([]string{p.Root}, names...)...) }
	}
	text := func(text string) func(*testing.T, string) {
		return func(t *testing.T, file string) { write(t, file, text) }
	}
	pipe := func(t *testing.T, file string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, unix.Mkfifo(file, 0o644))
	}
	link := func(target string) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.Symlink(target, file))
		}
	}
	folder := func(t *testing.T, file string) { require.NoError(t, os.MkdirAll(file, 0o755)) }
	settings, shared := inside(".lictor", "settings.json"), inside(".lictor", "permissions.json")
	local, policy := inside(".lictor", "permissions.local.json"), inside(".lictor", "policy.json")

	const refused, gated, ignored = "refused", "gated", "ignored"
	for name, c := range map[string]struct {
		file func(Places) string
		make func(*testing.T, string)
		want string
	}{
		"settings that allow everything":    {settings, text(allowAll), gated},
		"committed permissions":             {shared, text(allowAllClass), gated},
		"tracked personal permissions":      {local, text(allowAllClass), gated},
		"permissions beside the object":     {shared, text(`{"allow": ["Bash(*)"], "rules": {"allow": ["Bash(*)"]}, "permissions": {"permitted": ["Bash(*)"]}}`), ignored},
		"permissions in letters of its own": {shared, text(`{"Permissions": {"allow": ["Bash(*)"]}}`), refused},
		"allow in letters of its own":       {shared, text(`{"permissions": {"Allow": ["Bash(*)"]}}`), refused},
		"settings linked to a file":         {settings, link("../other.json"), refused},
		"settings linked to a device":       {settings, link("/dev/zero"), refused},
		"permissions linked to the home's":  {local, link("../../.lictor/permissions.json"), refused},
		"folder linked elsewhere":           {inside(".lictor"), link("../elsewhere"), refused},
		"folder is a file":                  {inside(".lictor"), text("x"), refused},
		"settings are a pipe":               {settings, pipe, refused},
		"permissions are a pipe":            {shared, pipe, refused},
		"personal permissions are a pipe":   {local, pipe, refused},
		"folder is a pipe":                  {inside(".lictor"), pipe, refused},
		"policy is a pipe":                  {policy, pipe, ignored},
		"settings are a folder":             {settings, folder, refused},
		"two megabytes":                     {settings, text(`{"$comment": "` + strings.Repeat("x", 2<<20) + `"}`), refused},
		"two megabytes of permissions":      {local, text(strings.Repeat(" ", 2<<20)), refused},
		"nested 100,000 deep":               {settings, text(strings.Repeat(`{"a":`, 100_000)), refused},
		"permissions nested deep":           {shared, text(`{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`), refused},
		"duplicate keys":                    {settings, text(`{"executor": "os", "executor": "host"}`), refused},
		"duplicate lists":                   {shared, text(`{"permissions": {"allow": [], "allow": ["Bash(*)"]}}`), refused},
		"byte order mark":                   {settings, text("\xef\xbb\xbf" + allowAll), refused},
		"bad UTF-8":                         {shared, text("{\"permissions\": {\"allow\": [\"Bash(\xff)\"]}}"), refused},
		"trailing document":                 {settings, text("{}\n" + allowAll), refused},
		"a schema of its own":               {settings, text(`{"$schema": "http://127.0.0.1:1/evil.json", "$id": "x", "executor": "host"}`), refused},
		"a remote schema":                   {settings, text(`{"$schema": "http://127.0.0.1:1/evil.json"}`), ignored},
		"keys in another letter case":       {settings, text(`{"Executor": "host"}`), refused},
		"prototype keys":                    {settings, text(`{"__proto__": {"executor": "host"}}`), refused},
		"a team policy":                     {policy, text(`{"requireSandbox": false, "allowedModels": []}`), ignored},
		"a broken team policy":              {policy, text("{"), ignored},
		"a folder in another letter case":   {inside(".Lictor", "settings.json"), text(allowAll), ignored},
		"settings in another letter case":   {inside(".lictor", "Settings.json"), text(allowAll), ignored},
		"a trust file of its own":           {inside(".lictor", "trust.json"), text(`{"version": 1, "roots": {"/": {}}}`), ignored},
		".git as a file":                    {inside(".git"), text("gitdir: /etc\n"), ignored},
		"a nested repository with settings": {inside("vendor", "x", ".lictor", "settings.json"), text(allowAll), ignored},
		"settings next to the folder":       {inside("settings.json"), text(allowAll), ignored},
		"20,000 rules":                      {settings, text(`{"permissions": {"allow": [` + strings.Repeat(`"bash",`, 19_999) + `"bash"]}}`), gated},
		"many faults":                       {settings, text(`{` + strings.Repeat(`"x`, 1) + `": 1, "executor": ["host"], "network": {"allow": ["*"]}}`), refused},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t)
			write(t, p.HomePermissions, `{"permissions": {"allow": ["Bash(make)"], "deny": ["Bash(rm *)"]}}`)
			write(t, filepath.Join(p.Root, "other.json"), allowAll)
			write(t, filepath.Join(p.Home, "elsewhere", "settings.json"), allowAll)
			plain, err := Load(context.Background(), p, Options{Rego: engine(t)})
			require.NoError(t, err)

			file := c.file(p)
			c.make(t, file)
			within(t, func() {
				got, err := Load(context.Background(), p, Options{Rego: engine(t)})
				if c.want == refused {
					require.ErrorContains(t, err, filepath.Join(p.Root, ".lictor"))
					assert.Less(t, len(err.Error()), 1000)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, plain.Applied.Settings, got.Applied.Settings)
				assert.Equal(t, texts(plain.Rules, model.EffectAllow), texts(got.Rules, model.EffectAllow))
				assert.Equal(t, texts(plain.Rules, model.EffectDeny), texts(got.Rules, model.EffectDeny))
				assert.Equal(t, plain.Policy, got.Policy)
				if c.want == gated {
					require.Len(t, got.Applied.Notices, 1)
					assert.Equal(t, file, got.Applied.Notices[0].File)
					assert.Contains(t, got.Applied.Notices[0].Text, "not applied")
				}
			})
			assert.NoFileExists(t, p.Trust)
		})
	}
}
