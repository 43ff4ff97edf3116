package audit

import (
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// Decided is a call with everything that was decided about it: what Verdict and
// Intent record.
type Decided struct {
	Call model.Call
	// Verdict is the policy's. Its Class is not read: the class comes from
	// Decision, By and Kind (Classify).
	Verdict model.Verdict
	// Answer is what a person said if the verdict was ask ("once", "session",
	// "always", "deny", "never"), or empty. It makes the class allow_user or
	// deny_user.
	Answer string
	// Mode, Isolation and Shell are what the call was decided under. An empty Mode
	// or Shell means that of the call.
	Mode      model.Mode
	Isolation model.Isolation
	Shell     model.Shell
	// TargetKind is the kind of the call's first target and Target its text, if
	// the arguments do not say it already (may be empty).
	TargetKind model.Kind
	Target     string
	// OutsideSandbox is the call's wish to run outside the sandbox.
	OutsideSandbox bool
	// Observed says that observe mode lets the call pass against the verdict.
	Observed bool
	// Shadow is what a candidate policy said, if it differs.
	Shadow *Shadow
	// Error is an error of the engine behind a deny by error.
	Error string
}

// event fills an event; it allocates only for hits, which are rare.
func (d *Decided) event(e *Event, t Type) {
	v := &d.Verdict
	decision, by := v.Decision, v.By
	switch d.Answer {
	case "":
	case "deny", "never":
		decision, by = model.Deny, "user"
	default:
		decision, by = model.Allow, "user"
	}
	class := Classify(decision, by, userKind(by, v.Kind))
	mode, shell := d.Mode, d.Shell
	if mode == "" {
		mode = d.Call.Mode
	}
	if shell == "" {
		shell = d.Call.Shell
	}
	*e = Event{
		Type: t, Tool: d.Call.Tool, Class: class,
		Risk: RiskOf(class, d.TargetKind, d.OutsideSandbox || d.Isolation != model.IsolationOS),
		By:   by, Kind: v.Kind, Step: v.Step, Reason: v.Reason, Rule: v.Rule, Revision: v.Revision,
		CallID: d.Call.CallID, Agent: d.Call.Agent, Mode: mode, Isolation: d.Isolation, Shell: shell, Cwd: d.Call.Cwd,
		TargetKind: d.TargetKind, Target: d.Target, OutsideSandbox: d.OutsideSandbox,
		ReadOnly: d.Call.ReadOnly, AlwaysAsk: d.Call.AlwaysAsk, Args: d.Call.Args,
		Answer: d.Answer, Observed: d.Observed, Shadow: d.Shadow, Error: d.Error,
	}
	for _, h := range v.Hits {
		e.Hits = append(e.Hits, h.Step+":"+h.By)
	}
}

// userKind drops the verdict's kind once a person decided: it was about the
// question.
func userKind(by, kind string) string {
	if by == "user" {
		return ""
	}
	return kind
}

// Verdict records what was decided about a call: the verdict, or the verdict
// and a person's answer. In mandatory mode an error means that the call must
// not run.
func (l *Log) Verdict(d *Decided) error {
	var e Event
	d.event(&e, TypeVerdict)
	_, err := l.record(&e, NotRun)
	return err
}

// Intent records that a call is about to run, and returns its place for Result.
// In mandatory mode an error means that the call must not run; its text says
// so.
func (l *Log) Intent(d *Decided) (Ref, error) {
	var e Event
	d.event(&e, TypeIntent)
	return l.record(&e, NotRun)
}

// Ran is what came of a call: what Result records.
type Ran struct {
	// Tool, CallID, Agent and Class are those of the call and its decision. Class
	// decides whether the level keeps the result.
	Tool, CallID, Agent string
	Class               Class
	Risk                Risk
	// Started says whether anything ran. Exit is the exit status, if there is one.
	Started  bool
	Exit     *int
	Duration time.Duration
	// Error says why it could not be started or did not end well (a timeout, a
	// post-check). An exit status alone is no error.
	Error string
}

// Result records what came of a call whose Intent was recorded at ref. In
// mandatory mode an error says that the call ran and its result is not in the
// log.
func (l *Log) Result(ref Ref, r *Ran) error {
	e := Event{
		Type: TypeResult, Tool: r.Tool, CallID: r.CallID, Agent: r.Agent, Class: r.Class, Risk: r.Risk,
		Intent: ref.Seq, IntentSegment: ref.Segment,
		Ran: &r.Started, Exit: r.Exit, Duration: r.Duration, Error: r.Error,
	}
	outcome := AlreadyIn
	if !r.Started {
		outcome = NotRun
	}
	_, err := l.record(&e, outcome)
	return err
}

// HookRun is a run of a hook or formatter of the host, or its refusal: what
// Hook records.
type HookRun struct {
	// Event is the hook's event ("preToolUse"); the tool in the log is
	// "hook:preToolUse".
	Event string
	// Command is the hook's command line.
	Command string
	// CallID and Agent are those of the call that the hook belongs to.
	CallID, Agent string
	// Verdict is that of CheckHook: a denial means that the hook did not run.
	Verdict  model.Verdict
	Ran      bool
	Blocked  bool // the hook, or its refusal, blocked the call
	Exit     *int
	Duration time.Duration
	Error    string
}

// Hook records a hook run. Its class is hook, or that of the denial.
func (l *Log) Hook(h *HookRun) error {
	class := ClassHook
	if h.Verdict.Decision == model.Deny {
		class = Classify(model.Deny, h.Verdict.By, h.Verdict.Kind)
	}
	e := Event{
		Type: TypeHook, Tool: "hook:" + h.Event, Class: class, Risk: RiskOf(class, model.KindCommand, false),
		By: h.Verdict.By, Kind: h.Verdict.Kind, Step: h.Verdict.Step, Reason: h.Verdict.Reason,
		Rule: h.Verdict.Rule, Revision: h.Verdict.Revision,
		CallID: h.CallID, Agent: h.Agent, TargetKind: model.KindCommand, Target: h.Command,
		Ran: &h.Ran, Blocked: h.Blocked, Exit: h.Exit, Duration: h.Duration, Error: h.Error,
	}
	outcome := NotRun
	if h.Ran {
		outcome = AlreadyIn
	}
	_, err := l.record(&e, outcome)
	return err
}
