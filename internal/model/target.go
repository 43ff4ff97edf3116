package model

import "encoding/json"

// Kind says what a target is.
type Kind string

// The four kinds of target.
const (
	KindPath    Kind = "path"
	KindCommand Kind = "command"
	KindURL     Kind = "url"
	KindInput   Kind = "input"
)

// Access says what a call does with a path.
type Access string

// The accesses of a path target.
const (
	AccessRead   Access = "read"
	AccessWrite  Access = "write"
	AccessDelete Access = "delete"
	AccessList   Access = "list"
)

// Changes reports whether the access can change what the path names.
func (a Access) Changes() bool { return a == AccessWrite || a == AccessDelete }

// Role says how a target belongs to its call where a call has several.
type Role string

// Roles. A source is the read side of a copy or move, a searched path is where
// a grep, glob or list tool looks; both are matched by the deny and ask rules
// of every class with their access, as redirections and mentions are.
const (
	RoleMain     Role = ""
	RoleSource   Role = "source"
	RoleSearched Role = "searched"
)

// Target is one thing that a call touches. Exactly the fields of its Kind are
// set; the rest is empty and absent from the JSON.
type Target struct {
	Kind Kind `json:"kind"`
	// Role is set for the targets of copies and searches.
	Role Role `json:"role,omitempty"`
	// Descriptor is the string that permission-file rules of string classes match
	// (Git "commit -m x", Github "create_pr", MCP "github/create_issue", the URL
	// of Fetch, the pattern of Glob and Grep). Descriptors of path and command
	// classes are their paths and parts.
	Descriptor string `json:"descriptor,omitempty"`

	// Path targets.
	Access Access `json:"access,omitempty"`
	Path

	// Command targets.
	*Command
	// OutsideSandbox is the call's own wish to run outside the OS sandbox.
	OutsideSandbox bool `json:"outside_sandbox,omitempty"`
	// Redirections are the command's static redirection targets as paths, and
	// Mentions the literal file operands of well-known programs.
	Redirections []PathRef `json:"redirections,omitempty"`
	Mentions     []PathRef `json:"mentions,omitempty"`

	// URL targets.
	URL string `json:"url,omitempty"`
	Host
	AlwaysAsk bool `json:"always_ask,omitempty"`

	// Input targets: the arguments as they came.
	JSON json.RawMessage `json:"json,omitempty"`
}

// Path is a path with everything that the disk says about it. The zero value
// means "no path". Filled by internal/pathguard alone.
type Path struct {
	// Text is the path as the call wrote it.
	Text string `json:"path_text,omitempty"`
	// Rel is the clean path relative to the root with '/' ("." for the root
	// itself), or the clean absolute path when it lies outside as written.
	Rel string `json:"path,omitempty"`
	// Abs is the clean absolute path as written (links not followed).
	Abs string `json:"absolute,omitempty"`
	// Real is the absolute path with every link of the deepest existing ancestor
	// followed; missing tail segments are appended as they are.
	Real string `json:"real,omitempty"`
	// RealRel is Real relative to the real root, or Real itself when outside.
	RealRel string `json:"real_path,omitempty"`
	// Inside says that the path as written lies in the root, RealInside that the
	// real path does. Both must hold for a path to be inside.
	Inside     bool `json:"inside,omitempty"`
	RealInside bool `json:"real_inside,omitempty"`
	// Moved says that a link led somewhere else than the path says.
	Moved bool `json:"moved,omitempty"`
	// Place is where the entry itself lies if its last segment is a link that
	// was reached through another link: links of its folders followed, its own
	// not; relative to the real root, or absolute. Empty if Rel or RealRel says
	// the same. What deletes or replaces the entry changes this place, so a
	// protected place counts as well as a protected Rel and RealRel. It is for
	// Go's facts only and no part of the policy input.
	Place string `json:"-"`
}

// PathRef is a path that a command touches besides its own target: a
// redirection or a mention.
type PathRef struct {
	Access Access `json:"access"`
	Path
	// Part is the index of the part in Command.Parts, or -1.
	Part int `json:"part"`
	// Program is the program whose operand a mention is.
	Program string `json:"program,omitempty"`
	// Dynamic marks a redirection whose target is not static: Text holds the
	// source, and only a catch-all write rule covers it.
	Dynamic bool `json:"dynamic,omitempty"`
	// Guess marks a mention in a folder that the text does not say: it can be
	// denied, but that it would lie outside the root means nothing.
	Guess bool `json:"guess,omitempty"`
}

// Host is a network host in its one normal form. Filled by internal/netguard.
type Host struct {
	// Host is lower-case ASCII (IDNA), without brackets and trailing dot.
	Host string `json:"host,omitempty"`
	// Port is the port of the URL or its scheme's default; 0 if there is none.
	Port int `json:"port,omitempty"`
	// IP is the canonical address if the host is an IP literal in any notation
	// (dotted, decimal, octal, hex, IPv6).
	IP string `json:"ip,omitempty"`
	// Public says that IP is a public unicast address.
	Public bool `json:"public,omitempty"`
}
