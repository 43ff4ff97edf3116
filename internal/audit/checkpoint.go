package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Checkpoint says how long a segment was at a time and what its last line was.
// Its text is a note (golang.org/x/mod/sumdb/note):
//
//	lictor-audit/<log>/<segment>
//	<lines>
//	<base64 of the last line's hash>
//	bytes=<length> ts=<time>
//	sha256=<of the lines above>
//
//	— <key name> <base64 signature>
//
// The first line names what is spoken of, so that no checkpoint can be put in
// another's place. Without a key there are no signature lines.
type Checkpoint struct {
	Log   string
	Point Point
	Time  time.Time
	// Signed says that a trusted key signed it.
	Signed bool
}

const originPrefix = "lictor-audit/"

// plainNote makes a name that may stand in a note.
func plainNote(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '+' || r == '/' || r > '~' {
			return '_'
		}
		return r
	}, s)
}

// text is the signed text of a checkpoint.
func (c *Checkpoint) text() string {
	head, _ := hex.DecodeString(c.Point.Head)
	body := originPrefix + c.Log + "/" + c.Point.File + "\n" +
		strconv.FormatUint(c.Point.Count, 10) + "\n" +
		base64.StdEncoding.EncodeToString(head) + "\n" +
		"bytes=" + strconv.FormatInt(c.Point.Bytes, 10) + " ts=" + c.Time.UTC().Format(timeForm) + "\n"
	sum := sha256.Sum256([]byte(body))
	return body + "sha256=" + hex.EncodeToString(sum[:]) + "\n"
}

// message is the checkpoint as it is stored, signed if there is a signer.
func (c *Checkpoint) message(signer note.Signer) ([]byte, error) {
	text := c.text()
	if signer == nil {
		return []byte(text + "\n"), nil
	}
	return note.Sign(&note.Note{Text: text}, signer)
}

// errUnsigned says that no trusted key signed a checkpoint.
var errUnsigned = errors.New("the checkpoint is not signed by a trusted key")

// parseCheckpoint reads a stored checkpoint. With trusted keys one of them must
// have signed it. Any other spelling than our own is an error.
func parseCheckpoint(msg []byte, trusted note.Verifiers) (*Checkpoint, error) {
	text, rest, ok := strings.Cut(string(msg), "\n\n")
	if !ok {
		return nil, errors.New("it does not end like a checkpoint")
	}
	text += "\n"
	c := &Checkpoint{}
	if trusted != nil {
		n, err := note.Open(msg, trusted)
		if err != nil || n.Text != text {
			return nil, fmt.Errorf("%w: %v", errUnsigned, err)
		}
		c.Signed = true
	} else if rest != "" && !strings.HasPrefix(rest, "— ") {
		return nil, errors.New("there is text behind it")
	}
	lines := strings.Split(text, "\n")
	if len(lines) != 6 {
		return nil, errors.New("it does not have five lines")
	}
	origin, found := strings.CutPrefix(lines[0], originPrefix)
	log, file, named := strings.Cut(origin, "/")
	head, err := base64.StdEncoding.DecodeString(lines[2])
	count, counted := parsePlace(lines[1])
	var size int64
	var ts string
	_, serr := fmt.Sscanf(lines[3], "bytes=%d ts=%s", &size, &ts)
	if serr != nil || !found || !named || err != nil || !counted || len(head) != sha256.Size {
		return nil, errors.New("its lines are malformed")
	}
	if c.Time, err = time.Parse(timeForm, ts); err != nil {
		return nil, errors.New("its time is malformed")
	}
	c.Log = log
	c.Point = Point{File: file, Count: count, Head: hex.EncodeToString(head), Bytes: size}
	if c.text() != text {
		return nil, errors.New("its checksum does not match")
	}
	return c, nil
}

const maxCheckpoint = 16 << 10

// readCheckpoint reads the checkpoint of a segment; nil without an error means
// that there is none.
func readCheckpoint(fsys FS, ckDir, segment string, trusted note.Verifiers) (*Checkpoint, error) {
	msg, err := readSmall(fsys, filepath.Join(ckDir, segment+checkpointSuffix), maxCheckpoint)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := parseCheckpoint(msg, trusted)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint cannot be parsed: %w", err)
	}
	if c.Point.File != segment {
		return nil, fmt.Errorf("the checkpoint is that of %s", c.Point.File)
	}
	return c, nil
}

// GenerateKey makes a key pair for signing checkpoints: skey for
// Options.SignKey, vkey for VerifyOptions.Keys. The name must not be empty or
// hold spaces or '+'. The private key belongs where the agent cannot read it.
func GenerateKey(name string) (skey, vkey string, err error) {
	if name == "" || plainNote(name) != strings.ReplaceAll(name, "/", "_") {
		return "", "", fmt.Errorf("audit: %q is no key name; use letters, digits, dots and dashes", name)
	}
	return note.GenerateKey(rand.Reader, name)
}

// checkpointer is the state of a log's checkpoint writing.
type checkpointer struct {
	made bool // the folder exists
	lock Lock // of the history
}

func (c *checkpointer) close() {
	if c.lock != nil {
		c.lock.Close()
		c.lock = nil
	}
}

// staged is a checkpoint that is being written beside its place.
type staged struct {
	l          *Log
	path, temp string
	msg        []byte
	done       chan error
}

// stage begins to write the checkpoint for the line that is about to be
// written, if the log has checkpoints. It runs beside the line's own sync, so
// that the disk can flush both at once; nobody sees it before commit puts it in
// place, and that is after the line is on disk.
func (l *Log) stage(lineLen int64) *staged {
	if !l.opt.Checkpoint {
		return nil
	}
	s := l.seg
	st := &staged{l: l, path: filepath.Join(l.ckDir, s.name+checkpointSuffix), done: make(chan error, 1)}
	st.temp = l.scratch(s, st.path)
	c := &Checkpoint{Log: l.name, Time: l.now, Point: Point{
		File: s.name, Count: s.seq + 1, Head: string(l.next[:]), Bytes: s.off + lineLen,
	}}
	var err error
	if st.msg, err = c.message(l.signer); err != nil {
		st.done <- err
		return st
	}
	if !l.ck.made {
		if err := l.fs.MkdirAll(l.ckDir); err != nil {
			st.done <- err
			return st
		}
		l.ck.made = true
	}
	go func() { st.done <- overwrite(l.fs, st.temp, st.msg) }()
	return st
}

// scratch is the file that the checkpoints of a segment are prepared in. Every
// process has its own: what is left in it after an exchange is written to again
// only by who knows that the exchange is on disk.
func (l *Log) scratch(s *segment, path string) string {
	if s.scratch == "" {
		s.scratch = fmt.Sprintf("%s.%d%s", path, os.Getpid(), scratchSuffix)
		_ = l.fs.Remove(s.scratch) // that of a dead process with this number
	}
	return s.scratch
}

const scratchSuffix = ".tmp"

// tidy removes the scratch files that dead processes left for a segment.
func (l *Log) tidy(s *segment) {
	names, err := l.fs.ReadDir(l.ckDir)
	if err != nil {
		return
	}
	for _, n := range names {
		if strings.HasPrefix(n, s.name+checkpointSuffix+".") && strings.HasSuffix(n, scratchSuffix) {
			_ = l.fs.Remove(filepath.Join(l.ckDir, n))
		}
	}
}

func (st *staged) wait() error {
	if st == nil {
		return nil
	}
	return <-st.done
}

// discard removes a checkpoint whose line was not written.
func (st *staged) discard() {
	if st != nil {
		_ = st.l.fs.Remove(st.temp)
	}
}

// commit puts the checkpoint of the line that was just written in its place. err
// is that of staging it.
func (l *Log) commit(st *staged, err error) error {
	if st == nil {
		return nil
	}
	if err == nil {
		if err = l.fs.Exchange(st.temp, st.path); err == nil {
			err = l.fs.SyncDir(l.ckDir)
		}
		if err != nil {
			st.discard() // on disk it may still be the checkpoint: never write to it again
		}
	}
	s := l.seg
	if err == nil && (s.recorded == 0 || s.seq >= s.recorded+historyEvery) {
		if err = l.remember(st.msg); errors.Is(err, ErrLockTimeout) {
			// A stopped process must not stop everybody else: the checkpoint is in
			// place, this entry is left out.
			l.notice("history", "audit: the checkpoint history is locked by another process; an entry is left out")
			err = nil
		}
		if err == nil {
			s.recorded = s.seq
		}
	}
	if err != nil {
		l.behind = true
		l.ck.made = false // perhaps the folder is gone
		return &checkpointError{file: st.path, err: err}
	}
	if l.behind {
		l.behind = false
		delete(l.noticed, "checkpoint")
	}
	return nil
}

// rememberEnd notes the last line of the open segment in the history.
func (l *Log) rememberEnd() error {
	s := l.seg
	if !l.opt.Checkpoint || s.recorded == s.seq {
		return nil
	}
	c := &Checkpoint{Log: l.name, Point: *s.point(), Time: l.now}
	msg, err := c.message(l.signer)
	if err == nil {
		err = l.remember(msg)
	}
	if err != nil {
		return &checkpointError{file: filepath.Join(l.ckDir, historyName), err: err}
	}
	s.recorded = s.seq
	return nil
}

// contradiction holds the end of a segment against its checkpoint. It returns
// what to record, or nil.
func (l *Log) contradiction(name string, f File, t *tail) *System {
	found := func(status Status, why string, p *Point) *System {
		return &System{Status: status, File: name, Line: t.count + 1, Why: why, Point: p}
	}
	if t.bad {
		return found(StatusTampered, "what follows the last good line is no torn line", nil)
	}
	c, err := readCheckpoint(l.fs, l.ckDir, name, nil)
	switch {
	case err != nil:
		return found(StatusUnreadable, err.Error(), nil)
	case c == nil:
		return nil
	case c.Point.Count > t.count || c.Point.Bytes > t.end:
		return found(StatusTruncated, "lines that a checkpoint covers are gone", &c.Point)
	}
	var have [suffixLen + 1]byte
	at := c.Point.Bytes - int64(len(have))
	if at < 0 {
		return found(StatusTampered, "the checkpoint speaks of no line", &c.Point)
	}
	if _, err := f.ReadAt(have[:], at); err != nil || string(have[len(hashMember):len(hashMember)+hexLen]) != c.Point.Head {
		return found(StatusTampered, "the line that a checkpoint names is another", &c.Point)
	}
	return nil
}
