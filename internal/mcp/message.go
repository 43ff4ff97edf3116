package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/toolcall"
)

// members reads a JSON object that was found to be strict. A member that some
// readers would take for one of the names, but for its letter case, is an error:
// what is decided must be what the other side reads.
func members(data []byte, names ...string) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	if err := json.Unmarshal(data, &out); err != nil || out == nil {
		return nil, errors.New("not a JSON object")
	}
	for key := range out {
		for _, name := range names {
			if key != name && strings.EqualFold(key, name) {
				return nil, fmt.Errorf("the member %q must be written %q", key, name)
			}
		}
	}
	return out, nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// message is one JSON-RPC message, as far as the proxy looks at it.
type message struct {
	all    map[string]json.RawMessage
	method string
	// id is the id's JSON, nil for a notification.
	id json.RawMessage
}

// parseMessage reads one line. Batches, which today's protocol does not have, are
// an error.
func parseMessage(line []byte) (*message, error) {
	if err := toolcall.Strict(line); err != nil {
		return nil, err
	}
	all, err := members(line, "jsonrpc", "id", "method", "params", "result", "error")
	if err != nil {
		return nil, err
	}
	m := &message{all: all}
	if raw, ok := all["method"]; ok {
		if err := json.Unmarshal(raw, &m.method); err != nil || m.method == "" {
			return nil, errors.New("method must be a text")
		}
	}
	if raw, ok := all["id"]; ok && string(raw) != "null" {
		if c := raw[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
			return nil, errors.New("id must be a text or a number")
		}
		m.id = raw
	}
	return m, nil
}

// key is the id for a map. Two spellings of one text are one id.
func (m *message) key() string { return idKey(m.id) }

func idKey(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return "s" + text
	}
	return "n" + string(bytes.TrimSpace(id))
}

// errorReply is a JSON-RPC error for a request; id nil is null.
func errorReply(id json.RawMessage, code int, reason string) []byte {
	return encodeLine(map[string]any{
		"jsonrpc": "2.0", "id": orNull(id), "error": map[string]any{"code": code, "message": "lictor: " + reason},
	})
}

// denied is the result of a call that was not made: an error that the model sees,
// so that it can do something else.
func denied(id json.RawMessage, reason string) []byte {
	return encodeLine(map[string]any{
		"jsonrpc": "2.0", "id": id, "result": map[string]any{
			"content": []any{map[string]string{"type": "text", "text": "lictor: " + reason}}, "isError": true,
		},
	})
}

// encodeLine is one message and the newline behind it. What it is given always
// encodes: texts and JSON that was read before.
func encodeLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lictor: the answer cannot be encoded"}}` + "\n")
	}
	return b.Bytes()
}
