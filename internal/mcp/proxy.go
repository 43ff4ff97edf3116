package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// ProxyOptions say what Proxy stands between.
type ProxyOptions struct {
	// Server is the server's name in rules: mcp__SERVER__TOOL. It has letters,
	// digits, `.`, `-` and single `_`.
	Server string
	// Command is the server's program and arguments.
	Command []string
	// Run runs the server, in a sandbox for instance; nil is RunPlain.
	Run Runner
	// Stdin and Stdout are the client's side; Stderr gets what the server says
	// there. Nil is an error for the first two and drops the last.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Runner runs a server until it ends or ctx does. It closes nothing that it was
// given.
type Runner func(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) error

const (
	// maxLine is how long a message may be: what the strict reader takes.
	maxLine = toolcall.MaxSize
	// maxPending is how many calls are decided, and how many lists of tools are
	// waited for, at once.
	maxPending = 64
	// endTime is how long a server may take to end after its input did.
	endTime = 5 * time.Second
)

const (
	codeParse   = -32700
	codeRequest = -32600
	codeParams  = -32602
)

var serverName = regexp.MustCompile(`^[A-Za-z0-9.-]+(_[A-Za-z0-9.-]+)*$`)

// CheckServerName returns an error for a name that rules could misread.
func CheckServerName(name string) error {
	if !serverName.MatchString(name) {
		return fmt.Errorf("the server's name %q cannot be used in rules: use letters, digits, `.`, `-` and single `_` between them", name)
	}
	return nil
}

// Proxy starts an MCP server and stands between it and the client on Stdin and
// Stdout until one of them ends.
//
// Each tools/call is decided by Engine.Decide, which asks the engine's approver
// and records the decision; a call that is not allowed never reaches the server,
// and its result says why. Tools that a deny rule names whatever their arguments
// are taken out of tools/list. Everything else passes unchanged, except messages
// of the client that two readers could read differently: those are answered with
// an error.
//
// The error says how the server ended, if that was not because the client went
// away or ctx ended.
func Proxy(ctx context.Context, engine *lictor.Engine, o ProxyOptions) error {
	if err := CheckServerName(o.Server); err != nil {
		return err
	}
	if len(o.Command) == 0 || o.Stdin == nil || o.Stdout == nil {
		return errors.New("the proxy needs a server's command, and the client's input and output")
	}
	if o.Run == nil {
		o.Run = RunPlain
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	p := &proxy{
		engine: engine, server: o.Server, client: &lineWriter{w: o.Stdout}, upstream: &lineWriter{w: toServer},
		deciding: map[string]context.CancelFunc{}, lists: map[string]bool{}, slots: make(chan struct{}, maxPending),
	}
	var ending error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ending = o.Run(ctx, o.Command, in, out, o.Stderr)
		in.CloseWithError(io.ErrClosedPipe)
		out.Close()
	}()
	listened := make(chan error, 1)
	go func() { listened <- p.fromServer(ctx, fromServer) }()
	var gone atomic.Bool
	spoken := make(chan error, 1)
	go func() {
		err := p.fromClient(ctx, o.Stdin)
		gone.Store(true)
		// What the client asked before it went is still decided, but not for ever.
		within(endTime, p.busy.Wait)
		p.cancelAll()
		toServer.Close()
		spoken <- err
	}()

	var failure error
	var silent bool // the server has closed its output
	select {
	case <-ended:
	case failure = <-spoken:
	case failure = <-listened:
		listened <- nil
		silent = failure == nil
	case <-ctx.Done():
	}
	stopped := ctx.Err() != nil
	if failure == nil && !stopped {
		within(endTime, func() { <-ended })
		failure = serverEnd(ended, &ending, gone.Load(), silent)
	}
	cancel()
	within(endTime+time.Second, func() { <-ended })
	fromServer.CloseWithError(io.ErrClosedPipe)
	within(endTime, func() { <-listened })
	return failure
}

// serverEnd says why a server ended, if that is a failure: by itself while the
// client was there, or with an error. The end of its output is often seen first
// (silent), and says nothing.
func serverEnd(ended <-chan struct{}, ending *error, gone, silent bool) error {
	select {
	case <-ended:
		if *ending == nil && !gone {
			return errors.New("the MCP server ended")
		}
		return *ending
	default:
	}
	if silent {
		return errors.New("the MCP server closed its output and does not end")
	}
	return nil
}

// within waits for work, but no longer than a time.
func within(limit time.Duration, work func()) {
	done := make(chan struct{})
	go func() { work(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// proxy is one running proxy.
type proxy struct {
	engine           *lictor.Engine
	server           string
	client, upstream *lineWriter
	slots            chan struct{}
	busy             sync.WaitGroup

	mu sync.Mutex
	// deciding are the calls that are being decided, by id; lists the ids of
	// tools/list requests without an answer yet.
	deciding map[string]context.CancelFunc
	lists    map[string]bool
}

// lineWriter writes whole lines, from any goroutine.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) send(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.w.Write(line)
	return err
}

// lines calls each for every line, with its newline.
func lines(r io.Reader, each func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return fmt.Errorf("a message is longer than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			if err := each(line); err != nil {
				return err
			}
			line = nil
			continue
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
			if len(line) > 0 {
				return each(append(line, '\n'))
			}
			return nil
		}
		return err
	}
}

// fromClient takes the client's messages to the server.
func (p *proxy) fromClient(ctx context.Context, in io.Reader) error {
	return lines(in, func(line []byte) error {
		if strings.TrimSpace(string(line)) == "" {
			return nil
		}
		m, err := parseMessage(line)
		if err != nil {
			return p.client.send(errorReply(nil, codeParse, "the message cannot be read: "+err.Error()))
		}
		switch m.method {
		case "tools/call":
			return p.call(ctx, m, line)
		case "tools/list":
			if err := p.expectList(m); err != nil {
				return p.client.send(errorReply(m.id, codeRequest, err.Error()))
			}
		case "notifications/cancelled":
			if p.cancel(m) {
				return nil // the server never heard of the call
			}
		}
		return p.upstream.send(line)
	})
}

func (p *proxy) expectList(m *message) error {
	if m.id == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lists) >= maxPending {
		return errors.New("too many lists of tools are waited for")
	}
	p.lists[m.key()] = true
	return nil
}

// call decides one tools/call beside the messages that follow it: a person may
// have to answer.
func (p *proxy) call(ctx context.Context, m *message, line []byte) error {
	call, err := p.parseCall(m)
	if err != nil {
		if m.id == nil {
			return nil
		}
		return p.client.send(errorReply(m.id, codeParams, "the call cannot be read: "+err.Error()))
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	key := ""
	if m.id != nil {
		key = m.key()
		p.mu.Lock()
		_, twice := p.deciding[key]
		if !twice {
			p.deciding[key] = cancel
		}
		p.mu.Unlock()
		if twice {
			cancel()
			<-p.slots
			return p.client.send(errorReply(m.id, codeRequest, "a call with this id is being decided"))
		}
	}
	p.busy.Go(func() {
		defer func() { <-p.slots }()
		defer cancel()
		allowed, reason := p.decide(ctx, call)
		p.mu.Lock()
		delete(p.deciding, key)
		cancelled := ctx.Err() != nil
		p.mu.Unlock()
		switch {
		case cancelled:
		case allowed:
			_ = p.upstream.send(line)
		case m.id != nil:
			_ = p.client.send(denied(m.id, reason))
		}
	})
	return nil
}

// decide asks the engine; a panic is a no.
func (p *proxy) decide(ctx context.Context, call lictor.Call) (allowed bool, reason string) {
	defer func() {
		if r := recover(); r != nil {
			allowed, reason = false, fmt.Sprintf("internal error: %v", r)
		}
	}()
	d, err := p.engine.Decide(ctx, call)
	switch {
	case err != nil && d.Reason == "":
		return false, err.Error()
	case err != nil:
		return false, d.Reason
	}
	return d.Allowed, d.Reason
}

// parseCall reads the parameters of a tools/call as strictly as its envelope.
func (p *proxy) parseCall(m *message) (lictor.Call, error) {
	params, err := members(orNull(m.all["params"]), "name", "arguments")
	if err != nil {
		return lictor.Call{}, fmt.Errorf("params: %w", err)
	}
	var name string
	if err := json.Unmarshal(orNull(params["name"]), &name); err != nil || name == "" {
		return lictor.Call{}, errors.New("params.name must name a tool")
	}
	args := params["arguments"]
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if args[0] != '{' {
		return lictor.Call{}, errors.New("params.arguments must be an object")
	}
	call := p.toolCall(name, args)
	call.CallID = string(m.id)
	return call, nil
}

func (p *proxy) toolCall(name string, args json.RawMessage) lictor.Call {
	return lictor.Call{Tool: "mcp__" + p.server + "__" + name, Args: args, Agent: "mcp-proxy"}
}

// cancel ends the decision about a call that the client does not want any more.
// It reports whether there was one.
func (p *proxy) cancel(m *message) bool {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(orNull(m.all["params"]), &params) != nil || params.ID == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lists, idKey(params.ID))
	cancel, ok := p.deciding[idKey(params.ID)]
	if ok {
		cancel()
	}
	return ok
}

func (p *proxy) cancelAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.deciding {
		cancel()
	}
}

// fromServer takes the server's messages to the client. Only answers to
// tools/list are looked into; what the proxy cannot read is the client's to
// judge.
func (p *proxy) fromServer(ctx context.Context, out io.Reader) error {
	return lines(out, func(line []byte) error {
		if p.expectsList() {
			if m, err := parseMessage(line); err == nil && m.method == "" && m.id != nil && p.tookList(m.key()) {
				line = p.filter(ctx, m, line)
			}
		}
		return p.client.send(line)
	})
}

func (p *proxy) expectsList() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lists) > 0
}

func (p *proxy) tookList(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.lists[key]
	delete(p.lists, key)
	return found
}

// filter takes tools that can never be allowed out of a list. A list without one
// stays as it is, to the byte.
func (p *proxy) filter(ctx context.Context, m *message, line []byte) []byte {
	result, err := members(orNull(m.all["result"]), "tools")
	if err != nil {
		return line
	}
	var tools, kept []json.RawMessage
	if json.Unmarshal(orNull(result["tools"]), &tools) != nil {
		return line
	}
	kept = []json.RawMessage{}
	for _, t := range tools {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(t, &tool) == nil && p.never(ctx, tool.Name) {
			continue
		}
		kept = append(kept, t)
	}
	if len(kept) == len(tools) {
		return line
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return line
	}
	result["tools"] = text
	if m.all["result"], err = json.Marshal(result); err != nil {
		return line
	}
	return encodeLine(m.all)
}

// never reports whether a rule denies a tool whatever its arguments are. It only
// looks: Explain records nothing, because nobody wants to make these calls.
func (p *proxy) never(ctx context.Context, name string) bool {
	for _, args := range []string{`{}`, `{"lictor":"any other arguments"}`} {
		e, err := p.engine.Explain(ctx, p.toolCall(name, json.RawMessage(args)))
		if err != nil || e.Verdict.Decision != lictor.Deny || e.Verdict.By != "rule" || e.Verdict.Step != "3" {
			return false
		}
	}
	return true
}
