//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor/internal/daemon/client"
	"github.com/lictor-policy/lictor/internal/hook"
	"github.com/lictor-policy/lictor/internal/model"
)

// respond answers one request of a client. A panic leaves the call to the cold
// path.
func (s *server) respond(ctx context.Context, r *client.Request) (out *client.Response) {
	defer func() {
		if p := recover(); p != nil {
			s.metrics.panics.Add(1)
			out = goCold(fmt.Sprintf("the daemon had an internal error: %v", p))
		}
	}()
	switch r.Kind {
	case client.KindHealth:
		return &client.Response{Status: client.StatusText, Stdout: s.health()}
	case client.KindMetrics:
		return &client.Response{Status: client.StatusText, Stdout: []byte(s.metrics.text(s.roots.count()))}
	case client.KindStop:
		return &client.Response{Status: client.StatusText, Stdout: []byte("stopping\n")}
	}
	if why := s.unfit(r); why != "" {
		s.metrics.cold.Add(1)
		return goCold(why)
	}
	call := Call{Agent: r.Agent, Ask: r.Ask, Cwd: r.Cwd, Getenv: r.Getenv, Stdin: r.Stdin, Limit: min(r.Limit, hook.Deadline)}
	reply, why := s.decide(ctx, &call, secrets(r.Vars))
	if why != "" {
		s.metrics.cold.Add(1)
		return goCold(why)
	}
	return &client.Response{Status: client.StatusAnswer, Stdout: reply.Stdout, Stderr: reply.Stderr, Code: reply.Code}
}

func goCold(why string) *client.Response {
	return &client.Response{Status: client.StatusCold, Stderr: []byte(why)}
}

// unfit says why this daemon must not decide a client's call, or "".
func (s *server) unfit(r *client.Request) string {
	switch {
	case s.self.replaced():
		s.stop(errReplaced)
		return "another version of lictor was installed; the daemon ends"
	case r.Home != s.options.Home:
		return "the daemon was started for another home folder (" + s.options.Home + ")"
	case r.Space != s.space:
		return "the daemon sees another file system"
	}
	return ""
}

// decide answers one hook call. why is not empty if the daemon cannot and the
// cold path should.
func (s *server) decide(ctx context.Context, c *Call, secrets []string) (reply hook.Reply, why string) {
	start := time.Now()
	s.last.Store(start.UnixNano())
	defer func() { s.last.Store(time.Now().UnixNano()) }()
	select {
	case s.calls <- struct{}{}:
	case <-ctx.Done():
		return reply, "the daemon is ending"
	case <-time.After(max(c.Limit/2, time.Second)):
		return reply, "the daemon is busy"
	}
	defer func() { <-s.calls }()
	var cold, decided atomic.Bool
	// Calls that have begun are finished when the daemon ends.
	reply = answer(context.WithoutCancel(ctx), c, func(ctx context.Context, p project, call model.Call) (model.Verdict, []string, error) {
		v, notices, err := s.roots.check(ctx, p, call, secrets)
		if errors.Is(err, errClosed) || errors.Is(err, errTooManySecrets) {
			cold.Store(true)
		}
		if v.Decision != "" {
			decided.Store(true)
			s.metrics.verdict(v.Decision)
		}
		return v, notices, err
	})
	s.metrics.took(time.Since(start))
	if cold.Load() {
		return reply, "the daemon cannot decide this call"
	}
	if !decided.Load() {
		s.metrics.refused.Add(1)
	}
	return reply, ""
}

// secrets are the values of a request's variables that the record must not have.
func secrets(vars []string) []string {
	var out []string
	for _, kv := range vars {
		name, value, ok := strings.Cut(kv, "=")
		if ok && len(value) >= 6 && !client.IsProjectVar(name) {
			out = append(out, value)
		}
	}
	return out
}

func (s *server) health() []byte {
	out, _ := json.Marshal(Health{
		OK: true, PID: os.Getpid(), Home: s.options.Home, Engines: s.roots.count(),
		Uptime: int64(time.Since(s.metrics.started).Seconds()),
		Idle:   int64(time.Since(time.Unix(0, s.last.Load())).Seconds()),
	})
	return append(out, '\n')
}
