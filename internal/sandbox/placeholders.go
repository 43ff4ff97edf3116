package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// registration is one run's record of the placeholders it relies on. The file is
// locked for as long as the process lives, so that a run that was killed is told
// from one that goes on: the kernel gives up the lock with the process.
type registration struct {
	Started time.Time     `json:"started"`
	Items   []placeholder `json:"items"`
	path    string
	file    *os.File
}

// placeholder is a Placeholder with the identity that it had when it was made.
type placeholder struct {
	Placeholder
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// errStale means that the disk is no longer what the plan saw; look again.
var errStale = errors.New("the root changed while the sandbox was prepared")

var runCounter atomic.Uint64

// registry is the folder of registrations.
type registry struct{ dir string }

// openRegistry returns the registry below the state folder, or below the user's
// own temp folder if that one cannot be written to.
func openRegistry(stateDir string) (*registry, error) {
	dir := filepath.Join(stateDir, "sandbox")
	if err := os.MkdirAll(dir, 0o700); err == nil && writableDir(dir) {
		return &registry{dir}, nil
	}
	base := filepath.Join(os.TempDir(), fmt.Sprintf("lictor-%d", os.Getuid()))
	dir = filepath.Join(base, "sandbox")
	if err := makePrivateTemp(dir); err != nil {
		return nil, fmt.Errorf("sandbox state: neither %s nor %s can be used: %w", stateDir, base, err)
	}
	return &registry{dir}, nil
}

// locked runs f while no other process of this user changes the registry.
func (r *registry) locked(f func() error) error {
	l, err := os.OpenFile(filepath.Join(r.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	defer l.Close()
	if err := lockFile(l, true); err != nil {
		return fmt.Errorf("sandbox state: lock %s: %w", l.Name(), err)
	}
	return f()
}

// hold makes the placeholders of a plan and registers them, together with those of
// other runs that the plan's mounts rest on. errStale asks for a new plan.
func (r *registry) hold(p *Plan) (*registration, error) {
	reg := &registration{Started: time.Now(), path: filepath.Join(r.dir, fmt.Sprintf("%d-%d.json", os.Getpid(), runCounter.Add(1)))}
	err := r.locked(func() error {
		live := r.sweep("")
		for _, m := range p.Mounts {
			if m.Kind != Read || planned(p, m.Path) {
				continue
			}
			if it, ok := live[m.Path]; ok && it.here() {
				reg.Items = append(reg.Items, it)
			} else if _, err := os.Lstat(m.Path); err != nil {
				return errStale
			}
		}
		return reg.make(p, live)
	})
	if err != nil {
		reg.undo()
		return nil, err
	}
	return reg, nil
}

func planned(p *Plan, path string) bool {
	for _, h := range p.Placeholders {
		if h.Path == path {
			return true
		}
	}
	return false
}

// make writes the registration first, then the placeholders, then their identity:
// whenever the process dies, what is on the disk is known.
func (reg *registration) make(p *Plan, live map[string]placeholder) error {
	first := len(reg.Items)
	for _, h := range p.Placeholders {
		reg.Items = append(reg.Items, placeholder{Placeholder: h})
	}
	if len(reg.Items) == 0 {
		return nil
	}
	f, err := os.OpenFile(reg.path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	reg.file = f
	if err := lockFile(f, false); err != nil {
		return fmt.Errorf("sandbox state: lock %s: %w", reg.path, err)
	}
	if err := reg.write(); err != nil {
		return err
	}
	for i := first; i < len(reg.Items); i++ {
		it := &reg.Items[i]
		err := it.create()
		switch {
		case os.IsExist(err):
			other, ok := live[it.Path]
			if !ok || !other.here() {
				return errStale // it appeared by itself
			}
			*it = other
		case err != nil:
			return fmt.Errorf("reserve %s: %w", it.Path, err)
		}
	}
	return reg.write()
}

func (reg *registration) write() error {
	b, err := json.Marshal(reg)
	if err != nil {
		return err
	}
	// Written over, then cut: at no moment is the file without the list.
	if _, err := reg.file.WriteAt(b, 0); err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	if err := reg.file.Truncate(int64(len(b))); err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	return nil
}

func (it *placeholder) create() error {
	if it.Dir {
		if err := os.Mkdir(it.Path, 0o755); err != nil {
			return err
		}
	} else {
		f, err := os.OpenFile(it.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(it.Content)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	fi, err := os.Lstat(it.Path)
	if err != nil {
		return err
	}
	it.Dev, it.Ino, _ = identity(fi)
	return nil
}

// here reports whether the placeholder is still the one that was made.
func (it *placeholder) here() bool {
	fi, err := os.Lstat(it.Path)
	if err != nil || fi.IsDir() != it.Dir || !it.Dir && !fi.Mode().IsRegular() {
		return false
	}
	dev, ino, _ := identity(fi)
	return dev == it.Dev && ino == it.Ino
}

// remove takes the placeholder away if it is still what was made: the same file,
// with nothing in it that somebody else wrote.
func (it *placeholder) remove(since time.Time) {
	if it.Ino == 0 { // the run died before it wrote the identity down
		fi, err := os.Lstat(it.Path)
		if err != nil || fi.ModTime().Before(since.Add(-time.Second)) || fi.IsDir() != it.Dir {
			return
		}
	} else if !it.here() {
		return
	}
	if !it.Dir {
		if text, err := readSmall(it.Path); err != nil || text != it.Content && text != "" {
			return
		}
	}
	if it.Dir {
		_ = syscall.Rmdir(it.Path) // a folder with something in it stays
		return
	}
	_ = os.Remove(it.Path)
}

// release ends a registration: what no other run relies on is removed, and only
// then the list of it. Whoever dies in between leaves the list.
func (r *registry) release(reg *registration) error {
	if len(reg.Items) == 0 || reg.file == nil {
		return nil
	}
	return r.locked(func() error {
		live := r.sweep(filepath.Base(reg.path))
		for i := range reg.Items {
			if other, ok := live[reg.Items[i].Path]; !ok || other.Ino != reg.Items[i].Ino {
				reg.Items[i].remove(reg.Started)
			}
		}
		_ = os.Remove(reg.path)
		_ = reg.file.Close()
		return nil
	})
}

// undo takes back a registration that did not come about.
func (reg *registration) undo() {
	for i := range reg.Items {
		if reg.Items[i].Ino != 0 && reg.file != nil {
			reg.Items[i].remove(reg.Started)
		}
	}
	if reg.file != nil {
		_ = os.Remove(reg.path)
		_ = reg.file.Close()
	}
}

// sweep returns the placeholders of live runs by path, that of one registration
// left out (by its name, "" for none), and removes those of dead ones that no live
// run relies on.
func (r *registry) sweep(except string) map[string]placeholder {
	live := map[string]placeholder{}
	list, err := os.ReadDir(r.dir)
	if err != nil {
		return live
	}
	var dead []registration
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".json") || e.Name() == except {
			continue
		}
		path := filepath.Join(r.dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		free := lockFile(f, false) == nil
		var reg registration
		ok := json.NewDecoder(f).Decode(&reg) == nil
		_ = f.Close()
		switch {
		case free:
			reg.path = path
			dead = append(dead, reg)
		case ok:
			for _, it := range reg.Items {
				live[it.Path] = it
			}
		}
	}
	for _, reg := range dead {
		for i := range reg.Items {
			if other, ok := live[reg.Items[i].Path]; !ok || reg.Items[i].Ino != 0 && other.Ino != reg.Items[i].Ino {
				reg.Items[i].remove(reg.Started)
			}
		}
		_ = os.Remove(reg.path)
	}
	return live
}

// Reclaim removes what runs that were killed have left behind in project folders.
// It is cheap and safe at any time; Open calls it, and every run does.
func Reclaim(stateDir string) error {
	r, err := openRegistry(stateDir)
	if err != nil {
		return err
	}
	return r.locked(func() error { r.sweep(""); return nil })
}
