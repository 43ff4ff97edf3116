package audit

import (
	"path/filepath"
	"strings"
)

// sweep finishes the segments of processes that died: a torn tail goes into
// quarantine, the recovery is recorded in the segment itself, and an end line
// closes it. A segment whose writer lives is locked by it and left alone; one
// that contradicts its checkpoint is left as it is, and the conflict is recorded
// in the segment that is about to begin.
func (l *Log) sweep(names []string) {
	for _, name := range names {
		if strings.Contains(name, sharedMark) || l.avoid[name] {
			continue
		}
		info, err := l.fs.Stat(filepath.Join(l.dir, name))
		if err != nil || !info.Mode.IsRegular() || info.Mode&0o200 == 0 {
			continue
		}
		if err := l.recoverSegment(name); err != nil {
			l.notice("sweep "+name, "audit: the segment "+filepath.Join(l.dir, name)+" of a process that died could not be finished: "+err.Error())
		}
	}
}

func (l *Log) recoverSegment(name string) error {
	path := filepath.Join(l.dir, name)
	f, err := l.fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if ok, err := f.TryOwn(); err != nil || !ok {
		return err // its writer lives
	}
	info, err := f.Stat()
	if err != nil || info.Mode&0o200 == 0 || info.Links == 0 {
		return err // somebody else was faster
	}
	t, err := readTail(f, info.Size)
	if err != nil {
		return err
	}
	if c := l.contradiction(name, f, t); c != nil {
		l.conflicts = append(l.conflicts, c)
		l.notice("conflict", "audit: "+path+": "+c.Why+"; see `lictor audit verify`")
		return l.fs.Chmod(path, finishedMode)
	}
	if t.count == 0 { // not even a header
		if err := l.quarantine(path, f, t); err != nil {
			return err
		}
		return l.fs.Remove(path)
	}
	// The rest is written like any other line, into that segment.
	mine := l.seg
	defer func() { l.seg = mine }()
	l.seg = &segment{
		name: name, path: path, id: t.id, f: f, info: info,
		seq: t.count, off: t.end, head: t.head, recorded: lastRecorded(t.count),
	}
	if t.torn > 0 {
		if err := l.repair(l.seg, t); err != nil {
			return err
		}
	}
	if err = l.finish("its writer ended without closing it"); written(err) {
		return nil
	}
	return err
}
