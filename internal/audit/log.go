package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Log writes one root's audit log. It is safe for concurrent use.
type Log struct {
	opt    Options
	fs     FS
	dir    string
	ckDir  string
	name   string // the log's name, in headers and checkpoints
	red    *Redactor
	signer note.Signer

	mu     sync.Mutex
	closed bool
	enc    encoder
	seg    *segment
	next   [hexLen]byte // the hash of the line being written
	now    time.Time    // the time of the event being written

	shared    bool // use the shared segment (until its lock cannot be had)
	lock      Lock // of the shared segment
	locked    bool
	avoid     map[string]bool // segments that this process gave up
	why       string          // why the next segment is begun
	conflicts []*System       // to be recorded in the next segment

	dropped uint64 // events lost since the last success
	retryAt time.Time
	behind  bool // a checkpoint failed and has to catch up
	noticed map[string]bool
	// secretErr says why the secret of the redaction MACs could not be kept. It is
	// worth a notice only if the log itself can be written.
	secretErr error
	ck        checkpointer
}

// Open prepares a log. It makes the log's folder and secret if it can; the
// first event makes the first segment. Trouble with the disk is no error here:
// a mandatory log returns it for each event, another one gives a notice. The
// error is about the options: no root, a malformed key.
func Open(opt Options) (*Log, error) {
	if opt.Dir == "" && !filepath.IsAbs(opt.Root) {
		return nil, fmt.Errorf("audit: the root %q is not absolute; give the working root", opt.Root)
	}
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("audit: no home folder for the log: %w; set HOME", err)
	}
	l := &Log{
		opt: opt, fs: opt.FS, dir: filepath.Clean(opt.Dir), ckDir: CheckpointDir(opt.Dir),
		name: logName(opt.Dir), shared: opt.Shared,
		avoid: make(map[string]bool), noticed: make(map[string]bool),
	}
	if opt.SignKey != "" {
		if l.signer, err = note.NewSigner(opt.SignKey); err != nil {
			return nil, fmt.Errorf("audit: the checkpoint key is malformed: %w; make one with GenerateKey", err)
		}
	}
	key, err := l.secret()
	l.secretErr = err
	l.red = NewRedactor(key, opt.Environ)
	l.enc.red = l.red
	return l, nil
}

// logName is the name of a log in headers and checkpoints: that of its folder.
func logName(dir string) string { return plainNote(filepath.Base(filepath.Clean(dir))) }

// Dir is the log's folder.
func (l *Log) Dir() string { return l.dir }

// Redactor is what the log removes secrets with, for other output.
func (l *Log) Redactor() *Redactor { return l.red }

// RegisterSecret adds a value that must never be written (an API key that the
// host moved out of the environment). The error says that it is too short.
func (l *Log) RegisterSecret(value string) error { return l.red.RegisterSecret(value) }

// secret returns the log's secret for redaction MACs, which it makes on first
// use. With an error it returns a secret that nobody keeps.
func (l *Log) secret() ([]byte, error) {
	path := filepath.Join(l.dir, secretName)
	key, err := readSmall(l.fs, path, 64)
	if err == nil && len(key) == 32 {
		return key, nil
	}
	fresh := make([]byte, 32)
	rand.Read(fresh)
	if err := l.fs.MkdirAll(l.dir); err != nil {
		return fresh, err
	}
	lock, err := l.fs.OpenLock(filepath.Join(l.dir, lockName))
	if err != nil {
		return fresh, err
	}
	defer lock.Close()
	if err := lock.Lock(l.opt.LockTimeout); err != nil {
		return fresh, err
	}
	defer lock.Unlock()
	if key, err := readSmall(l.fs, path, 64); err == nil && len(key) == 32 {
		return key, nil // somebody was faster
	}
	return fresh, writeAtomic(l.fs, path, fresh)
}

// Record appends an event. Seq, Segment, Redactions, Prev and Hash are the
// log's; Time is set if it is zero. An event that the level filters out is not
// written. In mandatory mode the error is a *RecordError; otherwise trouble is a
// notice and Record returns nil, and the loss is recorded when writing works
// again.
func (l *Log) Record(e *Event) error {
	_, err := l.record(e, NoCall)
	return err
}

// Ref is the place of an event in the log.
type Ref struct {
	Segment string
	Seq     uint64
}

func (l *Log) record(e *Event, outcome Outcome) (Ref, error) {
	if !l.opt.Level.Keeps(e) {
		return Ref{}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = e.Time
	if l.now.IsZero() {
		l.now = l.opt.Clock()
	}
	if l.closed {
		return Ref{}, l.failed(errClosed, outcome)
	}
	if !l.opt.Mandatory && l.dropped > 0 && l.now.Before(l.retryAt) && l.retryAt.Sub(l.now) <= retryAfter {
		l.dropped++
		return Ref{}, nil
	}
	ref, err := l.write(e)
	if err != nil {
		return ref, l.failed(err, outcome)
	}
	if l.secretErr != nil {
		l.notice("secret", fmt.Sprintf("audit: the log's secret cannot be kept: %v; what is removed from this session's lines cannot be compared later", l.secretErr))
	}
	return ref, nil
}

// failed turns trouble into what the caller gets: an error in mandatory mode,
// else a notice.
func (l *Log) failed(err error, outcome Outcome) error {
	re := &RecordError{File: l.dir, Outcome: outcome, Err: err}
	if l.seg != nil {
		re.File = l.seg.path
	}
	var ck *checkpointError
	if errors.As(err, &ck) {
		re.Written, re.File, re.Err = true, ck.file, ck.err
	}
	if l.opt.Mandatory {
		return re
	}
	if re.Written {
		l.notice("checkpoint", fmt.Sprintf("audit: the line was written, but its checkpoint could not be written (%s: %v); the next success catches up", re.File, re.Err))
		return nil
	}
	l.dropped++
	l.retryAt = l.now.Add(retryAfter)
	l.notice("write", fmt.Sprintf("audit: events are not being recorded (%s: %v); calls go on because the log is not mandatory", re.File, re.Err))
	return nil
}

// notice says something once.
func (l *Log) notice(kind, text string) {
	if l.noticed[kind] {
		return
	}
	l.noticed[kind] = true
	if l.opt.Notify != nil {
		if l.red != nil {
			text = l.red.String(text)
		}
		l.opt.Notify(text)
	}
}

// Close says goodbye: a segment of this process gets its end line and becomes
// read-only. The error is that of the last write, in every mode.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.seg != nil {
		l.now = l.opt.Clock()
		if !l.seg.shared {
			if err = l.ready(true); err == nil {
				err = l.finish("closed")
			}
		}
		l.drop()
	}
	l.unlock()
	if l.lock != nil {
		l.lock.Close()
		l.lock = nil
	}
	l.ck.close()
	return err
}
