package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/eval"
)

// evaluationLimit bounds one evaluation of one bundle. Twenty rules need tens of
// microseconds.
const evaluationLimit = 2 * time.Second

// Bundle is a bundle that was verified, checked and compiled. It never changes
// and is safe for concurrent use.
type Bundle struct {
	name, revision, source string
	title, description     string
	serial                 int64
	key, digest            string
	rules                  []Rule
	routes                 routes
	policy                 json.RawMessage
	examples               []Example
	files                  files

	// full loads the rest of a bundle of which only the routes are known yet.
	full func() (*Bundle, error)
	// conditions say for each rule when it can apply.
	conditions []condition
	queries    *queries
}

// Name is the bundle's name, the last segment of its root.
func (b *Bundle) Name() string { return b.name }

// Revision is the manifest's revision.
func (b *Bundle) Revision() string { return b.revision }

// Serial is the manifest's release number; 0 if it has none.
func (b *Bundle) Serial() int64 { return b.serial }

// Source is the folder or archive that the bundle was read from.
func (b *Bundle) Source() string { return b.source }

// KeyID is the id of the key that signed the bundle, or "" if none did.
func (b *Bundle) KeyID() string { return b.key }

// Digest is a hash over the files that matter: equal for equal policy.
func (b *Bundle) Digest() string { return b.digest }

// Rules returns the deny and ask rules by file and line. Do not change them.
func (b *Bundle) Rules() []Rule { return b.rules }

// Policy is the bundle's team policy document, or nil.
func (b *Bundle) Policy() json.RawMessage { return b.policy }

// LoadOptions say what a bundle must be to be loaded.
type LoadOptions struct {
	// Keys verify signatures. A signed bundle is verified always; without its key
	// it is refused.
	Keys *Keyring
	// AllowUnsigned takes a bundle without signature. The caller vouches for where
	// it comes from.
	AllowUnsigned bool
	// unsigned says why an unsigned bundle is refused.
	unsigned error
}

// Load reads a bundle from a folder or a .tar.gz file, verifies it, holds it
// against the contract and compiles it. The error is a *[Refused] that names every
// problem with file, line and rule, or the context's error.
func Load(ctx context.Context, path string, o LoadOptions) (*Bundle, error) {
	f, err := readPath(path)
	if err != nil {
		return nil, refuse(path, "", err)
	}
	return load(ctx, path, f, o)
}

// LoadFS is [Load] for a folder of a file system; source names it in messages.
func LoadFS(ctx context.Context, source string, fsys fs.FS, o LoadOptions) (*Bundle, error) {
	f, err := readFolder(fsys)
	if err != nil {
		return nil, refuse(source, "", err)
	}
	return load(ctx, source, f, o)
}

// load makes a bundle of its files.
func load(ctx context.Context, source string, f files, o LoadOptions) (b *Bundle, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = refuse(source, "", fmt.Errorf("the engine failed on it: %v", cause))
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b = &Bundle{source: source, files: f}
	// Nothing of the files is believed before the signature is: not even parsed.
	if _, signed := f[signaturesFile]; signed {
		key, err := verify(f, o.Keys)
		if err != nil {
			return nil, refuse(source, signaturesFile, err)
		}
		b.key = key.ID
	} else if !o.AllowUnsigned {
		why := "sign it with `lictor bundle sign`"
		if o.unsigned != nil {
			why = o.unsigned.Error()
		}
		return nil, refuse(source, signaturesFile, fmt.Errorf("missing: the bundle is not signed; %s", why))
	}
	if err := b.check(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// check holds the files against the contract and compiles them.
func (b *Bundle) check(ctx context.Context) error {
	var r refusal
	m := readManifest(b.files, &r)
	checkFiles(b.files, &r)
	modules := parseModules(b.files, m.name, &r)
	b.rules = checkModules(modules, &r)
	data := readData(b.files, m.name, modules, &r)
	if len(b.rules) > maxRules {
		r.add(manifestFile, 0, "", "%d deny and ask rules, at most %d are allowed", len(b.rules), maxRules)
	}
	if b.key != "" && m.Metadata.Serial < 1 {
		r.add(manifestFile, lineOf(b.files[manifestFile], "metadata"), "", "metadata.serial is missing: a signed bundle counts its releases from 1, so that an old one cannot come back")
	}
	if err := r.err(b.source); err != nil {
		return err
	}
	b.name, b.revision, b.serial = m.name, m.Revision, m.Metadata.Serial
	b.title, b.description = m.Metadata.Title, m.Metadata.Description
	b.digest = b.files.digest()
	return b.prepare(ctx, modules, data)
}

// prepare compiles the modules and everything that is asked of them.
func (b *Bundle) prepare(ctx context.Context, modules map[string]*ast.Module, data map[string]any) error {
	var r refusal
	for _, file := range sortedKeys(modules) {
		for _, rule := range modules[file].Rules {
			if slices.Contains(findingRules, headName(rule)) {
				b.conditions = append(b.conditions, condition{need: deriveNeed(modules[file], rule)})
			}
		}
	}
	for i := range b.conditions {
		b.conditions[i].route = compiledRoute{b.rules[i].Route, set(b.rules[i].Route.Programs)}
	}
	compiler, err := compile(separate(modules))
	if err != nil {
		addASTErrors(err, b.source, modules, &r)
		return r.err(b.source)
	}
	own := packageRef(b.name)
	checkReferences(compiler, modules, own, documentAt(data, b.name), &r)
	checkTypes(compiler, b.rules, own, &r)
	if err := r.err(b.source); err != nil {
		return err
	}
	compiled, err := eval.NewModules(ctx, compiler, data, evaluationLimit)
	if err != nil {
		return refuse(b.source, "", err)
	}
	ask := asker{ctx: ctx, compiler: compiler, modules: compiled, data: data, own: own}
	if b.policy, err = ask.policy(); err != nil {
		file, line := placeOf(modules, "policy")
		r.add(file, line, "policy", "%v", err)
	}
	if len(b.rules) == 0 && b.policy == nil {
		r.add(manifestFile, 0, "", "the bundle says nothing: it has neither a deny or ask rule nor a policy document")
	}
	if b.examples, err = ask.examples(); err != nil {
		file, line := placeOf(modules, examplesRule)
		r.add(file, line, examplesRule, "%v", err)
	}
	if err := r.err(b.source); err != nil {
		return err
	}
	b.routes = compileRoutes(b.rules)
	if b.queries, err = newQueries(compiled, b.name, len(b.rules)); err != nil {
		return refuse(b.source, "", err)
	}
	return nil
}

// placeOf finds the first rule of a name.
func placeOf(modules map[string]*ast.Module, name string) (file string, line int) {
	for _, file := range sortedKeys(modules) {
		for _, rule := range modules[file].Rules {
			if headName(rule) == name {
				return place(rule.Loc())
			}
		}
	}
	return dataFile, 0
}

// digest hashes the files that decide: not the tests, not what is for people,
// and not the signature over all of them.
func (f files) digest() string {
	hash := sha256.New()
	for _, name := range f.names() {
		if name != signaturesFile && !isTest(name) && shipped(name) {
			fmt.Fprintf(hash, "%d %s %d\n", len(name), name, len(f[name]))
			hash.Write(f[name])
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// shipped reports whether a file belongs into a built bundle.
func shipped(name string) bool {
	return !isTest(name) && (name == manifestFile || strings.HasSuffix(name, regoSuffix) || strings.HasSuffix("/"+name, "/"+dataFile))
}
