package daemon

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/hook"
	"github.com/lictor-policy/lictor/internal/model"
)

// Call is one hook call, from wherever it came.
type Call struct {
	// Agent is the agent's name, Ask says that it was installed with --ask.
	Agent string
	Ask   bool
	// Cwd is the folder that the hook runs in, for events that name none.
	Cwd string
	// Getenv looks up the variables that agents set for their hooks.
	Getenv func(string) string
	// Stdin is what the agent sent.
	Stdin []byte
	// Limit is the deadline; 0 means hook.Deadline.
	Limit time.Duration
}

// project says where an engine is looked for: the agent's own project folder, or
// else the folder that the call comes from.
type project struct{ dir, cwd string }

// decider checks a call of a project. The notices are about the project's files.
type decider func(context.Context, project, model.Call) (v model.Verdict, notices []string, err error)

// answer walks one call through its dialect. Notices about the project's files
// are put in front of the reply's standard error.
func answer(ctx context.Context, c *Call, decide decider) hook.Reply {
	dialect, err := hook.Find(c.Agent)
	if err != nil {
		return hook.Reply{Stderr: []byte("lictor: " + err.Error() + "\n"), Code: 2}
	}
	// The work may outlive its deadline, so what it finds is handed over.
	found := make(chan []string, 1)
	reply := hook.Serve(ctx, dialect, bytes.NewReader(c.Stdin), hook.Serving{
		Options: hook.Options{Ask: c.Ask},
		Limit:   c.Limit,
		Decide: func(ctx context.Context, e *hook.Event, call model.Call) (model.Verdict, error) {
			p := project{hook.Project(dialect, e, c.Getenv), e.Call.Cwd}
			if p.cwd == "" {
				p.cwd = c.Cwd
			}
			v, notices, err := decide(ctx, p, call)
			select {
			case found <- notices:
			default: // an event with several calls has said them already
			}
			return v, err
		},
	})
	select {
	case notices := <-found:
		reply.Stderr = append(noticeLines(notices), reply.Stderr...)
	default:
	}
	return reply
}

func noticeLines(notices []string) []byte {
	var out []byte
	for _, n := range notices {
		out = append(out, "lictor: notice: "+strings.ReplaceAll(n, "\n", " ")+"\n"...)
	}
	return out
}

// Once decides one hook call with an engine that is opened for it: what the
// daemon does, in the caller's own process. base are the engine's options; its
// Root and ProjectDir, if set, outrank what the event says. Whatever fails is a
// refusal in the agent's words.
func Once(ctx context.Context, c *Call, base lictor.Options) hook.Reply {
	var mu sync.Mutex
	var engine *lictor.Engine
	reply := answer(ctx, c, func(ctx context.Context, p project, call model.Call) (model.Verdict, []string, error) {
		mu.Lock()
		defer mu.Unlock()
		if engine == nil {
			o := base
			o.ShortLived = true
			if o.Root == "" && o.ProjectDir == "" {
				o.ProjectDir = p.dir
			}
			o.Cwd = p.cwd
			opened, err := lictor.Open(ctx, o)
			if err != nil {
				return model.Verdict{}, nil, err
			}
			engine = opened
		}
		v, err := engine.Check(ctx, call)
		return v, engine.Notices(), err
	})
	// A check that is still at work after its deadline ends with the process.
	if mu.TryLock() {
		defer mu.Unlock()
		if engine != nil {
			if err := engine.Close(); err != nil && base.Notify != nil {
				base.Notify("closing the engine: " + err.Error())
			}
		}
	}
	return reply
}
