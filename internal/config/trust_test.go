package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func risk(key, value string) Risk {
	return Risk{{Key: key, File: ".lictor/settings.json", Value: json.RawMessage(value)}}
}

func TestTrustKeepsConsents(t *testing.T) {
	p := project(t)
	trust := OpenTrust(p.Trust)
	require.NoError(t, trust.Broken())
	_, ok := trust.Pin(p.Root)
	assert.False(t, ok)

	require.NoError(t, trust.Accept(p.Root, risk("executor", `"host"`)))
	again := OpenTrust(p.Trust)
	pin, ok := again.Pin(p.Root)
	require.True(t, ok)
	assert.Equal(t, risk("executor", `"host"`).Hash(), pin.Hash)
	assert.Equal(t, []string{p.Root}, again.Roots())

	if runtime.GOOS != "windows" {
		info, err := os.Stat(p.Trust)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		info, err = os.Stat(filepath.Dir(p.Trust))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	entries, err := os.ReadDir(filepath.Dir(p.Trust))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the file and its lock, no temp file")

	found, err := again.Forget(p.Root)
	require.NoError(t, err)
	assert.True(t, found)
	found, err = again.Forget(p.Root)
	require.NoError(t, err)
	assert.False(t, found)
	_, ok = OpenTrust(p.Trust).Pin(p.Root)
	assert.False(t, ok)
}

func TestTrustIsForTheRealPath(t *testing.T) {
	p := project(t)
	link := filepath.Join(p.Home, "link")
	require.NoError(t, os.Symlink(p.Root, link))
	trust := OpenTrust(p.Trust)
	require.NoError(t, trust.Accept(link, risk("a", "1")))
	_, ok := trust.Pin(p.Root)
	assert.True(t, ok, "a link to the root is the root")

	other := filepath.Join(p.Home, "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(other, link))
	_, ok = trust.Pin(link)
	assert.False(t, ok, "a link that was moved elsewhere is not")
}

func TestRepinOnlyKeepsACurrentPin(t *testing.T) {
	p := project(t)
	trust := OpenTrust(p.Trust)
	before, after := risk("permissions.allow", `["a"]`), risk("permissions.allow", `["a","b"]`)

	done, err := trust.Repin(p.Root, before.Hash(), after)
	require.NoError(t, err)
	assert.False(t, done, "no pin")
	done, err = trust.Repin(p.Root, "", after)
	require.NoError(t, err)
	assert.False(t, done, "nothing was risky and nothing pinned: the hash of nothing is no key")

	require.NoError(t, trust.Accept(p.Root, before))
	done, err = trust.Repin(p.Root, risk("x", "1").Hash(), after)
	require.NoError(t, err)
	assert.False(t, done, "the files were not what was pinned")

	done, err = OpenTrust(p.Trust).Repin(p.Root, before.Hash(), after)
	require.NoError(t, err)
	assert.True(t, done)
	pin, _ := OpenTrust(p.Trust).Pin(p.Root)
	assert.Equal(t, after.Hash(), pin.Hash)

	done, err = trust.Repin(p.Root, after.Hash(), nil)
	require.NoError(t, err)
	assert.True(t, done, "the last rule was removed")
	assert.NoError(t, OpenTrust(p.Trust).Broken())
	assert.Empty(t, OpenTrust(p.Trust).Roots())
	require.NoError(t, trust.Accept(p.Root, after))

	// The first view is old now: what counts is the file.
	done, err = trust.Repin(p.Root, before.Hash(), risk("executor", `"host"`))
	require.NoError(t, err)
	assert.False(t, done)
}

func TestBrokenTrustFileTrustsNothingAndStays(t *testing.T) {
	p := project(t)
	good := OpenTrust(p.Trust)
	require.NoError(t, good.Accept(p.Root, risk("executor", `"host"`)))
	text, err := os.ReadFile(p.Trust)
	require.NoError(t, err)
	var doc trustFile
	require.NoError(t, json.Unmarshal(text, &doc))
	edited := func(edit func(*trustFile)) string {
		var d trustFile
		require.NoError(t, json.Unmarshal(text, &d))
		edit(&d)
		out, err := json.Marshal(d)
		require.NoError(t, err)
		return string(out)
	}
	for name, broken := range map[string]string{
		"no JSON":        "{",
		"cut":            string(text[:len(text)/2]),
		"unknown key":    `{"version": 1, "roots": {}, "all": true}`,
		"no version":     `{"roots": {}}`,
		"later version":  edited(func(d *trustFile) { d.Version = 2 }),
		"duplicate":      `{"version": 1, "version": 1, "roots": {}}`,
		"null":           `null`,
		"wrong type":     `{"version": 1, "roots": []}`,
		"foreign hash":   edited(func(d *trustFile) { d.Roots[p.Root] = Pin{Hash: "sha256:00", Risk: doc.Roots[p.Root].Risk} }),
		"empty hash":     edited(func(d *trustFile) { d.Roots[p.Root] = Pin{} }),
		"a line of logs": string(text) + "junk",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(p.Trust, []byte(broken), 0o600))
			trust := OpenTrust(p.Trust)
			require.ErrorContains(t, trust.Broken(), p.Trust)
			_, ok := trust.Pin(p.Root)
			assert.False(t, ok)
			require.ErrorContains(t, trust.Accept(p.Root, risk("a", "1")), p.Trust)
			// Neither does a view from before it broke.
			require.ErrorContains(t, good.Accept(p.Root, risk("a", "1")), "broken trust file")
			now, err := os.ReadFile(p.Trust)
			require.NoError(t, err)
			assert.Equal(t, broken, string(now))
		})
	}
}

func TestConcurrentConsentsLoseNothing(t *testing.T) {
	p := project(t)
	const n = 24
	var group sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			root := filepath.Join(p.Home, fmt.Sprint("p", i))
			errs[i] = OpenTrust(p.Trust).Accept(root, risk("a", fmt.Sprint(i)))
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	assert.Len(t, OpenTrust(p.Trust).Roots(), n)
}

func TestRiskHash(t *testing.T) {
	assert.Empty(t, Risk(nil).Hash())
	a := Risk{{"executor", "s", json.RawMessage(`"host"`)}, {"env.allow", "s", json.RawMessage(`["A", "B"]`)}}
	b := Risk{{"env.allow", "s", json.RawMessage("[\"A\",\n\"B\"]")}, {"executor", "s", json.RawMessage(`"host"`)}}
	assert.Equal(t, a.Hash(), b.Hash(), "neither order of items nor blanks count")
	for _, other := range []Risk{
		a[:1],
		{{"executor", "s", json.RawMessage(`"host"`)}, {"env.allow", "s", json.RawMessage(`["A"]`)}},
		{{"executor", "t", json.RawMessage(`"host"`)}, {"env.allow", "s", json.RawMessage(`["A","B"]`)}},
		{{"executor", "s", json.RawMessage(`"landlock"`)}, {"env.allow", "s", json.RawMessage(`["A","B"]`)}},
	} {
		assert.NotEqual(t, a.Hash(), other.Hash())
	}
	assert.Equal(t, []string{"env.allow (s)", "executor (s, gone)", "shell (s, new)"}, Risk{
		{"env.allow", "s", json.RawMessage(`["A"]`)}, {"shell", "s", json.RawMessage(`"zsh"`)},
	}.Changes(a))
	assert.Equal(t, `executor: "host"`, a[0].String())
	assert.Equal(t, `env.allow: ["<&>"]`, RiskItem{Key: "env.allow", Value: json.RawMessage(`["<&>"]`)}.String())
}
