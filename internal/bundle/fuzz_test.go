package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/bundles"
)

// FuzzArchive reads anything as an archive, and what can be read is the same
// after it was written again.
func FuzzArchive(f *testing.F) {
	fsys, err := bundles.ExampleTeam()
	require.NoError(f, err)
	team, err := readFolder(fsys)
	require.NoError(f, err)
	packed, err := team.archive()
	require.NoError(f, err)
	f.Add(packed)
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := readArchive(text)
		if err != nil {
			return
		}
		packed, err := read.archive()
		if err != nil {
			return
		}
		again, err := readArchive(packed)
		require.NoError(t, err)
		require.Equal(t, len(read), len(again))
		for name := range read {
			require.True(t, bytes.Equal(read[name], again[name]), name)
		}
	})
}

// FuzzModule loads anything as the module of a bundle: it must end in a bundle
// or a refusal.
func FuzzModule(f *testing.F) {
	f.Add(goodModule)
	f.Add("package lictor.managed.team\nimport rego.v2\ndeny contains {\"id\": \"a\", \"reason\": \"b\"}")
	f.Add("package x\n# METADATA\n# custom: [")
	f.Add("package lictor.managed.team\nimport rego.v2\npolicy := {} if data[input.x]")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		r := files{manifestFile: []byte(`{"revision": "1", "roots": ["lictor/managed/team"]}`), "team.rego": []byte(text)}
		b, err := load(context.Background(), "fuzz", r, LoadOptions{AllowUnsigned: true})
		if err != nil {
			var refused *Refused
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Problems)
			return
		}
		for _, rule := range b.rules {
			require.NotEmpty(t, rule.Title)
		}
	})
}

// FuzzManifest reads anything as a manifest.
func FuzzManifest(f *testing.F) {
	f.Add(`{"revision": "1", "roots": ["lictor/managed/team"], "metadata": {"serial": 1}}`)
	f.Add(`{"roots": [1], "roots": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r refusal
		m := readManifest(files{manifestFile: []byte(text)}, &r)
		if r.err("fuzz") == nil {
			require.NoError(t, checkBundleName(m.name))
			require.NoError(t, checkJSON([]byte(text)))
			require.True(t, json.Valid([]byte(text)))
		}
	})
}
