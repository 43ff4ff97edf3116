package audit

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// memFS is a file system in memory that knows what a power loss would leave:
// the bytes of a file that were synced, and the names in a folder that were.
type memFS struct {
	mu      sync.Mutex
	dirs    map[string]bool
	live    map[string]*memNode
	durable map[string]*memNode
	next    uint64
	// budget is the number of changing calls before the power goes; -1 is never.
	budget int
	calls  int
}

type memNode struct {
	ino    uint64
	data   []byte
	synced []byte
	mode   os.FileMode
	owned  *memFile
}

func newMemFS() *memFS {
	return &memFS{dirs: map[string]bool{}, live: map[string]*memNode{}, durable: map[string]*memNode{}, budget: -1}
}

var errPower = fmt.Errorf("the power is gone")

// change counts a changing call. The caller holds the lock.
func (m *memFS) change() error {
	m.calls++
	if m.budget >= 0 && m.calls > m.budget {
		return errPower
	}
	return nil
}

func perr(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

func (m *memFS) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	m.dirs[dir] = true
	return nil
}

func (m *memFS) Create(path string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return nil, err
	}
	if m.live[path] != nil {
		return nil, perr("create", path, fs.ErrExist)
	}
	m.next++
	n := &memNode{ino: m.next, mode: 0o600}
	m.live[path] = n
	return &memFile{m: m, n: n, path: path}, nil
}

func (m *memFS) Scratch(path string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return nil, err
	}
	if m.live[path] == nil {
		m.next++
		m.live[path] = &memNode{ino: m.next, mode: 0o600}
	}
	return &memFile{m: m, n: m.live[path], path: path, scratch: true}, nil
}

func (m *memFS) Exchange(temp, path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	n, old := m.live[temp], m.live[path]
	if n == nil {
		return perr("rename", temp, fs.ErrNotExist)
	}
	m.live[path] = n
	if delete(m.live, temp); old != nil {
		m.live[temp] = old
	}
	return nil
}

func (m *memFS) open(path string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.live[path]
	if n == nil {
		return nil, perr("open", path, fs.ErrNotExist)
	}
	return &memFile{m: m, n: n, path: path}, nil
}

func (m *memFS) Open(path string) (File, error)     { return m.open(path) }
func (m *memFS) OpenRead(path string) (File, error) { return m.open(path) }

func (m *memFS) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	n := m.live[from]
	if n == nil {
		return perr("rename", from, fs.ErrNotExist)
	}
	delete(m.live, from)
	m.live[to] = n
	return nil
}

func (m *memFS) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	if m.live[path] == nil {
		return perr("remove", path, fs.ErrNotExist)
	}
	delete(m.live, path)
	return nil
}

func (m *memFS) Chmod(path string, mode os.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	if n := m.live[path]; n != nil {
		n.mode = mode
		return nil
	}
	return perr("chmod", path, fs.ErrNotExist)
}

func (m *memFS) ReadDir(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for p := range m.live {
		if filepath.Dir(p) == dir {
			names = append(names, filepath.Base(p))
		}
	}
	if names == nil && !m.dirs[dir] {
		return nil, perr("readdir", dir, fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

func (m *memFS) Stat(path string) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.live[path]; n != nil {
		return n.info(m), nil
	}
	return Info{}, perr("stat", path, fs.ErrNotExist)
}

func (n *memNode) info(m *memFS) Info {
	links := uint64(0)
	for _, l := range m.live {
		if l == n {
			links++
		}
	}
	return Info{Ino: n.ino, Size: int64(len(n.data)), Links: links, Mode: n.mode}
}

func (m *memFS) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.change(); err != nil {
		return err
	}
	for p := range m.durable {
		if filepath.Dir(p) == dir && m.live[p] == nil {
			delete(m.durable, p)
		}
	}
	for p, n := range m.live {
		if filepath.Dir(p) == dir {
			m.durable[p] = n
		}
	}
	return nil
}

func (m *memFS) OpenLock(path string) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[path] == nil {
		m.next++
		m.live[path] = &memNode{ino: m.next, mode: 0o600}
	}
	return &memLock{m, m.live[path]}, nil
}

type memLock struct {
	m *memFS
	n *memNode
}

func (l *memLock) Lock(time.Duration) error { return nil } // one process at a time in these tests
func (l *memLock) Unlock() error            { return nil }
func (l *memLock) Close() error             { return nil }
func (l *memLock) Stat() (Info, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.n.info(l.m), nil
}

type memFile struct {
	m    *memFS
	n    *memNode
	path string
	// scratch files are written at an offset.
	scratch bool
}

func (f *memFile) Append(p []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return 0, err
	}
	if f.scratch {
		data := slices.Clone(f.n.data)
		if tail := at + int64(len(p)); tail < int64(len(data)) {
			f.n.data = slices.Concat(data[:at], p, data[tail:])
		} else {
			f.n.data = slices.Concat(data[:at], p)
		}
		return len(p), nil
	}
	f.n.data = append(slices.Clip(f.n.data), p...)
	return len(p), nil
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if at >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return err
	}
	f.n.data = slices.Clone(f.n.data[:size])
	return nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.change(); err != nil {
		return err
	}
	f.n.synced = f.n.data
	return nil
}

func (f *memFile) Stat() (Info, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.n.info(f.m), nil
}

func (f *memFile) TryOwn() (bool, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.n.owned != nil && f.n.owned != f {
		return false, nil
	}
	f.n.owned = f
	return true, nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.n.owned == f {
		f.n.owned = nil
	}
	return nil
}

// crash is what the disk holds after a power loss: of each name the old or the
// new file, of each file what was synced and then nothing, a part, garbage or
// zeros of what was not.
func (m *memFS) crash(r *rand.Rand) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := newMemFS()
	out.next = m.next
	for d := range m.dirs {
		out.dirs[d] = true
	}
	nodes := map[*memNode]*memNode{}
	put := func(path string, n *memNode) {
		if nodes[n] == nil {
			nodes[n] = n.crash(r)
		}
		out.live[path], out.durable[path] = nodes[n], nodes[n]
	}
	paths := map[string]bool{}
	for p := range m.live {
		paths[p] = true
	}
	for p := range m.durable {
		paths[p] = true
	}
	sorted := make([]string, 0, len(paths))
	for p := range paths {
		sorted = append(sorted, p)
	}
	slices.Sort(sorted)
	for _, p := range sorted {
		n := m.durable[p]
		if l := m.live[p]; r.IntN(2) == 0 || strings.HasSuffix(p, "/"+lockName) {
			n = l
		}
		if n != nil {
			put(p, n)
		}
	}
	return out
}

func (n *memNode) crash(r *rand.Rand) *memNode {
	out := &memNode{ino: n.ino, mode: n.mode}
	data := slices.Clone(n.synced)
	common := len(n.synced)
	if len(n.data) < common || string(n.data[:common]) != string(n.synced) {
		if r.IntN(2) == 0 { // a truncation that may have reached the disk
			data = slices.Clone(n.data)
		}
	} else if rest := n.data[common:]; len(rest) > 0 {
		cut := r.IntN(len(rest) + 1)
		switch r.IntN(5) {
		case 0: // lost
		case 1: // whole
			data = append(data, rest...)
		case 2: // a part
			data = append(data, rest[:cut]...)
		case 3: // the size is there, the blocks are not
			data = append(append(data, rest[:cut]...), make([]byte, len(rest)-cut)...)
		case 4: // somebody else's old blocks
			cut = max(0, min(cut, len(rest)-16))
			data = append(data, rest[:cut]...)
			for range len(rest) - cut {
				data = append(data, byte(r.IntN(256)))
			}
		}
	}
	out.data, out.synced = data, data
	return out
}

// copyOf is a memFS with the same files, to change them.
func (m *memFS) copyOf() *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := newMemFS()
	for d := range m.dirs {
		out.dirs[d] = true
	}
	for p, n := range m.live {
		c := *n
		c.data, c.owned = slices.Clone(n.data), nil
		out.live[p] = &c
	}
	return out
}
