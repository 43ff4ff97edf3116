package bundle

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"github.com/lictor-policy/lictor/bundles"
)

// BuiltIn reports whether the bundle is the program's own baseline.
func (b *Bundle) BuiltIn() bool { return b.source == baselineSource }

// baselineSource stands where other bundles have their path.
const baselineSource = "built-in baseline"

// baseline is compiled once in a process, and only when it is needed.
var baseline = sync.OnceValues(func() (*Bundle, error) {
	fsys, err := bundles.Baseline()
	if err != nil {
		return nil, err
	}
	return LoadFS(context.Background(), baselineSource, fsys, LoadOptions{AllowUnsigned: true})
})

// Baseline returns the built-in bundle against catastrophic commands. It needs no
// signature: it is part of the program.
func Baseline(ctx context.Context) (*Bundle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return baseline()
}

// baselineRoutes returns the baseline without its rules: to know that a call is
// none of its business takes the routes only, and a short-lived process that
// decides one harmless command is spared the compiler.
var baselineRoutes = sync.OnceValues(func() (*Bundle, error) {
	fsys, err := bundles.Baseline()
	if err != nil {
		return nil, err
	}
	f, err := readFolder(fsys)
	if err != nil {
		return nil, err
	}
	var r refusal
	m := readManifest(f, &r)
	if err := r.err(baselineSource); err != nil {
		return nil, err
	}
	b := &Bundle{name: m.name, revision: m.Revision, serial: m.Metadata.Serial, source: baselineSource, digest: f.digest(), full: baseline}
	var routes []Route
	if err := json.Unmarshal(bundles.BaselineRoutes, &routes); err != nil {
		return nil, fmt.Errorf("%s: %w", baselineSource, err)
	}
	if len(routes) == 0 {
		return nil, fmt.Errorf("%s: %w", baselineSource, fs.ErrNotExist)
	}
	for _, route := range routes {
		b.rules = append(b.rules, Rule{Route: route})
	}
	b.routes = compileRoutes(b.rules)
	b.rules = nil
	return b, nil
})
