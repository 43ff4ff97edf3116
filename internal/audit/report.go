package audit

import (
	"fmt"

	"github.com/lictor-policy/lictor/internal/model"
)

// Status is what Verify says about a log, in one word.
type Status string

// The statuses, from good to bad. Unanchored means that the chain holds but no
// checkpoint or anchor says how long the log was, so a cut or rewritten log
// could look the same.
const (
	StatusOK         Status = "ok"
	StatusUnanchored Status = "unanchored"
	StatusTorn       Status = "torn"       // a crash tore the last line
	StatusUnreadable Status = "unreadable" // a file is there and cannot be read or understood
	StatusMissing    Status = "missing"    // a segment that is known of is gone
	StatusTruncated  Status = "truncated"  // lines that are known of are gone from the end
	StatusConflict   Status = "conflict"   // the writer met a contradiction that nobody acknowledged
	StatusTampered   Status = "tampered"   // lines were changed, removed, inserted or reordered
)

var severity = map[Status]int{
	StatusOK: 0, StatusUnanchored: 1, StatusTorn: 2, StatusUnreadable: 3,
	StatusMissing: 4, StatusTruncated: 5, StatusConflict: 6, StatusTampered: 7,
}

// exitCodes: 0 is good, 1 and up say what is wrong.
var exitCodes = map[Status]int{
	StatusOK: 0, StatusUnanchored: 0, StatusTampered: 1, StatusTruncated: 2, StatusTorn: 3,
	StatusUnreadable: 4, StatusMissing: 6, StatusConflict: 7,
}

// ExitUnanchored is the exit code of an unanchored log if an anchor is required.
const ExitUnanchored = 5

// Finding is one thing that is wrong.
type Finding struct {
	Status Status `json:"status"`
	// File is the path of the file, Line the number of the first bad line in it
	// (0 if it is about the whole file).
	File string `json:"file"`
	Line uint64 `json:"line"`
	Why  string `json:"why"`
	// Acknowledged says that an ack event covers exactly this state.
	Acknowledged bool `json:"acknowledged,omitempty"`
	// external findings contradict an anchor kept elsewhere: never acknowledged.
	external bool
}

// SegmentReport is what Verify found in one segment.
type SegmentReport struct {
	File   string `json:"file"`
	Events uint64 `json:"events"`
	Head   string `json:"head,omitempty"`
	// Anchored is the number of lines that a checkpoint or anchor covers.
	Anchored uint64 `json:"anchored"`
	Finished bool   `json:"finished"`
	Status   Status `json:"status"`
}

// Report is the result of Verify. Status, File, Line and Why are those of the
// worst finding, the first of its kind.
type Report struct {
	Dir      string          `json:"dir"`
	Status   Status          `json:"status"`
	File     string          `json:"file,omitempty"`
	Line     uint64          `json:"line,omitempty"`
	Why      string          `json:"why,omitempty"`
	Events   uint64          `json:"events"`
	Bytes    int64           `json:"bytes"`
	Segments []SegmentReport `json:"segments"`
	Findings []Finding       `json:"findings"`
	// Signed says that every checkpoint was signed by a trusted key.
	Signed bool `json:"signed"`
	// Notes are remarks that change nothing (lines behind the last checkpoint,
	// quarantined pieces, acknowledged findings).
	Notes []string `json:"notes"`
}

// OK reports whether nothing is wrong with the log (it may be unanchored).
func (r *Report) OK() bool { return r.Status == StatusOK || r.Status == StatusUnanchored }

// ExitCode is the exit code of `lictor audit verify`: 0 ok or unanchored, 1
// tampered, 2 truncated, 3 torn, 4 unreadable, 5 unanchored with requireAnchor,
// 6 missing, 7 conflict.
func (r *Report) ExitCode(requireAnchor bool) int {
	if r.Status == StatusUnanchored && requireAnchor {
		return ExitUnanchored
	}
	code, ok := exitCodes[r.Status]
	if !ok {
		return exitCodes[StatusUnreadable]
	}
	return code
}

// String is one line for a person: the status, and where and why if it is bad.
func (r *Report) String() string {
	switch {
	case r.File == "":
		return fmt.Sprintf("%s: %s in %s", r.Status, model.Count(r.Events, "event"), model.Count(len(r.Segments), "segment"))
	case r.Line == 0:
		return fmt.Sprintf("%s: %s: %s", r.Status, r.File, r.Why)
	}
	return fmt.Sprintf("%s: %s:%d: %s", r.Status, r.File, r.Line, r.Why)
}

// add notes a finding; the first of the worst kind is the report's own.
func (r *Report) add(f Finding) {
	r.Findings = append(r.Findings, f)
	if f.Acknowledged {
		return
	}
	if severity[f.Status] > severity[r.Status] {
		r.Status, r.File, r.Line, r.Why = f.Status, f.File, f.Line, f.Why
	}
}
