//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/lictor-policy/lictor/internal/daemon/client"
	"github.com/lictor-policy/lictor/internal/hook"
)

const (
	maxBody = client.MaxRequest
	// maxWeb is how many HTTP connections are open at once.
	maxWeb = 32
	// projectHeader names the agent's project folder, as its variable does for hooks
	// that are commands; askHeader says that somebody can answer its questions.
	projectHeader = "Lictor-Project-Dir"
	askHeader     = "Lictor-Ask"
)

// web is the HTTP side of the daemon.
type web struct {
	*server
	address string
	// hosts are the values of Host that mean this listener. A page in a browser
	// reaches the address too, but under a name of its own.
	hosts map[string]bool
	token string
	http  *http.Server
	opa   opa
}

// listenHTTP opens the address of the options, which must be a loopback one.
func (s *server) listenHTTP() (*web, error) {
	host, _, err := net.SplitHostPort(s.options.HTTP)
	if err != nil {
		return nil, fmt.Errorf("the address for HTTP: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("the address for HTTP must be a loopback address such as 127.0.0.1:7433, not %q", s.options.HTTP)
	}
	w := &web{server: s}
	if w.token, err = token(s.options.Home); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", s.options.HTTP)
	if err != nil {
		return nil, fmt.Errorf("listening for HTTP: %w", err)
	}
	w.address = l.Addr().String()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	w.hosts = map[string]bool{w.address: true, "localhost:" + port: true, net.JoinHostPort(host, port): true}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook/{agent}", w.hook)
	mux.HandleFunc("POST /v1/data/lictor/verdict", w.verdict)
	mux.HandleFunc("GET /health", func(out http.ResponseWriter, _ *http.Request) { send(out, "application/json", w.health()) })
	mux.HandleFunc("GET /metrics", func(out http.ResponseWriter, _ *http.Request) {
		send(out, "text/plain; version=0.0.4", []byte(w.metrics.text(w.roots.count())))
	})
	w.http = &http.Server{
		Handler: w.guard(mux), ReadHeaderTimeout: requestTime, ReadTimeout: 2 * requestTime,
		WriteTimeout: hook.HostTimeout + answerTime, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() {
		if err := w.http.Serve(netutil.LimitListener(l, maxWeb)); !errors.Is(err, http.ErrServerClosed) {
			s.options.Notify("HTTP ended: " + err.Error())
		}
	}()
	return w, nil
}

func (w *web) close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if w.http.Shutdown(ctx) != nil {
		w.http.Close()
	}
}

// guard lets only requests through that are meant for this listener, do not come
// from a page, and have the token.
func (w *web) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				w.metrics.panics.Add(1)
				w.fail(out, r, http.StatusInternalServerError, "internal_error", "internal error")
			}
		}()
		out.Header().Set("X-Content-Type-Options", "nosniff")
		out.Header().Set("Cache-Control", "no-store")
		body := r.Body
		r.Body = http.MaxBytesReader(out, body, maxBody)
		if !w.hosts[strings.ToLower(r.Host)] || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
			w.metrics.unauthorised.Add(1)
			problem(out, http.StatusForbidden, "forbidden", "this address serves agents of this machine only")
			return
		}
		// Who still sends when the connection is closed gets a reset in place of the
		// answer, and an agent makes the call then: what is too long, or of no
		// interest, is read to its end, as long as ReadTimeout lets it.
		defer func() { _, _ = io.Copy(io.Discard, body) }()
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || !sameToken(strings.TrimSpace(given), w.token) {
			w.metrics.unauthorised.Add(1)
			w.fail(out, r, http.StatusUnauthorized, "unauthorized", "the request has no valid token: send the one in "+TokenFile(w.options.Home))
			return
		}
		next.ServeHTTP(out, r)
	})
}

// fail answers a request that got no further. For agents any other status than
// 200 is a hook that failed, and then they make the call: a hook is refused in
// the agent's words, always with 200.
func (w *web) fail(out http.ResponseWriter, r *http.Request, status int, code, reason string) {
	agent, ok := strings.CutPrefix(r.URL.Path, "/hook/")
	if !ok || !client.Known(agent) {
		problem(out, status, code, reason)
		return
	}
	body, _ := io.ReadAll(r.Body)
	send(out, "application/json", client.Refuse(agent, body, reason).Stdout)
}

// hook answers an agent whose hooks are HTTP requests: the body is what a
// command would get on standard input, the answer's what it would print.
func (w *web) hook(out http.ResponseWriter, r *http.Request) {
	agent := r.PathValue("agent")
	if !client.Known(agent) {
		problem(out, http.StatusNotFound, "resource_not_found", "unknown agent; known are "+strings.Join(hook.Names(), ", "))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		send(out, "application/json", client.Refuse(agent, body, "reading the hook's input: "+err.Error()).Stdout)
		return
	}
	if w.self.replaced() {
		w.stop(errReplaced)
		send(out, "application/json", client.Refuse(agent, body, "another version of lictor was installed: start its daemon").Stdout)
		return
	}
	reply, why := w.decide(r.Context(), &Call{
		Agent: agent, Ask: r.Header.Get(askHeader) == "true", Stdin: body, Limit: hook.Deadline,
		Getenv: func(name string) string {
			if client.IsProjectVar(name) {
				return r.Header.Get(projectHeader)
			}
			return ""
		},
	}, nil)
	switch {
	case why != "":
		send(out, "application/json", client.Refuse(agent, body, why).Stdout)
	case reply.Code != 0 && len(reply.Stdout) == 0:
		// Only for events that decide nothing.
		problem(out, http.StatusInternalServerError, "internal_error", strings.TrimSpace(string(reply.Stderr)))
	default:
		send(out, "application/json", reply.Stdout)
	}
}

func send(out http.ResponseWriter, kind string, body []byte) {
	out.Header().Set("Content-Type", kind)
	_, _ = out.Write(body)
}

// problem is an error as OPA's server says it.
func problem(out http.ResponseWriter, status int, code, message string) {
	body, _ := json.Marshal(map[string]string{"code": code, "message": message})
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_, _ = out.Write(append(body, '\n'))
}
