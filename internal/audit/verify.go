package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// VerifyOptions say what a log is held against.
type VerifyOptions struct {
	// Keys are the public keys that checkpoints must be signed by (any of them).
	// Empty means that signatures are not checked.
	Keys []string
	// Anchors are points kept elsewhere (ParseAnchors). A contradiction to one
	// cannot be acknowledged.
	Anchors []Anchor
	// CheckpointDir is where the checkpoints are. Empty means CheckpointDir(dir).
	CheckpointDir string
	// AnyName accepts a log whose folder was renamed or copied.
	AnyName bool
	// Strict also decodes every line and refuses unknown and duplicate members.
	// It is about ten times slower.
	Strict bool
	// Workers is the number of goroutines. 0 means one per processor.
	Workers int
	// Progress is called now and then with the bytes that were read and those
	// that there are. It may be called from several goroutines, not at once.
	Progress func(done, total int64)
	// FS is the file system. Nil means OSFS.
	FS FS

	chunk int64 // chunkBytes, or less in tests
}

// Verify checks the log in dir: every chain over its exact bytes, the links
// between segments, checkpoints, the checkpoint history, anchors, and conflicts
// that nobody acknowledged. It changes nothing and follows no links. What is
// wrong with the log is in the report. The error is a *DirError if the folder
// is there and cannot be listed, a malformed key, or that of ctx.
func Verify(ctx context.Context, dir string, opt VerifyOptions) (*Report, error) {
	v, err := newVerifier(dir, opt)
	if err != nil {
		return nil, err
	}
	if err := v.collect(); err != nil {
		return nil, err
	}
	if err := v.scan(ctx); err != nil {
		return nil, err
	}
	v.acks()
	for _, s := range v.segments {
		v.judge(s)
	}
	v.missing()
	v.unresolved()
	v.conclude()
	return v.report, nil
}

// known is something that was said about a segment: its line Count had the hash
// Head.
type known struct {
	Point
	what     string // "its checkpoint", "an anchor", …
	anchors  bool   // counts as an anchor (a link does not)
	external bool
	signed   bool
}

// verified is one segment and everything that is known of it.
type verified struct {
	name, path string
	size       int64
	finished   bool
	known      []known
	res        segmentResult
	header     *Event
	err        error // it cannot be read
}

type verifier struct {
	fs       FS
	dir      string
	ckDir    string
	opt      VerifyOptions
	trusted  note.Verifiers
	report   *Report
	segments []*verified
	byName   map[string]*verified
	gone     []known // about segments that are not there
	specials []special
	ackList  []ackEvent
	unsigned bool
}

func newVerifier(dir string, opt VerifyOptions) (*verifier, error) {
	v := &verifier{
		fs: opt.FS, dir: filepath.Clean(dir), ckDir: opt.CheckpointDir, opt: opt,
		byName: make(map[string]*verified),
		report: &Report{Dir: filepath.Clean(dir), Status: StatusOK, Segments: []SegmentReport{}, Findings: []Finding{}, Notes: []string{}},
	}
	if v.fs == nil {
		v.fs = OSFS
	}
	if v.opt.chunk == 0 {
		v.opt.chunk = chunkBytes
	}
	if v.ckDir == "" {
		v.ckDir = CheckpointDir(dir)
	}
	var keys []note.Verifier
	for _, k := range opt.Keys {
		key, err := note.NewVerifier(strings.TrimSpace(k))
		if err != nil {
			return nil, fmt.Errorf("audit: the public key %q is malformed: %w; give one that GenerateKey made", k, err)
		}
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		v.trusted = note.VerifierList(keys...)
	}
	return v, nil
}

// collect lists the segments and gathers what is known of them.
func (v *verifier) collect() error {
	names, err := segmentNames(v.fs, v.dir)
	if err != nil {
		return err
	}
	all, _ := v.fs.ReadDir(v.dir)
	for _, n := range all {
		if strings.Contains(n, segmentSuffix+".torn-") {
			v.report.Notes = append(v.report.Notes, "a torn line is kept in "+filepath.Join(v.dir, n))
		}
	}
	slices.Sort(v.report.Notes)
	for _, n := range names {
		s := &verified{name: n, path: filepath.Join(v.dir, n)}
		v.segments = append(v.segments, s)
		v.byName[n] = s
		info, err := v.fs.Stat(s.path)
		switch {
		case err != nil:
			s.err = err
		case !info.Mode.IsRegular():
			s.err = errors.New("it is not a regular file")
		}
		s.size, s.finished = info.Size, info.Mode&0o200 == 0
	}
	v.links()
	v.checkpoints()
	for _, a := range v.opt.Anchors {
		v.know(known{Point: a.Point, what: "an anchor", anchors: true, external: true})
	}
	return nil
}

func (v *verifier) know(k known) {
	if s := v.byName[k.File]; s != nil {
		s.known = append(s.known, k)
		return
	}
	v.gone = append(v.gone, k)
}

// links reads the headers: what they say about older segments.
func (v *verifier) links() {
	for _, s := range v.segments {
		if s.err != nil {
			continue
		}
		f, err := v.fs.OpenRead(s.path)
		if err != nil {
			s.err = err
			continue
		}
		line, _, err := newLineReader(f, 0, 2<<10, maxLine).next()
		if err == nil {
			if e, derr := decodeLine(line); derr == nil && e.Type == TypeHeader && e.System != nil {
				s.header = e
				if p := e.System.Link; p != nil {
					v.know(known{Point: *p, what: "the header of " + s.name})
				}
			}
		}
		f.Close()
	}
}

// checkpoints reads the checkpoint of each segment and the history.
func (v *verifier) checkpoints() {
	names, err := v.fs.ReadDir(v.ckDir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			v.report.add(Finding{Status: StatusUnreadable, File: v.ckDir, Why: "the checkpoint folder cannot be listed: " + err.Error()})
		}
		return
	}
	slices.Sort(names)
	for _, n := range names {
		segment, ok := strings.CutSuffix(n, checkpointSuffix)
		if !ok || !isSegment(segment) {
			continue
		}
		c, err := readCheckpoint(v.fs, v.ckDir, segment, v.trusted)
		if err != nil {
			status := StatusUnreadable
			if errors.Is(err, errUnsigned) {
				status = StatusTampered
			}
			v.report.add(v.acked(Finding{Status: status, File: filepath.Join(v.ckDir, n), Why: err.Error()}))
			continue
		}
		if c != nil {
			v.knowCheckpoint(c, "its checkpoint", filepath.Join(v.ckDir, n))
		}
	}
	h, err := readHistory(v.fs, v.ckDir, v.trusted)
	path := filepath.Join(v.ckDir, historyName)
	if err != nil {
		v.report.add(Finding{Status: StatusUnreadable, File: path, Why: "the checkpoint history cannot be read: " + err.Error()})
		return
	}
	if h.badLine > 0 {
		v.report.add(Finding{Status: StatusTampered, File: path, Line: h.badLine, Why: h.why})
	}
	for _, c := range h.points {
		v.knowCheckpoint(c, "the checkpoint history", path)
	}
}

func (v *verifier) knowCheckpoint(c *Checkpoint, what, file string) {
	if !v.opt.AnyName && c.Log != logName(v.dir) {
		v.report.add(Finding{Status: StatusTampered, File: file, Why: "the checkpoint is that of another log, " + c.Log})
		return
	}
	v.unsigned = v.unsigned || !c.Signed
	v.know(known{Point: c.Point, what: what, anchors: true, signed: c.Signed})
}

// judge turns what the scan of a segment found into findings.
func (v *verifier) judge(s *verified) {
	seg := SegmentReport{File: s.name, Events: s.res.lines, Head: string(s.res.head), Finished: s.finished, Status: StatusOK}
	r := &s.res
	v.report.Events += r.lines
	v.report.Bytes += s.size
	for _, k := range s.known {
		if k.anchors && k.Count <= r.lines && r.at[k.Count] == k.Head {
			seg.Anchored = max(seg.Anchored, k.Count)
		}
	}
	if f, bad := v.verdict(s); bad {
		f.File = s.path
		f = v.acked(f)
		v.report.add(f)
		if !f.Acknowledged {
			seg.Status = f.Status
		}
	} else if seg.Anchored == 0 {
		seg.Status = StatusUnanchored
	} else if n := r.lines - seg.Anchored; n > 0 {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s: %d lines behind the last checkpoint", s.path, n))
	}
	v.report.Segments = append(v.report.Segments, seg)
}

// verdict is the one finding about a segment: its first bad line, else the
// worst contradiction to what is known of it.
func (v *verifier) verdict(s *verified) (Finding, bool) {
	r := &s.res
	if s.err != nil {
		return Finding{Status: StatusUnreadable, Why: "the segment cannot be read: " + s.err.Error()}, true
	}
	if r.bad {
		f := Finding{Status: StatusTampered, Line: r.badLine, Why: r.why}
		if r.torn {
			f.Status, f.Why = StatusTorn, r.why
			if k, covered := covering(s.known, r.badLine); covered {
				f.Status, f.external = StatusTruncated, k.external
				f.Why = fmt.Sprintf("the line is torn, yet %s covers %d lines", k.what, k.Count)
			}
		}
		return f, true
	}
	if why := v.headerTrouble(s); why != "" {
		return Finding{Status: StatusTampered, Line: 1, Why: why}, true
	}
	worst, found := Finding{Status: StatusOK}, false
	for _, k := range s.known {
		f := Finding{external: k.external}
		switch {
		case k.Count > r.lines:
			f.Status, f.Line = StatusTruncated, r.lines+1
			f.Why = fmt.Sprintf("the segment ends after %d lines, yet %s covers %d", r.lines, k.what, k.Count)
		case r.at[k.Count] != k.Head:
			f.Status, f.Line = StatusTampered, k.Count
			f.Why = "the line is not the one that " + k.what + " names: the segment was rewritten"
		default:
			continue
		}
		if severity[f.Status] > severity[worst.Status] || (f.Status == worst.Status && f.external) {
			worst, found = f, true
		}
	}
	return worst, found
}

// covering finds what is known of a line or one behind it.
func covering(all []known, line uint64) (known, bool) {
	for _, k := range all {
		if k.Count >= line {
			return k, true
		}
	}
	return known{}, false
}

// headerTrouble says what is wrong with a segment's first line.
func (v *verifier) headerTrouble(s *verified) string {
	switch h := s.header; {
	case h == nil:
		return "the first line is no header"
	case h.System.Format != "lictor-audit/1":
		return fmt.Sprintf("the header's format %q is unknown", h.System.Format)
	case h.System.File != s.name:
		return "the header names another file, " + h.System.File
	case !v.opt.AnyName && h.System.Log != logName(v.dir):
		return "the segment belongs to another log, " + h.System.Log
	}
	return ""
}

// missing reports segments that something is known of and that are not there.
func (v *verifier) missing() {
	seen := make(map[string]bool)
	for _, k := range v.gone {
		if seen[k.File] && !k.external {
			continue
		}
		seen[k.File] = true
		v.report.add(v.acked(Finding{
			Status: StatusMissing, File: filepath.Join(v.dir, k.File), external: k.external,
			Why: fmt.Sprintf("the segment is gone, yet %s covers %d lines of it", strings.Replace(k.what, "its", "a", 1), k.Count),
		}))
	}
}

// conclude decides between ok and unanchored.
func (v *verifier) conclude() {
	r := v.report
	r.Signed = v.trusted != nil && !v.unsigned
	bare := 0
	for _, s := range r.Segments {
		if s.Anchored == 0 && s.Status == StatusUnanchored {
			bare++
		}
	}
	if r.Status == StatusOK && (bare > 0 || len(r.Segments) == 0) {
		r.Status = StatusUnanchored
	}
	if bare > 0 && bare < len(r.Segments) {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d segments have no checkpoint", bare, len(r.Segments)))
	}
}
