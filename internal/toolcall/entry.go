package toolcall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// entry is one line of tools.json: a tool by name.
type entry struct {
	// Is makes the name another name of a tool: class, kind, arguments and all
	// else are that tool's, unless the entry says otherwise below.
	Is string `json:"is,omitempty"`
	// Of says whose tool it is, for people who read the table.
	Of string `json:"of,omitempty"`
	// Class is the class of permission files, or empty.
	Class string `json:"class,omitempty"`
	// Kind is the kind of the tool's main targets.
	Kind model.Kind `json:"kind,omitempty"`
	// ReadOnly says that the tool changes nothing.
	ReadOnly *bool `json:"read_only,omitempty"`
	// Args are the arguments that targets are taken from, in the order in which
	// the targets are listed. Other arguments are tolerated.
	Args []argEntry `json:"args,omitempty"`
	// Descriptor is the text that rules of string classes match: words and
	// {argument} places, where {a|b} takes whichever is there and {a?} may be
	// absent. Verb makes it `verb k=v …` of all arguments instead.
	Descriptor string `json:"descriptor,omitempty"`
	Verb       string `json:"verb,omitempty"`
	// Hint names a text that is no bash or zsh: "powershell", "stdin", "partial".
	Hint string `json:"hint,omitempty"`
	// Argv says that the agent may give the command as a list of a program and its
	// arguments; elsewhere a list is a wrong type.
	Argv bool `json:"argv,omitempty"`
}

// argEntry says what one argument holds.
type argEntry struct {
	// From are the accepted spellings of the argument's name; "a.b" is member b of
	// object a.
	From []string `json:"from"`
	// Take says how the value is read: see takes.
	Take take `json:"take"`
	// Access and Role are those of path targets.
	Access model.Access `json:"access,omitempty"`
	Role   model.Role   `json:"role,omitempty"`
	// Default is the path of an absent argument.
	Default string `json:"default,omitempty"`
	// Optional says that the target may be absent.
	Optional bool `json:"optional,omitempty"`
	// When are the texts that mean yes where a wish to leave the sandbox is no
	// boolean.
	When []string `json:"when,omitempty"`
}

// take is a way to read an argument.
type take string

// The ways to read an argument.
const (
	takePath    take = "path"            // a path
	takePaths   take = "paths"           // a list of paths, or one
	takeGlobs   take = "globs"           // like paths, but a glob selects files
	takePattern take = "pattern"         // globs below the searched path, which they may leave
	takeEdits   take = "edits"           // an object or list that names files anywhere inside
	takeDiff    take = "diff"            // a unified diff
	takePatch   take = "patch"           // a patch in the `*** Begin Patch` format
	takeCommand take = "command"         // a shell command (with argv: or a program with its arguments)
	takeGit     take = "git"             // git's arguments: a list, or shell words
	takeURL     take = "url"             // a URL
	takeURLs    take = "urls"            // a list of URLs, or one
	takeHost    take = "host"            // a host
	takePrompt  take = "prompt"          // a text; the URLs in it are fetched
	takeWorkdir take = "workdir"         // the folder that the call starts in
	takeShell   take = "shell"           // the shell that runs the command
	takeOutside take = "outside_sandbox" // the wish to leave the sandbox
)

// takes says which kind of target each way gives ("" for none).
var takes = map[take]model.Kind{
	takePath: model.KindPath, takePaths: model.KindPath, takeGlobs: model.KindPath, takePattern: model.KindPath,
	takeEdits: model.KindPath, takeDiff: model.KindPath, takePatch: model.KindPath,
	takeCommand: model.KindCommand, takeGit: model.KindInput,
	takeURL: model.KindURL, takeURLs: model.KindURL, takeHost: model.KindURL, takePrompt: model.KindURL,
	takeWorkdir: "", takeShell: "", takeOutside: "",
}

var hints = []string{"", HintPowerShell, HintStdin, HintPartial}

// tool is an entry that has been checked, ready for Decode.
type tool struct {
	name, canonical string
	class           string
	kind            model.Kind
	readOnly        bool
	args            []argEntry
	descriptor      []piece
	verb, hint      string
	argv            bool
	// known are the names of all arguments that mean something.
	known []string
}

// compile checks an entry; base is the tool that it is another name of, or nil.
// added says that the entry comes from settings or a bundle, not from lictor.
func compile(name string, e *entry, base *tool, added bool) (*tool, error) {
	t := &tool{name: name, canonical: name}
	if base != nil {
		*t = *base
		t.name, t.known = name, nil
		if e.Class != "" || e.Kind != "" {
			return nil, fmt.Errorf("another name of %q has its class and kind: remove \"class\" and \"kind\"", e.Is)
		}
	} else {
		t.class, t.kind = e.Class, e.Kind
	}
	if e.Args != nil {
		t.args = e.Args
	}
	if e.Verb != "" {
		t.verb = e.Verb
	}
	if e.Hint != "" {
		t.hint = e.Hint
	}
	t.argv = t.argv || e.Argv
	if e.Descriptor != "" {
		pieces, err := parseDescriptor(e.Descriptor)
		if err != nil {
			return nil, err
		}
		t.descriptor = pieces
	}
	if e.ReadOnly != nil {
		t.readOnly = *e.ReadOnly
	} else if added && base != nil && t.touches() {
		t.readOnly = false
	}
	if err := t.check(added); err != nil {
		return nil, err
	}
	for i := range t.args {
		for _, from := range t.args[i].From {
			top, _, _ := strings.Cut(from, ".")
			t.known = append(t.known, top)
		}
	}
	for i := range t.descriptor {
		t.known = append(t.known, t.descriptor[i].args...)
	}
	return t, nil
}

// touches reports whether the tool has path or command targets.
func (t *tool) touches() bool {
	if t.kind == model.KindPath || t.kind == model.KindCommand {
		return true
	}
	return slices.ContainsFunc(t.args, func(a argEntry) bool {
		return takes[a.Take] == model.KindPath || takes[a.Take] == model.KindCommand
	})
}

// check reports the first thing that is wrong with a tool.
func (t *tool) check(added bool) error {
	switch t.kind {
	case model.KindPath, model.KindCommand, model.KindURL, model.KindInput:
	default:
		return fmt.Errorf("\"kind\" is %q: use path, command, url or input", t.kind)
	}
	if t.class != "" && !isClass(t.class) {
		return fmt.Errorf("\"class\" is %q, which is no class of permission files", t.class)
	}
	if t.class == classMCP {
		return fmt.Errorf("class MCP belongs to tools of MCP servers, which need no entry")
	}
	if !slices.Contains(hints, t.hint) {
		return fmt.Errorf("\"hint\" is %q: use powershell, stdin or partial", t.hint)
	}
	given := false
	for i := range t.args {
		if err := t.checkArg(&t.args[i]); err != nil {
			return fmt.Errorf("\"args\"[%d]: %w", i, err)
		}
		given = given || takes[t.args[i].Take] == t.kind
	}
	if t.kind != model.KindInput && !given {
		return fmt.Errorf("no argument gives the tool a %s target: add one to \"args\"", t.kind)
	}
	if t.readOnly && added && (t.touches() || t.kind == model.KindURL) {
		return fmt.Errorf("a tool with paths, commands or URLs that was added to the table cannot be \"read_only\"")
	}
	return nil
}

func (t *tool) checkArg(a *argEntry) error {
	kind, ok := takes[a.Take]
	switch {
	case !ok:
		return fmt.Errorf("\"take\" is %q, which is no way to read an argument", a.Take)
	case len(a.From) == 0 || slices.ContainsFunc(a.From, func(s string) bool { return !isArgName(s) }):
		return fmt.Errorf("\"from\" must list the argument's names, in ASCII letters, digits, '_', '-' and '.'")
	case kind == model.KindPath && a.Access == "" && a.Take != takeDiff && a.Take != takePatch:
		return fmt.Errorf("a path needs \"access\": read, write, delete or list")
	case kind != model.KindPath && (a.Access != "" || a.Role != "" || a.Default != ""):
		return fmt.Errorf("only paths have \"access\", \"role\" and \"default\"")
	case t.readOnly && (a.Access.Changes() || a.Take == takeDiff || a.Take == takePatch || kind == model.KindCommand):
		return fmt.Errorf("a tool that is \"read_only\" cannot change paths or run commands")
	}
	switch a.Access {
	case "", model.AccessRead, model.AccessWrite, model.AccessDelete, model.AccessList:
	default:
		return fmt.Errorf("\"access\" is %q: use read, write, delete or list", a.Access)
	}
	switch a.Role {
	case model.RoleMain, model.RoleSource, model.RoleSearched:
	default:
		return fmt.Errorf("\"role\" is %q: use source or searched, or leave it out", a.Role)
	}
	return nil
}

// isArgName reports whether a spelling of an argument can be compared without
// letter case byte by byte.
func isArgName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_-.", c) >= 0) {
			return false
		}
	}
	return s != ""
}
