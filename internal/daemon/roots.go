//go:build unix

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/model"
)

// roots are the warm engines, one a project.
type roots struct {
	base    lictor.Options
	limit   int
	notify  func(string)
	metrics *metrics
	// opening bounds how many engines are opened at once.
	opening chan struct{}

	mu      sync.Mutex
	entries map[string]*entry
	clock   uint64
	closed  bool
	closing sync.WaitGroup
}

// entry is the engine of one root. Its own lock is held while files are read.
type entry struct {
	root string
	// users and used are the roots': how many calls use it, and when it was used.
	users int
	used  uint64

	mu      sync.Mutex
	engine  *lictor.Engine
	list    []watched
	trees   []string
	presets presets
	view    atomic.Pointer[view]
	secrets map[uint64]bool
}

// view is what the files looked like when the engine read them.
type view struct {
	stamps []stamp
	// until is when the times of the files tell every change; before it contents
	// are compared, and once after it everything is read again. digest is theirs.
	until  time.Time
	digest []byte
	// allow are the settings' network.allow, hosts what they stand for.
	allow, hosts []string
	// dirty says that the files changed while they were read.
	dirty bool
	// stale says that the files could not be read, so that the last good ones
	// decide. notices are for whoever made the call.
	stale   string
	notices []string
}

func newRoots(o Options, m *metrics) *roots {
	r := &roots{
		base: o.Engine, limit: o.MaxRoots, notify: o.Notify, metrics: m,
		opening: make(chan struct{}, 2), entries: map[string]*entry{},
	}
	r.base.Root, r.base.ProjectDir, r.base.Cwd, r.base.Home = "", "", "", o.Home
	r.base.Settings, r.base.Approver, r.base.Consent = "", nil, nil
	r.base.Execute, r.base.ShortLived, r.base.Notify = false, false, r.notify
	return r
}

// errClosed is the error for calls that come while the daemon ends.
var errClosed = errors.New("the daemon is ending")

// check decides a call. secrets are values that the record must not have.
func (r *roots) check(ctx context.Context, p project, call model.Call, secrets []string) (model.Verdict, []string, error) {
	root, err := config.FindRoot("", p.dir, p.cwd, r.base.Home)
	if err != nil {
		return model.Verdict{}, nil, err
	}
	e, err := r.acquire(root)
	if err != nil {
		return model.Verdict{}, nil, err
	}
	defer r.release(e)
	v, err := e.fresh(ctx, r)
	if err != nil {
		return model.Verdict{}, nil, err
	}
	if err := e.register(secrets); err != nil {
		return model.Verdict{}, nil, err
	}
	verdict, err := e.engine.Check(ctx, call)
	if v.stale != "" {
		verdict.Reason += " (" + v.stale + ")"
	}
	return verdict, v.notices, err
}

// acquire returns the entry of a root, which stays until it is released.
func (r *roots) acquire(root string) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	e := r.entries[root]
	if e == nil {
		e = &entry{root: root, secrets: map[uint64]bool{}}
		r.entries[root] = e
	}
	r.clock++
	e.users, e.used = e.users+1, r.clock
	r.evict()
	return e, nil
}

func (r *roots) release(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.users--
	r.evict()
}

// evict closes the engines that are over the limit and that nobody uses, and
// forgets those that could not be opened. r.mu is held.
func (r *roots) evict() {
	for root, e := range r.entries {
		if e.users == 0 && (e.view.Load() == nil || r.closed) {
			r.drop(root, e)
		}
	}
	for len(r.entries) > r.limit {
		var oldest *entry
		for _, e := range r.entries {
			if e.users == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			return
		}
		r.drop(oldest.root, oldest)
	}
}

func (r *roots) drop(root string, e *entry) {
	delete(r.entries, root)
	if e.engine == nil {
		return
	}
	r.metrics.closed.Add(1)
	r.closing.Add(1)
	go func() {
		defer r.closing.Done()
		if err := e.engine.Close(); err != nil {
			r.notify(fmt.Sprintf("closing the engine of %s: %v", root, err))
		}
	}()
}

// close ends all engines and waits for them, but not for calls that are stuck.
func (r *roots) close() {
	r.mu.Lock()
	r.closed = true
	r.evict()
	r.mu.Unlock()
	r.closing.Wait()
}

// count is how many engines there are.
func (r *roots) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}

// reloadAll makes the next call of each root read everything again (SIGHUP).
func (r *roots) reloadAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if v := e.view.Load(); v != nil {
			again := *v
			again.dirty = true
			e.view.Store(&again)
		}
	}
}

// fresh makes sure that the engine knows the files as they are now. Calls that
// wait for the same reading share it: whoever gets the lock looks again.
func (e *entry) fresh(ctx context.Context, r *roots) (*view, error) {
	if v := e.view.Load(); v != nil && e.current(v) {
		return v, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.view.Load(); v != nil && e.current(v) {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.engine == nil {
		return e.open(ctx, r)
	}
	return e.reload(ctx, r), nil
}

// current reports whether the files look as they did.
func (e *entry) current(v *view) bool {
	if v.dirty {
		return false
	}
	var space [48]stamp
	if !equal(look(space[:0], e.list, e.trees), v.stamps) || !e.presets.same(v.allow, v.hosts) {
		return false
	}
	if v.until.IsZero() {
		return true
	}
	if time.Now().After(v.until) {
		return false
	}
	return v.digest != nil && bytes.Equal(digest(e.list, e.trees), v.digest)
}

func (e *entry) open(ctx context.Context, r *roots) (*view, error) {
	select {
	case r.opening <- struct{}{}:
		defer func() { <-r.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o := r.base
	o.Root = e.root
	places := config.FindPlaces(e.root, o.Home).WithManagedPolicy(o.ManagedPolicy)
	if err := e.presets.init(places); err != nil {
		return nil, err
	}
	e.list, e.trees = watchList(places), treeList(places, o.Bundles)
	before := look(nil, e.list, e.trees)
	// The engine outlives this call, so it is not opened under its deadline.
	engine, err := lictor.Open(context.WithoutCancel(ctx), o)
	if err != nil {
		r.metrics.failures.Add(1)
		return nil, err
	}
	r.metrics.opened.Add(1)
	e.engine = engine
	v := e.seen(before)
	v.notices = engine.Notices()
	e.view.Store(v)
	return v, nil
}

// reload reads everything again. What changes while it is read is read once
// more; a project that keeps changing is read again by the next call.
func (e *entry) reload(ctx context.Context, r *roots) *view {
	var v *view
	for range 2 {
		before := look(nil, e.list, e.trees)
		err := e.engine.Reload(context.WithoutCancel(ctx))
		v = e.seen(before)
		v.notices = e.engine.Notices()
		r.metrics.reloads.Add(1)
		if err != nil {
			r.metrics.failures.Add(1)
			v.stale = fmt.Sprintf("decided by the last good rules, because the files cannot be read: %v", err)
			v.notices = append(v.notices, v.stale)
			r.notify(e.root + ": " + v.stale)
		} else {
			clear(e.secrets) // the record may be another one now
		}
		if !v.dirty {
			break
		}
	}
	e.view.Store(v)
	return v
}

// seen is the view after a reading, given how the files looked before it.
func (e *entry) seen(before []stamp) *view {
	v := &view{stamps: look(nil, e.list, e.trees)}
	v.allow, v.hosts = e.presets.hosts()
	if latest := youngest(v.stamps); time.Since(latest) < settled {
		v.digest = digest(e.list, e.trees)
		v.until = time.Now().Add(settled)
	}
	// The last look is after the digest, so that both are of the same files.
	v.dirty = !equal(before, v.stamps) || v.until != (time.Time{}) && !equal(look(nil, e.list, e.trees), v.stamps)
	return v
}

var seed = maphash.MakeSeed()

// maxSecrets is how many values one engine is told.
const maxSecrets = 512

// register tells the engine's record about values that it must not have. The
// daemon keeps only hashes of what it told.
func (e *entry) register(secrets []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range secrets {
		h := maphash.String(seed, s)
		if e.secrets[h] {
			continue
		}
		if len(e.secrets) >= maxSecrets {
			return errTooManySecrets
		}
		if err := e.engine.RegisterSecret(s); err != nil {
			return err
		}
		e.secrets[h] = true
	}
	return nil
}

// errTooManySecrets sends the call the cold way.
var errTooManySecrets = errors.New("the daemon has been told too many secrets: restart it")
