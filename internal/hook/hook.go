// Package hook speaks the hook contracts of agents: one file an agent decodes
// what the agent sends into a call and encodes a verdict in that agent's words.
// Each contract has its own ways to fail open; each file says which and how the
// dialect stays closed.
package hook

import (
	"fmt"
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// Reply is what a hook process gives back to the agent.
type Reply struct {
	// Stdout and Stderr are written as they are.
	Stdout, Stderr []byte
	// Code is the exit code.
	Code int
}

// Event is one decoded hook call.
type Event struct {
	Call model.Call
	// Project is the agent's project folder if the event names one, else "".
	Project string
	// Session is the agent's id of the conversation.
	Session string
}

// Dialect is one agent's hook contract.
type Dialect interface {
	// Name is the agent's name on the command line ("claude-code").
	Name() string
	// Decode reads what the agent sent. Any error must be answered with Block.
	Decode(stdin []byte) (*Event, error)
	// Encode says the verdict in the agent's words.
	Encode(v *model.Verdict) Reply
	// Block refuses the call without a verdict: the input could not be read, the
	// engine failed, the program panicked. It must never let the call run.
	Block(reason string) Reply
}

var dialects = []Dialect{claudeCode{}}

// Names lists the agents that have a dialect.
func Names() []string {
	var out []string
	for _, d := range dialects {
		out = append(out, d.Name())
	}
	slices.Sort(out)
	return out
}

// Find returns the dialect of an agent by name, or an error that lists the names.
func Find(name string) (Dialect, error) {
	for _, d := range dialects {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q: lictor has hooks for %v", name, Names())
}
