// Package bundles carries the managed bundles that ship with lictor: baseline,
// which is always active, and example-team, a template to start from. Each is an
// OPA bundle in a folder; internal/bundle loads them like any other.
package bundles

import (
	"embed"
	"io/fs"
)

//go:embed all:baseline all:example-team
var bundles embed.FS

// Baseline returns the files of the bundle that stops catastrophic commands. It
// fails only if the program was built wrongly.
func Baseline() (fs.FS, error) { return fs.Sub(bundles, "baseline") }

// ExampleTeam returns the files of the example of a team's bundle.
func ExampleTeam() (fs.FS, error) { return fs.Sub(bundles, "example-team") }

// BaselineRoutes is what the rules of the baseline are about, as JSON: a list of
// routes. A process that makes no call which one of them is about need not read
// the baseline at all. A test keeps the file in step with the rules.
//
//go:embed baseline.routes
var BaselineRoutes []byte
