package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// opaEvent is an event of OPA's decision log API.
type opaEvent struct {
	Labels     map[string]string `json:"labels"`
	DecisionID string            `json:"decision_id"`
	Revision   string            `json:"revision,omitempty"`
	Path       string            `json:"path"`
	Input      opaInput          `json:"input"`
	Result     opaResult         `json:"result"`
	Erased     []string          `json:"erased,omitempty"`
	RequestBy  string            `json:"requested_by,omitempty"`
	Timestamp  string            `json:"timestamp"`
}

type opaInput struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args,omitempty"`
	TargetKind string          `json:"target_kind,omitempty"`
	Target     string          `json:"target,omitempty"`
	Cwd        string          `json:"cwd,omitempty"`
	Mode       string          `json:"mode,omitempty"`
	Isolation  string          `json:"isolation,omitempty"`
	CallID     string          `json:"call_id,omitempty"`
	Outside    bool            `json:"outside_sandbox,omitempty"`
}

type opaResult struct {
	Decision string `json:"decision"`
	Class    string `json:"class"`
	Risk     string `json:"risk"`
	By       string `json:"by,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Step     string `json:"step,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Rule     any    `json:"rule,omitempty"`
	Observed bool   `json:"observed,omitempty"`
}

// ExportOPA renders one decision as an event of OPA's decision log API, without
// a newline. ok is false for events that are no decisions. id is the log's
// name; the decision id is the line's hash, so that an event leads back to its
// line.
func ExportOPA(id string, e *Event) (line []byte, ok bool, err error) {
	switch e.Type {
	case TypeVerdict, TypeHook, TypeNetwork:
	default:
		return nil, false, nil
	}
	o := opaEvent{
		Labels:     map[string]string{"id": id, "app": "lictor", "segment": e.Segment, "seq": fmt.Sprint(e.Seq)},
		DecisionID: e.Hash, Revision: e.Revision, Path: "lictor/verdict", RequestBy: e.Agent,
		Timestamp: e.Time.UTC().Format(time.RFC3339Nano),
		Input: opaInput{
			Tool: e.Tool, Args: e.Args, TargetKind: string(e.TargetKind), Target: e.Target, Cwd: e.Cwd,
			Mode: string(e.Mode), Isolation: string(e.Isolation), CallID: e.CallID, Outside: e.OutsideSandbox,
		},
		Result: opaResult{
			Decision: decisionWord(e.Class), Class: string(e.Class), Risk: string(e.Risk), By: e.By, Kind: e.Kind,
			Step: e.Step, Reason: e.Reason, Answer: e.Answer, Observed: e.Observed,
		},
	}
	if e.Rule != nil {
		o.Result.Rule = e.Rule
	}
	seen := map[string]bool{}
	for _, r := range e.Redactions {
		path := "/input/" + r.Field
		switch r.Field {
		case "reason", "rule":
			path = "/result/" + r.Field
		}
		if !seen[path] {
			seen[path] = true
			o.Erased = append(o.Erased, path)
		}
	}
	line, err = json.Marshal(o)
	return line, err == nil, err
}

// decisionWord is allow, deny or ask.
func decisionWord(c Class) string {
	switch {
	case c.Allowed(), c == ClassHook:
		return "allow"
	case c.Denied():
		return "deny"
	}
	return strings.TrimSpace(string(c))
}

// ExportFormat is a format of Export.
type ExportFormat string

// The formats: the log's own lines, and OPA's decision log events, one per line.
const (
	FormatJSONL ExportFormat = "jsonl"
	FormatOPA   ExportFormat = "opa"
)

// Export writes the events that a filter keeps to w, one JSON object per line,
// and returns how many. Damaged lines go to damaged (nil drops them) and do not
// end it. The error is about the format, the folder, w or ctx.
func Export(ctx context.Context, w io.Writer, dir string, f Filter, format ExportFormat, damaged func(error)) (int, error) {
	if format != FormatJSONL && format != FormatOPA {
		return 0, fmt.Errorf("audit: the export format %q is unknown; use jsonl or opa", format)
	}
	n := 0
	for e, err := range Show(ctx, dir, f) {
		if err != nil {
			if _, isLine := err.(*LineError); !isLine {
				return n, err
			}
			if damaged != nil {
				damaged(err)
			}
			continue
		}
		line, ok, err := exportLine(logName(dir), e, format)
		if err != nil {
			return n, err
		}
		if !ok {
			continue
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func exportLine(id string, e *Event, format ExportFormat) ([]byte, bool, error) {
	if format == FormatOPA {
		return ExportOPA(id, e)
	}
	line, err := json.Marshal(e)
	return line, err == nil, err
}
