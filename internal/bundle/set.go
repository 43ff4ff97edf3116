package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// Options say where bundles and keys lie.
type Options struct {
	// Folders hold bundles, the machine's first (/etc/lictor/bundles,
	// ~/.lictor/bundles). One that does not exist is empty.
	Folders []string
	// Paths are bundles or folders of bundles that the user named (--bundle). Each
	// must exist.
	Paths []string
	// Keys are the folders of public keys (/etc/lictor/keys).
	Keys []string
	// State is the file that remembers the newest serial of each signed bundle.
	// Empty keeps none, which only tests do.
	State string
	// Strict refuses bundles that are not signed.
	Strict bool
	// WithoutBaseline leaves out the built-in bundle; for tests.
	WithoutBaseline bool
}

// Document is the team policy document of a bundle.
type Document struct {
	// Bundle and Source say which bundle it comes from.
	Bundle, Source string
	// Text is the JSON document; it fits schemas/policy.json.
	Text json.RawMessage
}

// Set is the set of bundles that decides. It is safe for concurrent use; Reload
// replaces it in one step.
type Set struct {
	options Options
	reload  sync.Mutex
	current atomic.Pointer[generation]
}

// NewSet returns a set that is not loaded yet: until [Set.Reload] has succeeded
// once, Evaluate gives an error.
func NewSet(o Options) *Set { return &Set{options: o} }

// Reload finds, verifies, checks and tries all bundles and puts them into the
// place of the old ones, in one step. If one of them is refused the old set stays
// whole and the error names every refused bundle with file, line and rule; it
// matches *[Refused] with errors.As.
func (s *Set) Reload(ctx context.Context) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	next, err := s.options.candidates(ctx)
	if err != nil {
		return err
	}
	if err := raise(s.options.State, next.bundles); err != nil {
		return fmt.Errorf("bundles: %w", err)
	}
	s.current.Store(next)
	return nil
}

// candidates loads everything that there is.
func (o *Options) candidates(ctx context.Context) (*generation, error) {
	ring, err := ReadKeys(o.Keys...)
	if err != nil {
		return nil, err
	}
	known, err := readMarks(o.State)
	if err != nil {
		return nil, fmt.Errorf("bundles: %w", err)
	}
	var loaded []*Bundle
	var notices []string
	var problems []error
	if !o.WithoutBaseline {
		baseline, err := baselineRoutes()
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, baseline)
	}
	var found []candidate
	for i, path := range append(append([]string{}, o.Folders...), o.Paths...) {
		find := findBundles
		if i >= len(o.Folders) {
			find = findPath
		}
		list, err := find(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("bundles: %w", err))
		}
		found = append(found, list...)
	}
	names := make(map[string]string)
	for _, b := range loaded {
		names[b.name] = b.source
	}
	for _, c := range found {
		b, notice, err := o.loadCandidate(ctx, c, ring, known)
		if err == nil {
			if other, ok := names[b.name]; ok {
				err = refuse(c.path, manifestFile, fmt.Errorf("the name %q is taken by %s; a name stands for one bundle", b.name, other))
			} else {
				names[b.name] = b.source
			}
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		loaded = append(loaded, b)
		if notice != "" {
			notices = append(notices, notice)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return newGeneration(loaded, notices), nil
}

// loadCandidate loads one bundle and tries it.
func (o *Options) loadCandidate(ctx context.Context, c candidate, ring *Keyring, known marks) (b *Bundle, notice string, err error) {
	var unsigned error
	if o.Strict {
		unsigned = errors.New("the strict profile takes signed bundles only")
	} else if err := checkOwned(c.folder, c.path); err != nil {
		unsigned = fmt.Errorf("a bundle without signature is taken only from a folder that is yours alone: %w", err)
	}
	if b, err = Load(ctx, c.path, LoadOptions{Keys: ring, AllowUnsigned: unsigned == nil, unsigned: unsigned}); err != nil {
		return nil, "", err
	}
	if err := known.allow(b); err != nil {
		return nil, "", refuse(c.path, manifestFile, err)
	}
	if err := b.try(ctx); err != nil {
		return nil, "", err
	}
	if b.key == "" {
		notice = fmt.Sprintf("bundle %s is not signed; it is used because its folder is yours (%s)", b.name, c.path)
	}
	return b, notice, nil
}

// Evaluate asks every bundle about a call. A bundle that fails denies, as a
// finding of kind [KindError]. The error is that of a set that was never loaded,
// of a document that is too long, or of a bundle that was neither asked nor
// provably out of the question; the caller denies the call.
func (s *Set) Evaluate(ctx context.Context, input *model.Input) (Findings, error) {
	g := s.current.Load()
	if g == nil {
		return Findings{}, errNotLoaded
	}
	return g.evaluate(ctx, input)
}

// Bundles returns the bundles of the set in the order in which they are asked.
func (s *Set) Bundles() (out []*Bundle) {
	if g := s.current.Load(); g != nil {
		for _, b := range g.bundles {
			if full, err := b.whole(); err == nil {
				b = full
			}
			out = append(out, b)
		}
	}
	return out
}

// Notices says what a user should know about the bundles that are used.
func (s *Set) Notices() []string {
	if g := s.current.Load(); g != nil {
		return append([]string{}, g.notices...)
	}
	return nil
}

// Added returns the bundles of the set besides the built-in one, in order.
func (s *Set) Added() (out []*Bundle) {
	if g := s.current.Load(); g != nil {
		for _, b := range g.bundles {
			if !b.BuiltIn() {
				out = append(out, b)
			}
		}
	}
	return out
}

// Policies returns the bundles' team policy documents, in order. The built-in
// bundle has none.
func (s *Set) Policies() (out []Document) {
	for _, b := range s.Added() {
		if b.policy != nil {
			out = append(out, Document{Bundle: b.name, Source: b.source, Text: b.policy})
		}
	}
	return out
}

// Revision names the set by a hash over its bundles: equal for equal policy. It
// is empty before the first load.
func (s *Set) Revision() string {
	if g := s.current.Load(); g != nil {
		return g.revision
	}
	return ""
}

// generation is a set of bundles that never changes.
type generation struct {
	bundles  []*Bundle
	notices  []string
	revision string
	// skipped is what Evaluate says of a call that no bundle is about: most calls,
	// so it is made once.
	skipped []Consulted
}

func newGeneration(list []*Bundle, notices []string) *generation {
	g := &generation{bundles: list, notices: notices}
	hash := sha256.New()
	for _, b := range list {
		fmt.Fprintf(hash, "%s %s\n", b.name, b.digest)
		g.skipped = append(g.skipped, Consulted{Bundle: b.name, Revision: b.revision})
	}
	g.revision = hex.EncodeToString(hash.Sum(nil)[:8])
	return g
}

// evaluate asks the bundles that may have something to say.
func (g *generation) evaluate(ctx context.Context, input *model.Input) (Findings, error) {
	var out Findings
	var doc ast.Value
	for i, b := range g.bundles {
		full, wanted, err := b.applicable(input)
		if err == nil && full == nil {
			if doc != nil {
				out.Consulted = append(out.Consulted, g.skipped[i])
			}
			continue
		}
		if doc == nil {
			var tooMuch error
			if doc, tooMuch = document(input); tooMuch != nil {
				return Findings{}, fmt.Errorf("the call is too much for the managed bundles: %w", tooMuch)
			}
			out.Consulted = append(make([]Consulted, 0, len(g.bundles)), g.skipped[:i]...)
		}
		if err != nil {
			b.failed(err, &out)
		} else {
			full.evaluate(ctx, wanted, doc, &out)
		}
	}
	if doc == nil {
		// Full slice expression: whoever appends gets a copy.
		out.Consulted = g.skipped[:len(g.skipped):len(g.skipped)]
	}
	return out, g.proof(out.Consulted)
}

// proof makes sure that every bundle was asked or was out of the question.
func (g *generation) proof(consulted []Consulted) error {
	if len(consulted) != len(g.bundles) {
		return fmt.Errorf("%d of %d managed bundles were consulted", len(consulted), len(g.bundles))
	}
	for i, b := range g.bundles {
		if consulted[i].Bundle != b.name || consulted[i].Revision != b.revision {
			return fmt.Errorf("the managed bundle %s was not consulted", b.name)
		}
	}
	return nil
}

// SetOf returns a loaded set of exactly these bundles, in order: for trying a
// bundle out. Reload would replace it.
func SetOf(bundles ...*Bundle) *Set {
	s := &Set{}
	s.current.Store(newGeneration(bundles, nil))
	return s
}
