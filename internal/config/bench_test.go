package config

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkLoad is a start with settings, a team policy and a pinned consent: it
// is a part of every cold hook.
func BenchmarkLoad(b *testing.B) {
	p := project(b)
	write(b, p.Settings, `{"permissions": {"allow": ["bash(go test *)"], "deny": ["bash(rm *)"]}, "sandbox": {"writePaths": ["out"]}}`)
	write(b, p.HomePolicy, `{"disallowedCommands": ["curl * | sh"], "denyPaths": ["secrets"]}`)
	o := Options{Rego: engine(b), Ask: (&asker{answer: "session"}).ask}
	_, err := Load(context.Background(), p, o)
	require.NoError(b, err)
	for b.Loop() {
		if _, err := Load(context.Background(), p, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseSettings reads every key once the schema is compiled.
func BenchmarkParseSettings(b *testing.B) {
	for b.Loop() {
		if _, err := ParseSettings("settings.json", []byte(everyKey)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSchema compiles the settings' schema, once in a process and only if
// there is a settings file.
func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		if _, err := newChecker("settings.json"); err != nil {
			b.Fatal(err)
		}
	}
}
