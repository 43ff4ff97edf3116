package audit

import (
	"os"
	"time"
)

// Durability says when a line must be on the disk before the call goes on. A
// line that was only written survives the death of the process, not a power
// loss.
type Durability string

// The durability levels: never wait; wait for denials, questions, errors and
// the log's own events; wait for every line.
const (
	DurabilityNone    Durability = "none"
	DurabilityDenials Durability = "denials"
	DurabilityAlways  Durability = "always"
)

// Options say where and how a log is written.
type Options struct {
	// Dir is the log's folder. Empty means Dir(Home, Root).
	Dir string
	// Home is the user's home folder. Empty means os.UserHomeDir.
	Home string
	// Root is the working root that the log is about, absolute. Needed.
	Root string
	// Level filters events; empty means all.
	Level Level
	// Checkpoint writes a checkpoint after each line (audit.checkpoint).
	Checkpoint bool
	// Mandatory makes a failure to record an error (audit.enabled); otherwise it
	// is a notice, and the number of lost events is recorded later.
	Mandatory bool
	// Durability: empty means always if Checkpoint or Mandatory is set, else denials.
	Durability Durability
	// SignKey signs checkpoints: a private key as GenerateKey returns it.
	SignKey string
	// Shared uses the segment that short-lived commands share.
	Shared bool
	// Version is lictor's version, for the header.
	Version string
	// Environ is the environment whose secrets are redacted. Nil means os.Environ().
	Environ []string
	// Notify gets one-line notices about trouble, each kind once. Nil drops them.
	// It is called while the log is locked and must not call back.
	Notify func(notice string)
	// Clock gives the time of events. Nil means time.Now.
	Clock func() time.Time
	// FS is the file system. Nil means OSFS.
	FS FS
	// LockTimeout is how long to wait for other processes. 0 means 2 s.
	LockTimeout time.Duration
	// MaxSegmentBytes is the size at which a segment is finished and the next one
	// begun. 0 means 64 MiB.
	MaxSegmentBytes int64
}

const (
	defaultLockTimeout = 2 * time.Second
	defaultMaxSegment  = 64 << 20
	// retryAfter is how long a log that is not mandatory waits before it tries a
	// failing disk again, so that trouble with the log does not slow every call.
	retryAfter = time.Second
)

func (o Options) withDefaults() (Options, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.FS == nil {
		o.FS = OSFS
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = defaultLockTimeout
	}
	if o.MaxSegmentBytes == 0 {
		o.MaxSegmentBytes = defaultMaxSegment
	}
	if o.Level == "" {
		o.Level = LevelAll
	}
	if o.Durability == "" {
		o.Durability = DurabilityDenials
		if o.Checkpoint || o.Mandatory {
			o.Durability = DurabilityAlways
		}
	}
	if o.Dir == "" {
		if o.Home == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return o, err
			}
			o.Home = home
		}
		o.Dir = Dir(o.Home, o.Root)
	}
	return o, nil
}
