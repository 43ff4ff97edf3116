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
	size, err := intact(f, info.Size)
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

// intact is the length of a history up to what a crash tore: an entry without its
// newline, or foreign blocks, in which there may be newlines. An entry that
// somebody edited stays, for verify to find.
func intact(f File, size int64) (int64, error) {
	const window = 4 * maxCheckpoint
	start := max(0, size-window)
	buf := make([]byte, size-start)
	if n, err := f.ReadAt(buf, start); err != nil && !(errors.Is(err, io.EOF) && n == len(buf)) {
		return 0, err
	}
	whole := bytes.LastIndexByte(buf, '\n') + 1
	end := whole
	for end > 0 {
		line := bytes.LastIndexByte(buf[:end-1], '\n') + 1
		if _, err := parseEntry(buf[line:end-1], nil); err == nil {
			break
		}
		end = line
	}
	switch rest := buf[end:]; {
	case len(rest) > window/2: // more than the one entry that a crash can tear
		return 0, errors.New("the checkpoint history does not end in entries: see `lictor audit verify`, then move it away")
	case left(rest):
		return start + int64(end), nil
	}
	return start + int64(whole), nil
}

// parseEntry reads a line of the history, without its newline.
func parseEntry(line []byte, trusted note.Verifiers) (*Checkpoint, error) {
	msg, err := base64.StdEncoding.Strict().DecodeString(string(line))
	if err != nil {
		return nil, err
	}
	return parseCheckpoint(msg, trusted)
}

// left reports whether a power loss left these bytes, and nobody wrote them.
func left(p []byte) bool { return bytes.Contains(p, zeroRun[:]) || garbage(p) }

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
	// torn is what stands between two entries. It is judged as a whole: of foreign
	// blocks, a line of a few bytes alone may look like an entry that was edited.
	var torn []byte
	var first uint64
	var why error
	judge := func() bool {
		ok := len(torn) == 0 || left(torn)
		if !ok {
			h.badLine, h.why = first, "an entry of the checkpoint history cannot be parsed: "+why.Error()
		}
		torn = torn[:0]
		return ok
	}
	for n := uint64(1); ; n++ {
		line, _, err := lines.next()
		if errors.Is(err, io.EOF) {
			judge()
			return h, nil
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, err
		}
		switch ended := bytes.HasSuffix(line, []byte("\n")); {
		case !ended && err != nil: // no entry, torn or not, is that long
			h.badLine, h.why = n, "the checkpoint history cannot be read on: "+err.Error()
			return h, nil
		case !ended: // torn by itself
			if len(torn) > 0 {
				torn = append(torn, line...)
			}
			judge()
			return h, nil
		}
		var c *Checkpoint
		if err == nil {
			c, err = parseEntry(line[:len(line)-1], trusted)
		}
		if err != nil {
			if len(torn) == 0 {
				first, why = n, err
			}
			if len(torn) < 4*maxCheckpoint {
				torn = append(torn, line...)
			}
			continue
		}
		if !judge() {
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
