package audit

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const separator = filepath.Separator

// segment is the file that a log writes to.
type segment struct {
	name, path, id string
	f              File
	info           Info // which file it is
	shared         bool
	seq            uint64 // lines in it
	off            int64  // its length
	head           [hexLen]byte
	recorded       uint64 // seq at the last history entry
	looked         time.Time
	scratch        string // where this process prepares checkpoints
}

func (s *segment) point() *Point {
	return &Point{File: s.name, Count: s.seq, Head: string(s.head[:]), Bytes: s.off}
}

func (s *segment) conflict(status Status, why string) *System {
	return &System{Status: status, File: s.name, Why: why, Point: s.point()}
}

// begin opens a segment: the shared one if there is one, else a new one.
func (l *Log) begin() error {
	if err := l.fs.MkdirAll(l.dir); err != nil {
		return err
	}
	if info, err := l.fs.Stat(l.dir); err == nil {
		switch {
		case info.Mode&os.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link; the log's folder must be a real one", l.dir)
		case info.Mode.Perm()&0o077 != 0:
			_ = l.fs.Chmod(l.dir, dirMode) // nobody else's business
		}
	}
	names, err := segmentNames(l.fs, l.dir)
	if err != nil {
		return err
	}
	attached := false
	if l.shared {
		attached, err = l.beginShared(names)
	} else {
		l.sweep(names)
	}
	if err == nil && !attached {
		err = l.create(names)
	}
	if err != nil {
		return err
	}
	for len(l.conflicts) > 0 {
		c := l.conflicts[0]
		err := l.append(&Event{Type: TypeConflict, System: c})
		if !written(err) {
			return err
		}
		l.conflicts = l.conflicts[1:]
	}
	return nil
}

// beginShared goes on with the newest shared segment that is not finished, and
// finishes older ones that were given up.
func (l *Log) beginShared(names []string) (bool, error) {
	var unfinished []string
	for _, name := range slices.Backward(names) {
		if !strings.Contains(name, sharedMark) || l.avoid[name] {
			continue
		}
		info, err := l.fs.Stat(filepath.Join(l.dir, name))
		if err == nil && info.Mode&0o200 != 0 && info.Mode.IsRegular() {
			unfinished = append(unfinished, name)
		}
	}
	if len(unfinished) == 0 {
		return false, nil
	}
	for _, name := range unfinished[1:] {
		if err := l.recoverSegment(name); err != nil {
			l.notice("sweep "+name, "audit: the segment "+filepath.Join(l.dir, name)+" could not be finished: "+err.Error())
		}
	}
	name := unfinished[0]
	path := filepath.Join(l.dir, name)
	f, err := l.fs.Open(path)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return false, err
	}
	l.seg = &segment{name: name, path: path, f: f, info: info, shared: true}
	err = l.attachTail(info.Size)
	if err == nil {
		return true, nil
	}
	if l.gaveUp(err) {
		return false, nil // a new one, which says why
	}
	l.drop()
	return false, err
}

// attachTail reads where the shared segment ends, repairs a torn tail and holds
// it against its checkpoint.
func (l *Log) attachTail(size int64) error {
	s := l.seg
	t, err := readTail(s.f, size)
	if err != nil {
		return &lostError{why: s.name + " cannot be read", err: err, keep: true}
	}
	if c := l.contradiction(s.name, s.f, t); c != nil {
		return &lostError{why: s.name + " contradicts what is known about it", conflict: c}
	}
	if t.count == 0 { // its writer died before the header was whole
		if err := l.quarantine(s.path, s.f, t); err != nil {
			return stuck(s, err)
		}
		_ = l.fs.Remove(s.path)
		return &lostError{why: s.name + " had no header", keep: true}
	}
	s.id, s.seq, s.head, s.off = t.id, t.count, t.head, t.end
	s.recorded = lastRecorded(s.seq)
	if t.torn == 0 {
		return nil
	}
	return l.repair(s, t)
}

// stuck says that a torn tail cannot be taken off.
func stuck(s *segment, err error) error {
	return &lostError{why: "the torn tail of " + s.name + " could not be taken off", err: err, keep: true}
}

// repair quarantines the torn tail of the open segment and records that.
func (l *Log) repair(s *segment, t *tail) error {
	sum := t.tornSum()
	name, err := l.quarantineName(s.path, s.f, t)
	if err != nil {
		return stuck(s, err)
	}
	if err := s.f.Truncate(t.end); err != nil {
		return stuck(s, err)
	}
	l.notice("recovered", fmt.Sprintf("audit: %d bytes of a torn line at the end of %s were moved to %s", t.torn, s.path, name))
	err = l.append(&Event{Type: TypeRecovered, System: &System{
		Bytes: t.torn, Offset: t.end, SHA256: sum, Quarantine: filepath.Base(name),
		Why: "a writer ended in the middle of a line",
	}})
	if written(err) {
		return nil
	}
	return err
}

// create makes a new segment with its header.
func (l *Log) create(names []string) error {
	link := l.link(names)
	var id [8]byte
	for range 4 {
		rand.Read(id[:])
		middle := fmt.Sprintf("-%d-", os.Getpid())
		if l.shared {
			middle = sharedMark
		}
		name := l.now.UTC().Format("20060102T150405.000000000Z") + middle + hex.EncodeToString(id[:4]) + segmentSuffix
		path := filepath.Join(l.dir, name)
		f, err := l.fs.Create(path)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !l.shared {
			// Somebody who cleans up may have taken the empty file for an orphan, and
			// have removed it before it was owned.
			ok, err := f.TryOwn()
			info, serr := f.Stat()
			if (err == nil && !ok) || (serr == nil && info.Links == 0) {
				f.Close()
				continue
			}
		}
		// No line, link or checkpoint may speak of a file that a power loss can take
		// away.
		if err := l.fs.SyncDir(l.dir); err != nil {
			f.Close()
			_ = l.fs.Remove(path)
			return err
		}
		s := &segment{name: name, path: path, id: hex.EncodeToString(id[:]), f: f, shared: l.shared, head: genesis}
		if s.info, err = f.Stat(); err == nil {
			l.seg = s
			err = l.header(link)
		}
		if !written(err) {
			l.seg = nil
			_ = f.Truncate(0)
			f.Close()
			_ = l.fs.Remove(path)
			var lost *lostError
			if errors.As(err, &lost) { // a new file would fail the same way
				err = fmt.Errorf("%s: %w", lost.why, lost.err)
			}
			return err
		}
		return nil
	}
	return errors.New("no new segment could be made; is the clock standing still?")
}

func (l *Log) header(link *Point) error {
	sys := &System{
		Format: "lictor-audit/1", Version: l.opt.Version, Log: l.name, Root: l.opt.Root,
		File: l.seg.name, Shared: l.shared, PID: os.Getpid(), Link: link, Why: l.why,
	}
	if l.signer != nil {
		sys.Key = fmt.Sprintf("%s+%08x", l.signer.Name(), l.signer.KeyHash())
	}
	err := l.append(&Event{Type: TypeHeader, System: sys})
	if !written(err) {
		return err
	}
	l.why = ""
	return err
}

// link finds the newest segment that is there, so that its removal can be seen,
// and makes what the link speaks of durable.
func (l *Log) link(names []string) *Point {
	for _, name := range slices.Backward(names) {
		f, err := l.fs.OpenRead(filepath.Join(l.dir, name))
		if err != nil {
			continue
		}
		p := linkTo(f, name)
		f.Close()
		if p != nil {
			return p
		}
	}
	return nil
}

func linkTo(f File, name string) *Point {
	info, err := f.Stat()
	if err != nil || !info.Mode.IsRegular() {
		return nil
	}
	t, err := readTail(f, info.Size)
	if err != nil || t.count == 0 || t.bad {
		return nil
	}
	if info.Mode&0o200 != 0 && f.Sync() != nil {
		return nil
	}
	return &Point{File: name, Count: t.count, Head: string(t.head[:]), Bytes: t.end}
}

// segmentNames lists the segments in a folder, oldest first. A folder that is
// not there has none; one that cannot be listed is a *DirError.
func segmentNames(fsys FS, dir string) ([]string, error) {
	all, err := fsys.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &DirError{Dir: dir, Err: err}
	}
	names := all[:0]
	for _, n := range all {
		if isSegment(n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}
