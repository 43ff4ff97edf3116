package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlacesOfEveryPlatform(t *testing.T) {
	env := func(data string) func(string) string {
		return func(name string) string {
			if name == "ProgramData" {
				return data
			}
			return ""
		}
	}
	for _, c := range []struct {
		name, goos, root, home, data                          string
		settings, trust, managedPolicy, managedBundles, local string
	}{
		{
			name: "linux", goos: "linux", root: "/w/p", home: "/home/u",
			settings: "/w/p/.lictor/settings.json", trust: "/home/u/.lictor/trust.json",
			managedPolicy: "/etc/lictor/policy.json", managedBundles: "/etc/lictor/bundles",
			local: "/w/p/.lictor/permissions.local.json",
		},
		{
			name: "macOS", goos: "darwin", root: "/w/p", home: "/Users/u",
			settings: "/w/p/.lictor/settings.json", trust: "/Users/u/.lictor/trust.json",
			managedPolicy:  "/Library/Application Support/Lictor/policy.json",
			managedBundles: "/Library/Application Support/Lictor/bundles",
			local:          "/w/p/.lictor/permissions.local.json",
		},
		{
			name: "windows", goos: "windows", root: `C:\w\p`, home: `C:\Users\u`, data: `D:\Data`,
			settings: `C:\w\p\.lictor\settings.json`, trust: `C:\Users\u\.lictor\trust.json`,
			managedPolicy: `D:\Data\Lictor\policy.json`, managedBundles: `D:\Data\Lictor\bundles`,
			local: `C:\w\p\.lictor\permissions.local.json`,
		},
		{
			name: "windows without ProgramData", goos: "windows", root: `\\host\share\p`, home: `C:\Users\u`,
			settings: `\\host\share\p\.lictor\settings.json`, trust: `C:\Users\u\.lictor\trust.json`,
			managedPolicy: `C:\ProgramData\Lictor\policy.json`, managedBundles: `C:\ProgramData\Lictor\bundles`,
			local: `\\host\share\p\.lictor\permissions.local.json`,
		},
		{
			// The working folder must not be able to supply the policy.
			name: "windows with a relative ProgramData", goos: "windows", root: `C:\p`, home: `C:\u`, data: `Data`,
			settings: `C:\p\.lictor\settings.json`, trust: `C:\u\.lictor\trust.json`,
			managedPolicy: `C:\ProgramData\Lictor\policy.json`, managedBundles: `C:\ProgramData\Lictor\bundles`,
			local: `C:\p\.lictor\permissions.local.json`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := PlacesFor(c.goos, c.root, c.home, env(c.data))
			assert.Equal(t, c.settings, p.Settings)
			assert.Equal(t, c.trust, p.Trust)
			assert.Equal(t, c.managedPolicy, p.ManagedPolicy)
			assert.Equal(t, c.managedBundles, p.BundleDirs[0])
			assert.Equal(t, c.local, p.LocalPermissions)
			assert.False(t, p.ManagedOverridden)
		})
	}
}

func TestExpandStartsAtRootAndHome(t *testing.T) {
	unix := PlacesFor("linux", "/w/p", "/home/u", nil)
	windows := PlacesFor("windows", `C:\w\p`, `C:\Users\u`, nil)
	for _, c := range []struct {
		places     Places
		text, want string
	}{
		{unix, "build", "/w/p/build"},
		{unix, "./a/../b", "/w/p/b"},
		{unix, "../sibling", "/w/sibling"},
		{unix, "~", "/home/u"},
		{unix, "~/notes", "/home/u/notes"},
		{unix, "/", "/"},
		{unix, "/data//x/", "/data/x"},
		{windows, "build", `C:\w\p\build`},
		{windows, `~\notes`, `C:\Users\u\notes`},
		{windows, `D:\data`, `D:\data`},
		{windows, `D:/data/../x`, `D:\x`},
	} {
		assert.Equal(t, c.want, c.places.Expand(c.text), c.text)
	}
}

func TestManagedPolicyOverride(t *testing.T) {
	p := PlacesFor("linux", "/w/p", "/home/u", nil)
	assert.Equal(t, p, p.WithManagedPolicy(""))
	other := p.WithManagedPolicy("/tmp/x.json")
	assert.Equal(t, "/tmp/x.json", other.ManagedPolicy)
	assert.True(t, other.ManagedOverridden)
}
