package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	folderName = ".lictor"
	sharedName = "permissions.json"
	localName  = "permissions.local.json"
	lockName   = "permissions.lock"
)

// Outcome is what rules alone say about a call.
type Outcome string

// The outcomes. OutcomeDefault means that no rule decides.
const (
	OutcomeAllow   Outcome = "allow"
	OutcomeAsk     Outcome = "ask"
	OutcomeDeny    Outcome = "deny"
	OutcomeDefault Outcome = "default"
)

// Options say where permission files lie and how they are read.
type Options struct {
	// Env is the world of the rules; an empty Env.Root is the root of Load.
	Env Env
	// User and System are the files of the user (~/.lictor/permissions.json) and
	// of the machine (/etc/lictor/permissions.json); empty ones are not read.
	User, System string
	// AskFirst lets an ask rule outrank an allow rule in Evaluate.
	AskFirst bool
	// Keep, if not nil, says which rules of the files count; it is how rules that
	// nobody consented to are left out.
	Keep func(model.Rule) bool
	// LockWait is how long a write waits for another process (0: 10 seconds).
	LockWait time.Duration
}

// Permissions are the rules of the permission files, and the session's. It is
// safe for concurrent use: a reader sees the rules before or after a change,
// never a part of one.
type Permissions struct {
	root string
	opts Options
	// mu orders changes: reading the files and putting the rules in place is one
	// step, so that an older reading never replaces a newer one.
	mu  sync.Mutex
	now atomic.Pointer[rulebook]
	ms  sync.Pool
}

// rulebook is one state of Permissions; it never changes.
type rulebook struct {
	files   []*fileRules
	session []model.Rule
	set     *Set
	notices []Notice
}

// Load reads the permission files for a root (an absolute path): the committed
// and the personal file of the project's `.lictor` folder, and those of the
// Options. A missing or blank file has no rules. A malformed file, a rule that
// does not parse and an invalid glob are errors that name the file and the rule.
func Load(root string, opts Options) (*Permissions, error) {
	p := LoadEmpty(root, opts)
	if err := p.Reload(); err != nil {
		return nil, err
	}
	return p, nil
}

// LoadEmpty returns Permissions without rules that has read nothing. Reload
// reads the files.
func LoadEmpty(root string, opts Options) *Permissions {
	if opts.Env.Root == "" {
		opts.Env.Root = root
	}
	p := &Permissions{root: root, opts: opts}
	p.ms.New = func() any { return new(Match) }
	set, _, _ := Compile(nil, opts.Env) // no rules, no errors
	p.now.Store(&rulebook{set: set})
	return p
}

// SharedPath is the committed file, LocalPath the personal one that rules are
// written to.
func (p *Permissions) SharedPath() string { return filepath.Join(p.root, folderName, sharedName) }

// LocalPath is the personal file, the only one that rules are written to.
func (p *Permissions) LocalPath() string { return filepath.Join(p.root, folderName, localName) }

// files are the paths of all sources, in the order their rules are listed.
func (p *Permissions) files() []string {
	var out []string
	for _, path := range []string{p.SharedPath(), p.LocalPath(), p.opts.User, p.opts.System} {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// Reload reads the files again. Session rules stay. If it fails, the rules stay
// as they were.
func (p *Permissions) Reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var files []*fileRules
	for _, path := range p.files() {
		f, err := loadFile(path)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	return p.put(files, p.now.Load().session)
}

// put compiles the rules and makes them the current ones. The caller holds mu.
func (p *Permissions) put(files []*fileRules, session []model.Rule) error {
	b, err := p.build(files, session)
	if err == nil {
		p.now.Store(b)
	}
	return err
}

// build compiles the rules.
func (p *Permissions) build(files []*fileRules, session []model.Rule) (*rulebook, error) {
	b := &rulebook{files: files, session: session}
	n := len(session)
	for _, f := range files {
		n += len(f.rules)
	}
	all := make([]model.Rule, 0, n)
	for _, f := range files {
		for _, r := range f.rules {
			if p.opts.Keep == nil || p.opts.Keep(r) {
				all = append(all, r)
			}
		}
		for _, key := range f.unknown {
			b.notices = append(b.notices, Notice{
				Rule: model.Rule{Source: f.path, Text: key},
				Text: fmt.Sprintf(`the key %q of "permissions" is unknown and ignored: rules belong into "allow", "ask" and "deny"`, key),
			})
		}
	}
	all = append(all, session...)
	set, notices, err := Compile(all, p.opts.Env)
	if err != nil {
		return nil, err
	}
	b.set, b.notices = set, append(b.notices, notices...)
	return b, nil
}

// Set returns the compiled rules, those of the session included.
func (p *Permissions) Set() *Set { return p.now.Load().set }

// Notices returns what the last load had to say about the rules.
func (p *Permissions) Notices() []Notice { return slices.Clone(p.now.Load().notices) }

// Snapshot are the rules at one moment, by effect and source.
type Snapshot struct {
	// Allow, Ask and Deny are the rules of the files in the order of the sources.
	Allow, Ask, Deny []model.Rule
	// Session are the allow rules of this session.
	Session []model.Rule
}

// Snapshot returns a copy of the current rules; rules that Options.Keep leaves
// out are not in it.
func (p *Permissions) Snapshot() Snapshot {
	b := p.now.Load()
	var out Snapshot
	for _, r := range b.set.rules[:len(b.set.rules)-len(b.session)] {
		switch r.Effect {
		case model.EffectAllow:
			out.Allow = append(out.Allow, r)
		case model.EffectAsk:
			out.Ask = append(out.Ask, r)
		default:
			out.Deny = append(out.Deny, r)
		}
	}
	out.Session = slices.Clone(b.session)
	return out
}

// Evaluate says what the rules alone say about a call: deny if a deny rule
// matches, else allow if allow and session rules cover every target, else ask
// if an ask rule matches (before allow with Options.AskFirst), else default.
func (p *Permissions) Evaluate(q *Query) Outcome {
	outcome, _ := p.EvaluateWithRule(q)
	return outcome
}

// EvaluateWithRule is Evaluate, and the first rule that decided (nil for the
// default).
func (p *Permissions) EvaluateWithRule(q *Query) (Outcome, *model.Rule) {
	m := p.ms.Get().(*Match)
	defer p.ms.Put(m)
	p.now.Load().set.Match(q, m)
	asked := len(m.Ask) > 0
	switch {
	case len(m.Deny) > 0:
		return OutcomeDeny, m.Deny[0].Rule
	case asked && (p.opts.AskFirst || !m.Covered):
		return OutcomeAsk, m.Ask[0].Rule
	case m.Covered && len(m.Allow) > 0:
		return OutcomeAllow, m.Allow[0].Rule
	case m.Covered:
		return OutcomeAllow, nil
	}
	return OutcomeDefault, nil
}
