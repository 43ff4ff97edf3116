package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lictor-policy/lictor/internal/toolcall"
)

// envelope is what an agent sent: one JSON object, read strictly. Members are
// found by their exact names; encoding/json alone would take "Tool_Name" for
// "tool_name". The first error stays and is returned by each dialect at the end.
type envelope struct {
	members map[string]json.RawMessage
	err     error
}

func openEnvelope(stdin []byte) (*envelope, error) {
	if err := toolcall.Strict(stdin); err != nil {
		return nil, fmt.Errorf("the hook's input cannot be read: %w", err)
	}
	e := &envelope{}
	if err := json.Unmarshal(stdin, &e.members); err != nil || e.members == nil {
		return nil, fmt.Errorf("the hook's input must be a JSON object")
	}
	return e, nil
}

func (e *envelope) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("the hook's input: "+format, args...)
	}
}

// find returns the member under any of its spellings; null is absent. Two
// spellings that differ are an error: which one the agent acts on is not known.
func (e *envelope) find(names []string) (string, json.RawMessage) {
	var name string
	var value json.RawMessage
	for _, n := range names {
		v, ok := e.members[n]
		if !ok || string(v) == "null" {
			continue
		}
		if value != nil && !bytes.Equal(value, v) {
			e.fail("%s and %s say different things", name, n)
			continue
		}
		name, value = n, v
	}
	return name, value
}

// has reports whether a member is there and not null.
func (e *envelope) has(names ...string) bool {
	_, v := e.find(names)
	return v != nil
}

// text is a text member, "" if it is absent.
func (e *envelope) text(names ...string) string {
	name, v := e.find(names)
	if v == nil {
		return ""
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		e.fail("%s must be a text", name)
	}
	return s
}

// event is the name of the event, "" if it cannot be told. A name that is said in
// two ways is none: a call that is about to be made must not pass for one that was.
func (e *envelope) event(names ...string) string {
	before := e.err
	name := e.text(names...)
	if e.err != before {
		return ""
	}
	return name
}

// need is a text member that must not be empty.
func (e *envelope) need(names ...string) string {
	s := e.text(names...)
	if s == "" {
		e.fail("no %s", names[0])
	}
	return s
}

// texts is a list of texts, nil if it is absent.
func (e *envelope) texts(names ...string) []string {
	name, v := e.find(names)
	if v == nil {
		return nil
	}
	var s []string
	if err := json.Unmarshal(v, &s); err != nil {
		e.fail("%s must be a list of texts", name)
	}
	return s
}

// args are a tool's arguments: an object, {} if they are absent.
func (e *envelope) args(names ...string) json.RawMessage {
	name, v := e.find(names)
	switch {
	case v == nil:
		return json.RawMessage("{}")
	case v[0] != '{':
		e.fail("%s must be an object", name)
	}
	return v
}

// written are arguments that the agent may send as a text of JSON. The text is
// decoded once and read as strictly as the rest; a text in a text is an error.
func (e *envelope) written(names ...string) json.RawMessage {
	name, v := e.find(names)
	if v == nil || v[0] != '"' {
		return e.args(names...)
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		e.fail("%s must be an object", name)
		return json.RawMessage("{}")
	}
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}")
	}
	inner := json.RawMessage(strings.TrimSpace(s))
	if err := toolcall.Strict(inner); err != nil {
		e.fail("%s: %v", name, err)
	} else if inner[0] != '{' {
		e.fail("%s must be an object, or an object written as a text once", name)
	}
	return inner
}

// mcpTool is the name of a server's tool in a spelling that internal/toolcall
// takes apart again into exactly these two.
func mcpTool(server, tool string) (string, error) {
	switch {
	case server == "" || tool == "":
	case !strings.Contains(server, "__") && !strings.HasSuffix(server, "_"):
		return "mcp__" + server + "__" + tool, nil
	case !strings.Contains(server, "/"):
		return "mcp/" + server + "/" + tool, nil
	}
	return "", fmt.Errorf("the name of MCP server %q and its tool %q cannot be read: rename the server", server, tool)
}
