package audit

import (
	"encoding/json"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// Type says what an event is about.
type Type string

// The types of events. The second group is written by the log itself.
const (
	TypeVerdict  Type = "verdict"  // what the policy, and then a person, said about a call
	TypeIntent   Type = "intent"   // a call is about to run
	TypeResult   Type = "result"   // a call ran, or could not be started
	TypeHook     Type = "hook"     // a hook or formatter of the host ran, or was refused
	TypeApproval Type = "approval" // a person was asked and answered
	TypeConsent  Type = "consent"  // consent to a project's loosening settings
	TypeNetwork  Type = "network"  // the proxy decided about a connection
	TypeBundle   Type = "bundle"   // a managed bundle was loaded or refused
	TypePolicy   Type = "policy"   // the policy changed, or a rule was added or removed
	TypeSession  Type = "session"  // a session began or ended, observe mode was turned on

	TypeHeader    Type = "header"    // first line of a segment
	TypeEnd       Type = "end"       // last line of a finished segment
	TypeGap       Type = "gap"       // events were lost while the log could not be written
	TypeRecovered Type = "recovered" // a torn tail was quarantined
	TypeConflict  Type = "conflict"  // the log contradicts what was known about it
	TypeAck       Type = "ack"       // a person acknowledged a finding of Verify
)

var allTypes = []Type{
	TypeVerdict, TypeIntent, TypeResult, TypeHook, TypeApproval, TypeConsent, TypeNetwork, TypeBundle, TypePolicy,
	TypeSession, TypeHeader, TypeEnd, TypeGap, TypeRecovered, TypeConflict, TypeAck,
}

// system reports whether the log itself writes events of this type.
func (t Type) system() bool {
	switch t {
	case TypeHeader, TypeEnd, TypeGap, TypeRecovered, TypeConflict, TypeAck:
		return true
	}
	return false
}

// Event is one line of the log. Its JSON is schemas/audit-event.json; empty
// fields are left out of it. Every text in it is redacted when it is written.
type Event struct {
	// Version is the version of the line format, 1.
	Version int `json:"v"`
	// Seq is the line's number in its segment, from 1. Set by the log.
	Seq uint64 `json:"seq"`
	// Time is when the event was recorded (UTC, nanoseconds). Informational: the
	// order is that of Seq. Set by the log unless given.
	Time time.Time `json:"ts"`
	// Segment is the random id of the segment (16 hex digits). Set by the log.
	Segment string `json:"seg"`
	Type    Type   `json:"type"`

	// Tool is the tool as the agent called it; "hook:<event>" for hooks.
	Tool string `json:"tool,omitempty"`
	// Class is the decision by class ("deny_policy", "allow_rule", "ask",
	// "hook"), Risk how much depends on it.
	Class Class `json:"decision,omitempty"`
	Risk  Risk  `json:"risk,omitempty"`
	// By, Kind, Step, Reason, Rule and Revision are those of model.Verdict.
	By       string         `json:"by,omitempty"`
	Kind     string         `json:"kind,omitempty"`
	Step     string         `json:"step,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Rule     *model.RuleRef `json:"rule,omitempty"`
	Revision string         `json:"revision,omitempty"`
	// Hits are the lower-ranked steps that would have decided, as "step:by".
	Hits []string `json:"hits,omitempty"`

	// CallID and Agent come from the agent and are informational.
	CallID string `json:"call,omitempty"`
	Agent  string `json:"agent,omitempty"`
	// Mode, Isolation, Shell and Cwd are what the call was decided under.
	Mode      model.Mode      `json:"mode,omitempty"`
	Isolation model.Isolation `json:"isolation,omitempty"`
	Shell     model.Shell     `json:"shell,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	// TargetKind and Target name what the call touches first, for tables and
	// filters. Target is empty where the arguments already say it.
	TargetKind     model.Kind `json:"target_kind,omitempty"`
	Target         string     `json:"target,omitempty"`
	OutsideSandbox bool       `json:"outside_sandbox,omitempty"`
	// ReadOnly and AlwaysAsk are the caller's own words about the call (model.Call).
	ReadOnly  *bool `json:"read_only,omitempty"`
	AlwaysAsk bool  `json:"always_ask,omitempty"`
	// Args are the call's arguments, redacted. If ArgsText is set they were no
	// JSON and Args is a JSON string of their text.
	Args     json.RawMessage `json:"args,omitempty"`
	ArgsText bool            `json:"args_text,omitempty"`

	// Answer is what a person said (once, session, always, deny, never).
	Answer string `json:"answer,omitempty"`
	// Observed marks a call that observe mode let pass against the verdict.
	Observed bool `json:"observed,omitempty"`
	// Shadow is what a candidate policy said, if it differs.
	Shadow *Shadow `json:"shadow,omitempty"`

	// Intent is the Seq of the intent that a result belongs to, IntentSegment its
	// segment if that is another one.
	Intent        uint64 `json:"intent,omitempty"`
	IntentSegment string `json:"intent_seg,omitempty"`
	// Ran says whether the call or hook ran; Blocked that its denial blocked the
	// call it belongs to.
	Ran     *bool `json:"ran,omitempty"`
	Blocked bool  `json:"blocked,omitempty"`
	// Exit is the exit status, Duration how long it ran.
	Exit     *int          `json:"exit,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Error says why something failed.
	Error string `json:"error,omitempty"`

	// System holds the data of the log's own events.
	System *System `json:"system,omitempty"`

	// Redactions lists what was removed from this line, MoreRedactions how many
	// more there were than the list holds. Set by the log.
	Redactions     []Redaction `json:"redactions,omitempty"`
	MoreRedactions int         `json:"redactions_more,omitempty"`
	// Cut lists texts that were too long and were cut, and Lossy is the keyed hash
	// of the original arguments where the line cannot show them exactly (cut, or
	// not valid UTF-8), so that different calls never look the same.
	Cut   bool   `json:"cut,omitempty"`
	Lossy string `json:"args_mac,omitempty"`

	// Prev and Hash are the chain. Set by the log.
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// Shadow is what a candidate policy said about the same call.
type Shadow struct {
	// Policy names the candidate (a bundle, a file, a revision).
	Policy string `json:"policy"`
	// Class, By and Reason are those of its verdict.
	Class  Class  `json:"decision"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Looser says that the candidate allows what the active policy does not.
	Looser bool `json:"looser,omitempty"`
}

// Redaction says what was removed from a line.
type Redaction struct {
	// Field is the event's key that held it.
	Field string `json:"field"`
	// Kind is what it looked like (env, registered, token, assignment, header,
	// url, key).
	Kind string `json:"kind"`
	// Len is its length in bytes.
	Len int `json:"len"`
	// MAC is a keyed hash of it (HMAC-SHA256 under the log's own secret, 16 bytes,
	// hex): two equal MACs mean two equal secrets, and [SecretMAC] shows whether a
	// known secret was the one.
	MAC string `json:"mac"`
}

// System is the data of the log's own events.
type System struct {
	// Format, Version, Log, Root, File, Shared, PID and Link are in the header:
	// the line format, lictor's version, the log's name, the root, the segment's
	// file name, whether processes share it, its first writer, and the newest
	// older segment.
	Format  string `json:"format,omitempty"`
	Version string `json:"version,omitempty"`
	Log     string `json:"log,omitempty"`
	Root    string `json:"root,omitempty"`
	File    string `json:"file,omitempty"`
	Shared  bool   `json:"shared,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Link    *Point `json:"link,omitempty"`
	// Key names the key that signs this segment's checkpoints.
	Key string `json:"key,omitempty"`
	// Why explains a header that follows trouble, an end, a gap, a conflict.
	Why string `json:"why,omitempty"`
	// Count is the number of lines before an end line, or of lost events in a gap.
	Count uint64 `json:"count,omitempty"`
	// Recovered: the quarantined bytes and where they were.
	Bytes      int64  `json:"bytes,omitempty"`
	Offset     int64  `json:"offset,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
	Quarantine string `json:"quarantine,omitempty"`
	// Status, Line and Who belong to conflict and ack.
	Status Status `json:"status,omitempty"`
	Line   uint64 `json:"line,omitempty"`
	Who    string `json:"who,omitempty"`
	// Point is what was known about a segment in conflict.
	Point *Point `json:"point,omitempty"`
}

// Point is a place in a segment: its first Count lines, the last of which has
// the hash Head. It stays true while the segment grows.
type Point struct {
	File  string `json:"file"`
	Count uint64 `json:"count"`
	Head  string `json:"head"`
	Bytes int64  `json:"bytes,omitempty"`
}
