package config

import (
	"encoding/json"

	"github.com/lictor-policy/lictor/internal/model"
)

// Settings are the project's settings (SPEC section 7) after defaults. Keys that
// only a host of lictor uses are validated and passed through; those that were
// not set are nil. "$comment" and "$schema" keys are accepted in the file and are
// not kept.
type Settings struct {
	// Executor says how commands run: auto, os, host or landlock.
	Executor string `json:"executor,omitempty"`
	// Profile is default or strict; a project can turn strict on, never off.
	Profile string `json:"profile,omitempty"`
	// Sandbox widens or narrows what confined commands reach.
	Sandbox SandboxSettings `json:"sandbox"`
	// Permissions are rules in the settings dialect.
	Permissions Permissions `json:"permissions"`
	// AskFirst lets an ask rule outrank allow and session rules.
	AskFirst bool `json:"askFirst,omitempty"`
	// Paths says what happens to paths outside the root.
	Paths PathSettings `json:"paths"`
	// Env names more environment variables for commands.
	Env EnvSettings `json:"env"`
	// Network is nil if no host may be reached: missing, or an empty list.
	Network *NetworkSettings `json:"network,omitempty"`
	// Web is about the host's web tools.
	Web WebSettings `json:"web"`
	// Limits are the limits of a session.
	Limits LimitSettings `json:"limits"`
	// Subagents and MoE are about the host's helpers and its mixture of models.
	Subagents HelperSettings `json:"subagents"`
	MoE       HelperSettings `json:"moe"`
	// CodeIndex is "off", "lookup" or "all" ("" if not set).
	CodeIndex CodeIndex `json:"codeIndex,omitempty"`
	// Daemons, Todo, LSP, Undo, Skills and Agents switch parts of the host.
	Daemons Toggle `json:"daemons"`
	Todo    Toggle `json:"todo"`
	LSP     Toggle `json:"lsp"`
	Undo    Toggle `json:"undo"`
	Skills  Toggle `json:"skills"`
	Agents  Toggle `json:"agents"`
	// Notifications say how the host calls the user.
	Notifications NotificationSettings `json:"notifications"`
	// Formatters run after file changes.
	Formatters FormatterSettings `json:"formatters"`
	// Thinking and Model are about the host's model.
	Thinking ThinkingSettings `json:"thinking"`
	Model    ModelSettings    `json:"model"`
	// Tools add to the tool table: a JSON object in the format of tools.json, or
	// nil. Whether an entry makes sense is the table's to say (Table.With).
	Tools json.RawMessage `json:"tools,omitempty"`
	// Shell is the agent's shell if it does not say ("" is unknown).
	Shell model.Shell `json:"shell,omitempty"`
}

// SandboxSettings are what confined commands reach beyond the defaults. Paths
// are as written; Places.Expand makes them absolute.
type SandboxSettings struct {
	WritePaths []string `json:"writePaths,omitempty"`
	DenyRead   []string `json:"denyRead,omitempty"`
	PrivateTmp bool     `json:"privateTmp,omitempty"`
}

// Permissions are the texts of rules by effect.
type Permissions struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// PathSettings hold OutsideRoot: "deny" (the default) or "ask".
type PathSettings struct {
	OutsideRoot string `json:"outsideRoot,omitempty"`
}

// EnvSettings hold the exact names of more environment variables.
type EnvSettings struct {
	Allow []string `json:"allow,omitempty"`
}

// NetworkSettings hold presets and host patterns, lower-case, never empty.
type NetworkSettings struct {
	Allow []string `json:"allow,omitempty"`
}

// WebSettings are about the host's web tools. AllowLocalhost lets them reach
// this machine.
type WebSettings struct {
	Enabled        *bool `json:"enabled,omitempty"`
	AllowLocalhost bool  `json:"allowLocalhost,omitempty"`
}

// LimitSettings are a session's limits; 0 is no limit.
type LimitSettings struct {
	MaxSteps    int `json:"maxSteps,omitempty"`
	TokenBudget int `json:"tokenBudget,omitempty"`
}

// HelperSettings are the limits of helpers, defaults filled in.
type HelperSettings struct {
	Enabled     *bool `json:"enabled,omitempty"`
	MaxSteps    int   `json:"maxSteps,omitempty"`
	TokenBudget int   `json:"tokenBudget,omitempty"`
}

// Toggle is a switch of the host; nil is not set.
type Toggle struct {
	Enabled *bool `json:"enabled,omitempty"`
}

// CodeIndex is "off", "lookup", "all" or "" (not set).
type CodeIndex string

// UnmarshalJSON also accepts true ("all") and false ("off").
func (c *CodeIndex) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*c = "all"
		return nil
	case "false":
		*c = "off"
		return nil
	}
	return json.Unmarshal(text, (*string)(c))
}

// NotificationSettings say how (auto, osc9, bell, off) and after how many
// seconds the host calls the user.
type NotificationSettings struct {
	Channel      string `json:"channel,omitempty"`
	AfterSeconds *int   `json:"afterSeconds,omitempty"`
}

// FormatterSettings name formatters. Commands is keyed by the formatter's name.
type FormatterSettings struct {
	Enabled  *bool                `json:"enabled,omitempty"`
	Commands map[string]Formatter `json:"commands,omitempty"`
}

// Formatter is one formatter: off (the file said false), or a command for files
// with the extensions.
type Formatter struct {
	Off        bool     `json:"-"`
	Extensions []string `json:"extensions,omitempty"`
	// Command is the command as written: a string for the shell, or a list of words.
	Command json.RawMessage `json:"command,omitempty"`
}

// UnmarshalJSON reads false or an object.
func (f *Formatter) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		*f = Formatter{Off: true}
		return nil
	}
	type plain Formatter
	return json.Unmarshal(text, (*plain)(f))
}

// MarshalJSON writes what UnmarshalJSON reads.
func (f Formatter) MarshalJSON() ([]byte, error) {
	if f.Off {
		return []byte("false"), nil
	}
	type plain Formatter
	return json.Marshal(plain(f))
}

// ThinkingSettings are about the host's model; nil is not set.
type ThinkingSettings struct {
	KeepBlocks *bool  `json:"keepBlocks,omitempty"`
	Enabled    *bool  `json:"enabled,omitempty"`
	Effort     string `json:"effort,omitempty"`
	Show       *bool  `json:"show,omitempty"`
}

// ModelSettings are the host's model's window in tokens and its prices.
type ModelSettings struct {
	ContextWindow int         `json:"contextWindow,omitempty"`
	Price         *ModelPrice `json:"price,omitempty"`
}

// ModelPrice is the price of a million tokens of each kind.
type ModelPrice struct {
	Input      *float64 `json:"input,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	CacheRead  *float64 `json:"cacheRead,omitempty"`
	CacheWrite *float64 `json:"cacheWrite,omitempty"`
}
