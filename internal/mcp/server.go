package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// callSchema is what check and explain take; lictor.ParseCall reads it.
const callSchema = `{
	"type": "object",
	"properties": {
		"tool": {"type": "string", "description": "the tool's name as the agent says it, such as bash or mcp__server__tool"},
		"args": {"type": "object", "description": "the tool's arguments"},
		"cwd": {"type": "string", "description": "the absolute folder that relative paths start at; the project's root if absent"},
		"call_id": {"type": "string", "description": "the agent's id of the call"}
	},
	"required": ["tool"],
	"additionalProperties": false
}`

// promptSchema is what agents send to a permission prompt tool. They may send
// more, which is not looked at.
const promptSchema = `{
	"type": "object",
	"properties": {
		"tool_name": {"type": "string", "description": "the tool that the agent wants to use"},
		"input": {"type": "object", "description": "its arguments"},
		"tool_use_id": {"type": "string"}
	},
	"required": ["tool_name", "input"]
}`

// NewServer returns an MCP server with three tools over an engine: check decides
// a call without asking anybody, explain says how that decision comes about,
// approve_prompt decides and asks the engine's approver, in the answer that
// permission prompt tools give. version is lictor's.
//
// A failure is never an allow: check then returns a verdict that denies,
// approve_prompt the behaviour "deny".
func NewServer(engine *lictor.Engine, version string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "lictor", Title: "lictor", Version: version}, nil)
	asks := &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	s.AddTool(&sdk.Tool{
		Name: "check", Annotations: asks, InputSchema: json.RawMessage(callSchema),
		Description: "Say whether a tool call would be allowed, denied or asked about, and why. Nothing is run and nobody is asked.",
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		call, err := parseCall(r.Params.Arguments)
		if err != nil {
			return structured(lictor.InputVerdict(err)), nil
		}
		v, _ := engine.Check(ctx, call) // beside an error the verdict denies
		return structured(v), nil
	})
	s.AddTool(&sdk.Tool{
		Name: "explain", Annotations: asks, InputSchema: json.RawMessage(callSchema),
		Description: "Say how the decision about a tool call comes about: the steps, the facts, and what would allow it.",
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		call, err := parseCall(r.Params.Arguments)
		if err != nil {
			return structured(lictor.Explanation{Verdict: lictor.InputVerdict(err)}), nil
		}
		e, _ := engine.Explain(ctx, call)
		return structured(e), nil
	})
	s.AddTool(&sdk.Tool{
		Name: "approve_prompt", InputSchema: json.RawMessage(promptSchema),
		Description: "Permission prompt tool: decide a tool call, asking the user where the policy says so.",
	}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(approve(ctx, engine, r.Params.Arguments)), nil
	})
	return s
}

// Serve runs NewServer's server on standard input and output until the client
// goes away or ctx ends.
func Serve(ctx context.Context, engine *lictor.Engine, version string) error {
	err := NewServer(engine, version).Run(ctx, &sdk.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func parseCall(args json.RawMessage) (lictor.Call, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	call, err := lictor.ParseCall(args)
	if call.Agent == "" {
		call.Agent = "mcp"
	}
	return call, err
}

// prompt is the answer of a permission prompt tool.
type prompt struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// approve decides the call of a permission prompt.
func approve(ctx context.Context, engine *lictor.Engine, args json.RawMessage) prompt {
	call, err := parsePrompt(args)
	if err != nil {
		return prompt{Behavior: "deny", Message: "lictor: " + err.Error()}
	}
	d, err := engine.Decide(ctx, call)
	switch {
	case err != nil && d.Reason != "":
		return prompt{Behavior: "deny", Message: "lictor: " + d.Reason}
	case err != nil:
		return prompt{Behavior: "deny", Message: "lictor: " + err.Error()}
	case !d.Allowed:
		return prompt{Behavior: "deny", Message: "lictor: " + d.Reason}
	}
	// The very bytes that were decided, so that nothing else runs.
	return prompt{Behavior: "allow", Input: call.Args}
}

func parsePrompt(args json.RawMessage) (lictor.Call, error) {
	if err := toolcall.Strict(args); err != nil {
		return lictor.Call{}, fmt.Errorf("the question cannot be read: %w", err)
	}
	in, err := members(args, "tool_name", "input", "tool_use_id")
	if err != nil {
		return lictor.Call{}, fmt.Errorf("the question cannot be read: %w", err)
	}
	call := lictor.Call{Agent: "mcp", Args: in["input"]}
	if err := json.Unmarshal(orNull(in["tool_name"]), &call.Tool); err != nil || call.Tool == "" {
		return call, errors.New("the question cannot be read: tool_name must name the tool")
	}
	if err := json.Unmarshal(orNull(in["tool_use_id"]), &call.CallID); err != nil {
		return call, errors.New("the question cannot be read: tool_use_id must be a text")
	}
	if len(call.Args) == 0 || call.Args[0] != '{' {
		return call, errors.New("the question cannot be read: input must be an object")
	}
	return call, nil
}

// structured is a result as data and, for clients that do not read data, as text.
func structured(v any) *sdk.CallToolResult {
	r := text(v)
	r.StructuredContent = v
	return r
}

func text(v any) *sdk.CallToolResult {
	out, err := json.Marshal(v)
	if err != nil {
		r := &sdk.CallToolResult{}
		r.SetError(fmt.Errorf("lictor: the answer cannot be encoded: %w", err))
		return r
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(out)}}}
}
