package audit

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// write puts an event on disk, in a new segment if the old one is lost.
func (l *Log) write(e *Event) (Ref, error) {
	defer l.unlock()
	var err error
	for range 3 {
		if err = l.ready(l.syncs(e)); err == nil {
			if err = l.gap(); err == nil {
				err = l.append(e)
			}
		}
		if err == nil || !l.gaveUp(err) {
			break
		}
		l.unlock()
	}
	if l.seg == nil || !written(err) {
		return Ref{}, err
	}
	ref := Ref{Segment: l.seg.id, Seq: l.seg.seq}
	if l.seg.off >= l.opt.MaxSegmentBytes {
		if ferr := l.finish("rotated"); written(ferr) {
			l.drop()
		} else if err == nil {
			l.notice("rotate", fmt.Sprintf("audit: the segment %s could not be finished: %v; it grows on", l.seg.path, ferr))
		}
	}
	return ref, err
}

// gap records how many events were lost, before the first that is not.
func (l *Log) gap() error {
	if l.dropped == 0 {
		return nil
	}
	err := l.append(&Event{Type: TypeGap, System: &System{Count: l.dropped, Why: "the log could not be written"}})
	if written(err) {
		l.dropped = 0
		delete(l.noticed, "write")
	}
	return err
}

// syncs reports whether the line must be durable before the call goes on.
// A checkpoint must never speak of a line that a power loss could take away, so
// with checkpoints every line is.
func (l *Log) syncs(e *Event) bool {
	if l.opt.Checkpoint {
		return true
	}
	switch l.opt.Durability {
	case DurabilityNone:
		return false
	case DurabilityDenials:
		return e.Class.Denied() || e.Class == ClassAsk || e.Class == AllowUser || e.Observed ||
			e.Answer != "" || e.Error != "" || e.Type.system()
	}
	return true
}

// append writes one line to the open segment, which is ready: one write, then
// the sync, then the checkpoint. The chain moves on when the line is on disk.
func (l *Log) append(e *Event) error {
	s := l.seg
	line := l.enc.encode(e, s.seq+1, l.now, s.id, &s.head, &l.next)
	staged := l.stage(int64(len(line)))
	err := l.put(line, l.syncs(e))
	cerr := staged.wait()
	if err != nil {
		staged.discard()
		return err
	}
	s.seq++
	s.off += int64(len(line))
	s.head = l.next
	return l.commit(staged, cerr)
}

// put writes the bytes of one line and makes them durable if asked.
func (l *Log) put(line []byte, durable bool) error {
	s := l.seg
	n, err := s.f.Append(line, s.off)
	if err == nil && n < len(line) {
		err = errors.New("short write")
	}
	if err != nil {
		if terr := s.f.Truncate(s.off); terr != nil {
			return &lostError{why: "a line was torn in " + s.name + " and could not be taken back", err: err, keep: true}
		}
		return err
	}
	if durable {
		if err := s.f.Sync(); err != nil {
			// The kernel may have dropped the pages and would call the next sync a
			// success: this file is not to be trusted with another line.
			_ = s.f.Truncate(s.off)
			return &lostError{why: "a sync of " + s.name + " failed", err: err, keep: true}
		}
	}
	return nil
}

// ready makes sure that there is a segment to append to, that it is still the
// file it was, and that nobody else writes to it.
func (l *Log) ready(durable bool) error {
	if l.shared && !l.locked {
		if err := l.lockShared(); err != nil {
			l.sideline(err)
		}
	}
	if l.seg == nil {
		return l.begin()
	}
	s := l.seg
	info, err := l.look(durable)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err != nil || !info.same(s.info) || info.Links == 0 {
		return &lostError{
			why:      s.name + " was removed or replaced",
			conflict: s.conflict(StatusMissing, "the segment was removed or replaced while it was being written"),
		}
	}
	switch {
	case s.shared && info.Mode&0o200 == 0: // another process finished it
		l.drop()
		return l.begin()
	case info.Size == s.off:
		return nil
	case info.Size > s.off && s.shared:
		return l.follow(info.Size)
	case info.Size < s.off:
		return &lostError{why: s.name + " was cut", conflict: s.conflict(StatusTruncated, "the segment was cut while it was being written")}
	}
	return &lostError{why: "somebody else wrote to " + s.name, conflict: s.conflict(StatusTampered, "somebody else wrote to the segment")}
}

// lookEvery is how often the path of the segment is looked at if lines are not
// made durable anyway. The open file itself is looked at before every line: that
// is cheaper, and shows a removed file at once, but not a renamed one.
const lookEvery = 10 * time.Millisecond

// look says what file there is at the segment's path.
func (l *Log) look(durable bool) (Info, error) {
	s := l.seg
	if age := l.now.Sub(s.looked); durable || age > lookEvery || age < 0 {
		s.looked = l.now
		return l.fs.Stat(s.path)
	}
	return s.f.Stat()
}

// follow takes over what other processes appended to the shared segment.
func (l *Log) follow(size int64) error {
	s := l.seg
	var own [suffixLen + 1]byte
	if s.off > 0 {
		if _, err := s.f.ReadAt(own[:], s.off-int64(len(own))); err != nil {
			return &lostError{why: s.name + " cannot be read back", err: err, keep: true}
		}
		if string(own[len(hashMember):len(hashMember)+hexLen]) != string(s.head[:]) {
			return &lostError{why: s.name + " was rewritten", conflict: s.conflict(StatusTampered, "a line of this process was changed")}
		}
	}
	return l.attachTail(size)
}

// lockShared takes the lock of the shared segment, of the lock file that is
// there now: after the folder was removed, an old one would lock nobody out.
func (l *Log) lockShared() error {
	path := l.dir + string(separator) + lockName
	for range 3 {
		if l.lock == nil {
			if err := l.fs.MkdirAll(l.dir); err != nil {
				return err
			}
			lock, err := l.fs.OpenLock(path)
			if err != nil {
				return err
			}
			l.lock = lock
		}
		if err := l.lock.Lock(l.opt.LockTimeout); err != nil {
			return err
		}
		mine, err := l.lock.Stat()
		if err != nil {
			return err
		}
		if there, err := l.fs.Stat(path); err == nil && there.same(mine) {
			l.locked = true
			return nil
		}
		l.lock.Close()
		l.lock = nil
	}
	return errors.New("the lock file keeps changing")
}

func (l *Log) unlock() {
	if l.locked {
		l.locked = false
		_ = l.lock.Unlock()
	}
}

// sideline gives up the shared segment for this process, whose lock cannot be
// had: a stopped process must not stop everybody else.
func (l *Log) sideline(err error) {
	l.drop()
	l.shared = false
	l.why = "the lock of the shared segment could not be had: " + err.Error()
	if l.lock != nil {
		l.lock.Close()
		l.lock = nil
	}
}

// gaveUp reports whether an error is about the segment; then it is abandoned and
// the event belongs into a new one.
func (l *Log) gaveUp(err error) bool {
	var lost *lostError
	if !errors.As(err, &lost) {
		return false
	}
	l.abandon(lost)
	return true
}

// abandon leaves a segment that cannot be used any more.
func (l *Log) abandon(lost *lostError) {
	l.why = lost.Error()
	if lost.conflict != nil {
		l.conflicts = append(l.conflicts, lost.conflict)
		l.notice("conflict", "audit: "+lost.why+"; the log goes on in a new segment, see `lictor audit verify`")
	}
	if l.seg == nil {
		return
	}
	l.avoid[l.seg.name] = true
	if !lost.keep {
		if info, err := l.fs.Stat(l.seg.path); err == nil && info.same(l.seg.info) {
			_ = l.fs.Chmod(l.seg.path, finishedMode) // nobody goes on with it
		}
	}
	l.drop()
}

// drop closes the open segment, if there is one.
func (l *Log) drop() {
	if l.seg != nil {
		l.seg.f.Close()
		if l.seg.scratch != "" {
			_ = l.fs.Remove(l.seg.scratch)
		}
		l.seg = nil
	}
}

// finish writes the end line of the open segment and makes it read-only.
func (l *Log) finish(why string) error {
	err := l.append(&Event{Type: TypeEnd, System: &System{Count: l.seg.seq, Why: why}})
	if !written(err) {
		return err
	}
	if herr := l.rememberEnd(); err == nil {
		err = herr
	}
	if l.opt.Checkpoint {
		l.tidy(l.seg)
	}
	// Read-only means finished to everybody else: whatever the durability, the
	// lines come first.
	if serr := l.seg.f.Sync(); serr != nil {
		return serr
	}
	if cerr := l.fs.Chmod(l.seg.path, finishedMode); cerr != nil {
		return cerr
	}
	return err
}
