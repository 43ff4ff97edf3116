package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Executor is a way to run a command.
type Executor string

// The executors, best first.
const (
	Native     Executor = "native"
	Bubblewrap Executor = "bwrap"
	Landlock   Executor = "landlock"
	Seatbelt   Executor = "seatbelt"
	Host       Executor = "host"
)

// Isolation is "os" for the executors that hold the whole policy, "none" for the
// host, and "degraded" for Landlock alone.
func (e Executor) Isolation() string {
	switch e {
	case Host:
		return "none"
	case Landlock:
		return "degraded"
	}
	return "os"
}

// Selection is what Choose decides from.
type Selection struct {
	// Setting is the settings' "executor": auto, os, host or landlock ("" is auto).
	// "native", "bwrap" and "seatbelt" name one executor, for tests and doctor.
	Setting string
	// Strict is the strict profile, RequireSandbox the team policy's key.
	Strict, RequireSandbox bool
	// StateDir keeps the result of probes for the next process ("" keeps nothing).
	StateDir string
	// Probe replaces the real probe in tests: nil means that the executor works.
	Probe func(Executor) error
	// GOOS replaces the platform in tests.
	GOOS string
}

// Attempt is what a probe said about one executor.
type Attempt struct {
	Executor Executor `json:"executor"`
	Works    bool     `json:"works"`
	Why      string   `json:"why,omitempty"`
}

// Choice is the executor that commands run in, and why.
type Choice struct {
	Executor  Executor `json:"executor"`
	Isolation string   `json:"isolation"`
	// Notice is one line for a person when the choice is weaker than it could be;
	// the caller shows it.
	Notice string    `json:"notice,omitempty"`
	Tried  []Attempt `json:"tried"`
}

// String explains the choice in one line.
func (c Choice) String() string {
	var s []string
	for _, t := range c.Tried {
		if !t.Works {
			s = append(s, fmt.Sprintf("%s does not work (%s)", t.Executor, t.Why))
		}
	}
	out := fmt.Sprintf("commands run in the %s executor, isolation %s", c.Executor, c.Isolation)
	if len(s) > 0 {
		out += ": " + strings.Join(s, "; ")
	}
	return out
}

// StrictProfileError means that the strict profile (or requireSandbox) cannot hold.
// lictor stops at start; the fix never says to use the host (SPEC section 5).
type StrictProfileError struct {
	Reason string
	// Policy says that only the team policy's requireSandbox asks for it.
	Policy bool
}

func (e *StrictProfileError) Error() string {
	if e.Policy {
		return `the team policy requires the OS sandbox ("requireSandbox"): ` + e.Reason
	}
	return "strict profile: " + e.Reason
}

// NoSandboxError means that settings ask for an OS sandbox and there is none.
type NoSandboxError struct{ Tried []Attempt }

func (e *NoSandboxError) Error() string { return noSandbox(e.Tried) }

// ErrExecutor means that the executor setting is not one that exists.
var ErrExecutor = errors.New("unknown executor")

// noSandbox is the text "No OS sandbox" with the reasons and fixes.
func noSandbox(tried []Attempt) string {
	var why []string
	for _, t := range tried {
		if !t.Works {
			why = append(why, fmt.Sprintf("%s: %s", t.Executor, t.Why))
		}
	}
	s := "No OS sandbox works on this machine"
	if len(why) > 0 {
		s += " (" + strings.Join(why, "; ") + ")"
	}
	return s
}

// candidates are the full executors of a platform in order of preference.
func candidates(goos string) []Executor {
	switch goos {
	case "linux":
		return []Executor{Native, Bubblewrap}
	case "darwin":
		return []Executor{Seatbelt}
	}
	return nil
}

// Choose picks the executor for a session. Each candidate is probed at most once
// by building a real sandbox. Errors: *StrictProfileError when the strict profile or
// requireSandbox cannot be held, *NoSandboxError for "os" without a sandbox,
// ErrExecutor for an unknown setting. Only "auto" falls back to the host, and says
// so in Notice.
func Choose(s Selection) (Choice, error) {
	if s.GOOS == "" {
		s.GOOS = runtime.GOOS
	}
	if s.Probe == nil {
		s.Probe = func(e Executor) error { return probe(e, s.StateDir) }
	}
	must := s.Strict || s.RequireSandbox
	switch s.Setting {
	case "host":
		if must {
			return Choice{}, s.cannotHold(`the settings file says that "executor" is "host"; set it to "auto" or "os", or remove it`)
		}
		return Choice{Executor: Host, Isolation: "none"}, nil
	case "landlock":
		return s.landlock(must)
	case string(Native), string(Bubblewrap), string(Seatbelt):
		return s.single(Executor(s.Setting))
	case "", "auto", "os":
	default:
		return Choice{}, fmt.Errorf(`%w: "executor" is %q; it must be "auto", "os", "host" or "landlock"`, ErrExecutor, s.Setting)
	}
	var tried []Attempt
	for _, e := range candidates(s.GOOS) {
		err := s.Probe(e)
		if err == nil {
			tried = append(tried, Attempt{Executor: e, Works: true})
			c := Choice{Executor: e, Isolation: "os", Tried: tried}
			if len(tried) > 1 {
				c.Notice = c.String()
			}
			return c, nil
		}
		tried = append(tried, Attempt{Executor: e, Why: err.Error()})
	}
	if len(tried) == 0 {
		tried = []Attempt{{Executor: "os", Why: "there is none for " + s.GOOS + "; on Windows use WSL 2"}}
	}
	switch {
	case must:
		return Choice{}, s.cannotHold(noSandbox(tried))
	case s.Setting == "os":
		return Choice{}, &NoSandboxError{tried}
	}
	return Choice{
		Executor: Host, Isolation: "none", Tried: tried,
		Notice: noSandbox(tried) + "; commands run without isolation and are decided by rules and questions alone",
	}, nil
}

// cannotHold is the error for whoever insists on a sandbox.
func (s Selection) cannotHold(reason string) error {
	return &StrictProfileError{Reason: reason, Policy: !s.Strict}
}

func (s Selection) landlock(must bool) (Choice, error) {
	if must {
		return Choice{}, s.cannotHold(`the settings file says that "executor" is "landlock", which cannot protect files inside a writable folder; set it to "auto" or "os", or remove it`)
	}
	if err := s.Probe(Landlock); err != nil {
		return Choice{}, &NoSandboxError{[]Attempt{{Executor: Landlock, Why: err.Error()}}}
	}
	return Choice{
		Executor: Landlock, Isolation: "degraded", Tried: []Attempt{{Executor: Landlock, Works: true}},
		Notice: "Landlock alone cannot protect .git and settings files inside the root; changes to them are found afterwards",
	}, nil
}

func (s Selection) single(e Executor) (Choice, error) {
	if err := s.Probe(e); err != nil {
		return Choice{}, &NoSandboxError{[]Attempt{{Executor: e, Why: err.Error()}}}
	}
	return Choice{Executor: e, Isolation: e.Isolation(), Tried: []Attempt{{Executor: e, Works: true}}}, nil
}
