package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ackEvent is an acknowledgement found in a log.
type ackEvent struct {
	System
}

// acks collects the acknowledgements and conflicts of the segments whose chain
// holds. With trusted keys an acknowledgement counts only where a signed
// checkpoint covers it: anybody who can append a line could write one.
func (v *verifier) acks() {
	rest := v.specials[:0]
	for _, sp := range v.specials {
		e, err := decodeLine(sp.line)
		if err != nil || e.System == nil || e.Type != TypeAck {
			rest = append(rest, sp)
			continue
		}
		if v.trusted != nil && !v.signedAt(sp.segment, e.Seq) {
			continue
		}
		v.ackList = append(v.ackList, ackEvent{*e.System})
	}
	v.specials = rest
	// Findings about checkpoint files came before the acknowledgements were known.
	findings := v.report.Findings
	v.report.Findings, v.report.Status, v.report.File, v.report.Line, v.report.Why = []Finding{}, StatusOK, "", 0, ""
	for _, f := range findings {
		v.report.add(v.acked(f))
	}
}

func (v *verifier) signedAt(segment string, seq uint64) bool {
	s := v.byName[segment]
	for _, k := range s.known {
		if k.signed && k.Count >= seq && s.res.at[k.Count] == k.Head {
			return true
		}
	}
	return false
}

// acked marks a finding that somebody acknowledged in exactly this state.
func (v *verifier) acked(f Finding) Finding {
	if f.external {
		return f
	}
	for _, a := range v.ackList {
		if a.File != filepath.Base(f.File) || a.Status != f.Status || a.Line != f.Line {
			continue
		}
		if f.Status != StatusConflict && a.SHA256 != fileSum(v.fs, f.File) {
			continue
		}
		f.Acknowledged = true
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s: %s was acknowledged by %s: %s", f.File, f.Status, a.Who, a.Why))
		return f
	}
	return f
}

// unresolved reports the conflicts that writers recorded.
func (v *verifier) unresolved() {
	for _, sp := range v.specials {
		e, err := decodeLine(sp.line)
		if err != nil || e.System == nil || e.Type != TypeConflict {
			continue
		}
		v.report.add(v.acked(Finding{
			Status: StatusConflict, File: filepath.Join(v.dir, sp.segment), Line: e.Seq,
			Why: fmt.Sprintf("a conflict about %s was recorded (%s: %s) and nobody acknowledged it", e.System.File, e.System.Status, e.System.Why),
		}))
	}
}

// fileSum is the SHA-256 of a file, "missing" if it is not there, "" if it
// cannot be read.
func fileSum(fsys FS, path string) string {
	f, err := fsys.OpenRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return "missing"
	}
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, info.Size)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Ack records that a person has seen what Verify finds in a log: one ack event
// per finding, bound to the exact state of the file, so that a later change is
// found again. Contradictions to anchors kept elsewhere cannot be acknowledged.
// It returns the findings that were acknowledged. opt must describe the log to
// write to (Dir or Home and Root, and SignKey if checkpoints are signed); who
// and why are recorded.
func Ack(ctx context.Context, opt Options, vopt VerifyOptions, who, why string) ([]Finding, error) {
	if who == "" || why == "" {
		return nil, errors.New("audit: an acknowledgement needs a name and a reason")
	}
	opt.Mandatory, opt.Shared, opt.Level = true, false, LevelAll
	l, err := Open(opt)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if vopt.FS == nil {
		vopt.FS = l.fs
	}
	// The log's own writer first finishes what died, and records what it finds.
	if err := l.Record(&Event{Type: TypeSession, Reason: "audit ack", Agent: who}); err != nil {
		return nil, err
	}
	report, err := Verify(ctx, l.dir, vopt)
	if err != nil {
		return nil, err
	}
	var done []Finding
	for _, f := range report.Findings {
		if f.Acknowledged || f.external {
			continue
		}
		sys := &System{File: filepath.Base(f.File), Status: f.Status, Line: f.Line, Who: who, Why: why}
		if f.Status != StatusConflict {
			sys.SHA256 = fileSum(l.fs, f.File)
		}
		if err := l.Record(&Event{Type: TypeAck, Reason: f.Why, System: sys}); err != nil {
			return done, err
		}
		done = append(done, f)
	}
	return done, l.Close()
}
