package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"
)

// The history keeps checkpoints of all segments, one line each (base64 of the
// stored checkpoint), and is only ever appended to. Who puts back an older log
// with its older checkpoint has to know of it too, and who removes a segment
// with its checkpoint as well.

// historyEvery is how many lines of a segment lie between two entries.
const historyEvery = 100

// remember appends a checkpoint to the history, under a lock because all
// processes share it.
func (l *Log) remember(msg []byte) error {
	if l.ck.lock == nil {
		lock, err := l.fs.OpenLock(filepath.Join(l.ckDir, lockName))
		if err != nil {
			return err
		}
		l.ck.lock = lock
	}
	if err := l.ck.lock.Lock(l.opt.LockTimeout); err != nil {
		return err
	}
	defer l.ck.lock.Unlock()
	path := filepath.Join(l.ckDir, historyName)
	f, err := l.fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err = l.fs.Create(path)
	}
	if err != nil {
		l.ck.close() // the folder may have been replaced: take the new lock next time
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, err := wholeLines(f, info.Size)
	if err != nil {
		return err
	}
	if size < info.Size { // an entry that a crash tore
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	line := append(base64.StdEncoding.AppendEncode(nil, msg), '\n')
	n, err := f.Append(line, size)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = f.Truncate(size)
		return err
	}
	return f.Sync()
}

// wholeLines is the length of a file up to its last newline.
func wholeLines(f File, size int64) (int64, error) {
	const window = 2 * maxCheckpoint
	start := max(0, size-window)
	buf := make([]byte, size-start)
	if n, err := f.ReadAt(buf, start); err != nil && !(errors.Is(err, io.EOF) && n == len(buf)) {
		return 0, err
	}
	return start + int64(bytes.LastIndexByte(buf, '\n')+1), nil
}

// historyState is what the history knows: the longest state of each segment.
type historyState struct {
	points map[string]*Checkpoint
	// badLine is the first entry that is none, 0 if there is no such.
	badLine uint64
	why     string
}

// readHistory reads the history; a missing one is empty. An entry without its
// newline at the end was torn by a crash and does not count.
func readHistory(fsys FS, ckDir string, trusted note.Verifiers) (*historyState, error) {
	h := &historyState{points: make(map[string]*Checkpoint)}
	f, err := fsys.OpenRead(filepath.Join(ckDir, historyName))
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := newLineReader(f, 0, 32<<10, 4*maxCheckpoint)
	for n := uint64(1); ; n++ {
		line, _, err := lines.next()
		if errors.Is(err, io.EOF) {
			return h, nil
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, err
		}
		var c *Checkpoint
		if err == nil {
			if !bytes.HasSuffix(line, []byte("\n")) {
				return h, nil
			}
			var msg []byte
			if msg, err = base64.StdEncoding.Strict().DecodeString(string(line[:len(line)-1])); err == nil {
				c, err = parseCheckpoint(msg, trusted)
			}
		}
		if err != nil {
			if bytes.Contains(line, zeroRun[:]) || garbage(line) { // blocks that a power loss left
				continue
			}
			h.badLine, h.why = n, "an entry of the checkpoint history cannot be parsed: "+err.Error()
			return h, nil
		}
		if old := h.points[c.Point.File]; old == nil || old.Point.Count < c.Point.Count {
			h.points[c.Point.File] = c
		}
	}
}

// lastRecorded is the line of the last history entry of a segment that another
// process wrote: its first line, or the last hundredth.
func lastRecorded(seq uint64) uint64 { return max(min(seq, 1), seq-seq%historyEvery) }
