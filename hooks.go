package lictor

import (
	"context"
	"encoding/json"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/model"
)

// HookRun is a run of a hook or formatter of the host, or its refusal.
type HookRun = audit.HookRun

// CheckHook decides whether the host may run a command of its own, such as a hook
// or a formatter: the team policy and managed bundles are asked, rules are not,
// because the user configured the command. It returns the exec policy of the
// engine's mode to run it under. Afterwards the host calls RecordHook, also for a
// refusal. The verdict is valid beside an error, and then it denies.
func (e *Engine) CheckHook(ctx context.Context, command string) (Verdict, *ExecPolicy, error) {
	s := e.state.Load()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return facts.ErrorVerdict(err, s.facts.Revision), nil, err
	}
	call := Call{Tool: "bash", Args: args, Agent: "host"}
	v, c, err := e.check(ctx, &call)
	if err != nil {
		return v, nil, err
	}
	if c.Input.Facts&(model.FactPolicy|model.FactManagedDeny) != 0 {
		return v, nil, nil
	}
	policy, err := s.execPolicy(0, ExecOptions{
		Sandbox: s.facts.Isolation == IsolationOS, ReadOnlyRoot: c.Input.Mode == ModePlan,
	})
	if err != nil {
		return facts.ErrorVerdict(err, s.facts.Revision), nil, err
	}
	return Verdict{
		Decision: Allow, By: "hook", Step: "0", Class: "hook", Hits: []Hit{}, Revision: s.facts.Revision,
		Reason: "the team policy does not stop this hook",
	}, policy, nil
}

// RecordHook writes down what came of a hook. If the team policy makes the record
// mandatory and it cannot be written, the error says so.
func (e *Engine) RecordHook(run HookRun) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	return log.Hook(&run)
}

// RecordRun writes down that an agent ran a call that it had asked about before.
func (e *Engine) RecordRun(call Call) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	return log.Record(&audit.Event{
		Type: audit.TypeResult, Tool: call.Tool, CallID: call.CallID, Agent: call.Agent, Args: call.Args,
	})
}

// RegisterSecret adds a value that must never be written to the audit log, such
// as a key that the host moved out of the environment.
func (e *Engine) RegisterSecret(value string) error {
	log := e.state.Load().log
	if log == nil {
		return nil
	}
	return log.RegisterSecret(value)
}
