package audit

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/lictor-policy/lictor/internal/model"
)

// RecordedCall is a call as the log kept it, with the decision it got: enough
// to ask another policy about it.
type RecordedCall struct {
	// Call is the call. Its arguments are redacted: a secret is a plain word.
	Call model.Call
	// Isolation is what the call was decided under, OutsideSandbox its own wish.
	Isolation      model.Isolation
	OutsideSandbox bool
	// Decision, Class, By, Kind and Reason are the verdict of that time.
	Decision model.Decision
	Class    Class
	By, Kind string
	Reason   string
	Rule     *model.RuleRef
	Revision string
	// Answer is what a person said, if asked.
	Answer string
	// Exact is false if the line does not hold the whole call (too long, or not
	// UTF-8); Redacted says that secrets were removed from it.
	Exact    bool
	Redacted bool
	// Event is the whole event.
	Event *Event
}

// Calls reads the recorded verdicts of a log as calls, oldest first, as Show
// reads events. Filter.Types is set to verdicts.
func Calls(ctx context.Context, dir string, f Filter) iter.Seq2[*RecordedCall, error] {
	f.Types = []Type{TypeVerdict}
	return func(yield func(*RecordedCall, error) bool) {
		for e, err := range Show(ctx, dir, f) {
			var rc *RecordedCall
			if err == nil {
				rc = recordedCall(e)
			}
			if !yield(rc, err) {
				return
			}
		}
	}
}

func recordedCall(e *Event) *RecordedCall {
	rc := &RecordedCall{
		Call: model.Call{
			Tool: e.Tool, Args: e.Args, ReadOnly: e.ReadOnly, AlwaysAsk: e.AlwaysAsk, CallID: e.CallID,
			Agent: e.Agent, Cwd: e.Cwd, Mode: e.Mode, Shell: e.Shell,
		},
		Isolation: e.Isolation, OutsideSandbox: e.OutsideSandbox,
		Decision: model.Decision(decisionWord(e.Class)), Class: e.Class, By: e.By, Kind: e.Kind,
		Reason: e.Reason, Rule: e.Rule, Revision: e.Revision, Answer: e.Answer,
		Exact: e.Lossy == "", Redacted: len(e.Redactions) > 0, Event: e,
	}
	if e.ArgsText { // the arguments were no JSON: give back their text
		var text string
		if json.Unmarshal(e.Args, &text) == nil {
			rc.Call.Args = json.RawMessage(text)
		}
	}
	return rc
}
