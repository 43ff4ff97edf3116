package model

// Grade says how far a command could be understood.
type Grade string

// A static command is fully listed by its parts; a dynamic one may run
// something that is not listed; an unparseable one could not be read at all.
const (
	GradeStatic      Grade = "static"
	GradeDynamic     Grade = "dynamic"
	GradeUnparseable Grade = "unparseable"
)

// Command is a shell command after analysis by internal/shell. Allow rules may
// use Parts (Text and Canonical) of a command that is not Opaque; everything
// else here serves deny and ask rules only.
type Command struct {
	// Source is the text as the call gave it.
	Source string `json:"command"`
	// Dialect is the shell grammar that was used ("bash", "zsh", "sh", or
	// "bash+zsh" when both had to agree).
	Dialect string `json:"dialect,omitempty"`
	// Opaque says that the text may run something that Parts and Inner do not
	// list; then no allow rule with a pattern covers it.
	Opaque bool `json:"opaque"`
	// Grade is static unless Opaque.
	Grade Grade `json:"grade"`
	// Reasons are the reason codes of Opaque in order of discovery, each once.
	Reasons []string `json:"reasons,omitempty"`
	// Parts are the simple commands that could run, in source order.
	Parts []Part `json:"parts"`
	// Naive is the naive split of an opaque text: more candidates for deny rules.
	Naive []string `json:"naive,omitempty"`
	// Lines are the canonical spellings of each pipeline and of the whole command,
	// also with parts replaced by what they run: candidates for deny and ask rules
	// such as `curl * | sh`.
	Lines []string `json:"lines,omitempty"`
	// Writes and Reads are the redirection targets in source order: the value
	// where it is static, the source text where it is not. Nothing is left out
	// but descriptor copies.
	Writes []string `json:"writes"`
	Reads  []string `json:"reads"`
	// Hosts are the literal hosts that the text names, normalised, each once.
	Hosts []string `json:"hosts"`
	// Redirects and Files are Writes, Reads and file operands with what the
	// analysis knows of them, for the path guard to resolve.
	Redirects []Redirect `json:"-"`
	Files     []FileUse  `json:"-"`
}

// Part is one simple command found by syntax: assignments and words, without
// redirections, wrappers kept.
type Part struct {
	// Text is the part as written, blanks outside quotes folded.
	Text string `json:"text"`
	// Canonical has quotes removed and put back in one fixed way; it keeps word
	// boundaries, so allow rules may match it.
	Canonical string `json:"canonical"`
	// Flat is the words' values joined by blanks; for deny and ask only.
	Flat string `json:"flat"`
	// Program is the first word's value ("" if it is not static, or if the part
	// is an assignment), Args the rest, values where static, else source text.
	Program string   `json:"program"`
	Args    []string `json:"args"`
	// Assignments are the names assigned before the command, or by the part.
	Assignments []string `json:"assignments,omitempty"`
	// Neutral marks a part that needs no allow rule: a plain assignment of a
	// static value to a harmless name.
	Neutral bool `json:"neutral,omitempty"`
	// Inner are the commands that the part really runs, seen through wrappers,
	// runners, shells, interpreters and options, to a fixed point, and with the
	// base name of their program; for deny and ask only.
	Inner []Simple `json:"inner"`
}

// Simple is a command seen only through something else.
type Simple struct {
	Text      string   `json:"text"`
	Canonical string   `json:"canonical"`
	Flat      string   `json:"flat"`
	Program   string   `json:"program"`
	Args      []string `json:"args"`
	// Via names what it was seen through ("sudo", "xargs", "sh -c", "basename").
	Via string `json:"via,omitempty"`
}

// Redirect is one redirection of a command.
type Redirect struct {
	// Value is the target's value if Static, else its source text.
	Value  string
	Static bool
	Access Access
	// Dir is the folder that a relative Value starts at, as far as `cd` in the
	// same text tells, relative to the command's own folder ("" = that folder).
	// DirKnown is false after a `cd` to somewhere that the text does not say; Dir is
	// then how the text goes on from there.
	Dir      string
	DirKnown bool
	// Part is the index of the part that it belongs to, or -1.
	Part int
}

// FileUse is a literal file operand of a well-known program: a mention.
type FileUse struct {
	// Value is the operand's value; "~", $HOME and $PWD are not yet expanded but
	// kept as a leading "~", "$HOME" or "$PWD". A * that is no Glob stands for
	// another expansion.
	Value    string
	Access   Access
	Dir      string
	DirKnown bool
	Part     int
	Program  string
	// Script says that the file is run: where it lies is no matter of file rules,
	// so that one outside the root takes no rule away.
	Script bool
	// Glob says that the value holds an active glob, so that the files are those
	// that it finds.
	Glob bool
}
