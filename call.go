package lictor

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/lictor-policy/lictor/internal/toolcall"
	"github.com/lictor-policy/lictor/rego"
)

// ParseCall reads a call from its JSON form: an object with tool, args and the
// optional read_only, always_ask, call_id, agent and cwd. Anything else is an
// error, such as an unknown key, a key given twice, or text behind the object.
func ParseCall(data []byte) (Call, error) {
	var wire struct {
		Tool      string          `json:"tool"`
		Args      json.RawMessage `json:"args"`
		ReadOnly  *bool           `json:"read_only"`
		AlwaysAsk bool            `json:"always_ask"`
		CallID    string          `json:"call_id"`
		Agent     string          `json:"agent"`
		Cwd       string          `json:"cwd"`
	}
	if err := toolcall.DecodeStrict(data, &wire); err != nil {
		return Call{}, fmt.Errorf("the call cannot be read: %w", err)
	}
	if wire.Tool == "" {
		return Call{}, errors.New("the call cannot be read: tool: missing or empty; it names the tool")
	}
	return Call{
		Tool: wire.Tool, Args: wire.Args, ReadOnly: wire.ReadOnly, AlwaysAsk: wire.AlwaysAsk,
		CallID: wire.CallID, Agent: wire.Agent, Cwd: wire.Cwd,
	}, nil
}

// Targets returns what a call touches as far as its arguments alone say it:
// paths are not resolved and commands not analysed. The error is an *InputError.
func Targets(call Call) ([]Target, error) {
	table, err := builtinTable()
	if err != nil {
		return nil, err
	}
	d, err := table.Decode(call)
	if err != nil {
		return nil, err
	}
	return d.Targets, nil
}

// builtinTable is the embedded table of tools, read once.
var builtinTable = sync.OnceValues(func() (*toolcall.Table, error) { return toolcall.LoadTable(rego.Tools) })
