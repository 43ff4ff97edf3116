package model

import "encoding/json"

// Input is the document that the policy reads. The built-in chain reads Facts
// only; managed bundles read the targets too.
type Input struct {
	// Tool is the canonical tool name, Called the name that the agent used.
	Tool   string `json:"tool"`
	Called string `json:"called,omitempty"`
	// Class is the permission-file class ("Bash", "Read", …), "" if it has none.
	Class     string          `json:"class,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	ReadOnly  bool            `json:"read_only"`
	Mode      Mode            `json:"mode"`
	Isolation Isolation       `json:"isolation"`
	// Unattended says that nobody can answer a question.
	Unattended bool   `json:"unattended"`
	Agent      string `json:"agent,omitempty"`
	CallID     string `json:"call_id,omitempty"`
	Root       string `json:"root"`
	Cwd        string `json:"cwd,omitempty"`
	Home       string `json:"home,omitempty"`
	// Error is the input error, if the call could not be read: it names the field.
	Error   string   `json:"error,omitempty"`
	Targets []Target `json:"targets"`
	Facts   Facts    `json:"facts"`
}
