package config

import "encoding/json"

// Policy is the merged team policy, profile applied. Nil means that nobody sets
// one.
type Policy struct {
	// Document is the merged policy as JSON; allowedModels is a list of lists there.
	Document json.RawMessage
	// Profile is default or strict, "" if no layer says.
	Profile string
	// DisallowedCommands, DenyPaths and BlockedHosts are the unions, each entry
	// with the layer that it comes from.
	DisallowedCommands, DenyPaths, BlockedHosts []PolicyEntry
	// RequireSandbox, StrictAllowlist and AskFirst hold if any layer says so.
	RequireSandbox, StrictAllowlist, AskFirst bool
	// AuditEnabled and AuditCheckpoint hold if any layer says so; AuditLevel is the
	// strictest, "" if no layer says.
	AuditEnabled, AuditCheckpoint bool
	AuditLevel                    string
	// Observe says that what would be denied or asked about is only recorded.
	Observe bool
	// AllowedModels are the layers' lists that are not empty: a model must match
	// every one.
	AllowedModels []ModelList
	// Limits are the smallest caps.
	Limits Limits
	// OutsideRoot is deny or ask, "" if no layer says.
	OutsideRoot string
	// Sources says which layer set a key ("profile", "requireSandbox",
	// "network.strictAllowlist", "limits.maxSteps" …) to the value that counts.
	Sources map[string]string

	origins []origin
}

// PolicyEntry is one entry of a list and the layer that it comes from.
type PolicyEntry struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// ModelList is one layer's list of model patterns.
type ModelList struct {
	Patterns []string `json:"patterns"`
	Source   string   `json:"source"`
}

// Texts returns the texts of entries.
func Texts(entries []PolicyEntry) []string {
	out := make([]string, len(entries))
	for i, entry := range entries {
		out[i] = entry.Text
	}
	return out
}
