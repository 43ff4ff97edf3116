package toolcall

import (
	"errors"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// The shell hints: why a command's text is not what bash or zsh would run. A
// caller treats such a text as unparseable.
const (
	// HintPowerShell: PowerShell or cmd reads the text.
	HintPowerShell = "powershell"
	// HintStdin: the text goes to whatever program is already running.
	HintStdin = "stdin"
	// HintPartial: the call adds words to the text that the table does not read.
	HintPartial = "partial"
)

// MaxTargets is how many targets one call may have.
const MaxTargets = 4096

// Decoded is a call with its targets, as far as the call alone says them.
type Decoded struct {
	// Tool is the canonical name, Called the name that the agent used.
	Tool, Called string
	// Class is the class of permission files, or empty.
	Class string
	// Kind is the kind of the tool's main targets, also where Targets has none of
	// it because they could not be extracted. A tool of kind path changes paths or
	// reads them even then.
	Kind model.Kind
	// ReadOnly says that the call changes nothing, by the table and the caller's
	// word (SPEC section 1).
	ReadOnly bool
	// Targets are what the call touches, at least one, with raw values only: Text,
	// Access and Role of paths, Source of commands (Command is never nil), URL of
	// urls, JSON (it shares the memory of the call's Args) and Descriptor of the
	// rest. For Copy and Move the source stands directly before its destination.
	Targets []model.Target
	// PairDescriptor is `source -> destination` as written, for Copy and Move.
	PairDescriptor string
	// Unextractable says that the call may touch more than Targets: no rule may
	// allow it, and it is never read-only.
	Unextractable bool
	// ShellHint is "" or one of the hints above, or "bash", "zsh" or "sh" where the
	// call names the shell that runs its command.
	ShellHint string
	// Git are the words of a call of the git tool behind "git", nil for other tools.
	Git []string
	// Workdir is the folder that the call wants to start in, as written, or "".
	// Relative paths and the command itself start there; it is relative to the
	// call's Cwd.
	Workdir string
}

// InputError is a call that cannot be read. It is denied (SPEC section 1).
type InputError struct {
	// Tool is the tool as called, Field the argument that is wrong ("arguments" for
	// all of them).
	Tool, Field string
	// Problem says what is wrong and what is needed.
	Problem string

	cause error
}

// Error is `tool: field: problem`.
func (e *InputError) Error() string {
	return shown(e.Tool) + ": " + e.Field + ": " + e.Problem
}

// Unwrap returns the *JSONError behind the error, or nil.
func (e *InputError) Unwrap() error { return e.cause }

// allArgs is the Field of errors that are about no single argument.
const allArgs = "arguments"

// reader is one call on its way through Decode.
type reader struct {
	called  string
	tool    *tool
	word    *bool // the caller's read-only
	data    []byte
	scan    scanner
	members memberList
	out     *Decoded
	// descriptor is what string rules match.
	descriptor string
}

// Decode reads a call by the table. The error is always an *InputError. A tool
// that the table does not know has one input target, class "" (MCP if its name
// is one of an MCP server), and is read-only only by the caller's word.
func (t *Table) Decode(call model.Call) (*Decoded, error) {
	r := reader{called: call.Tool, tool: t.tools[call.Tool], word: call.ReadOnly, data: call.Args}
	if err := r.open(); err != nil {
		return nil, err
	}
	// The first target's room comes with the result.
	made := &struct {
		Decoded
		first [1]model.Target
	}{}
	r.out = &made.Decoded
	r.out.Called, r.out.Targets = call.Tool, made.first[:0]
	var err error
	if r.tool == nil {
		err = r.unknown(t)
	} else {
		err = r.known()
	}
	if err != nil {
		return nil, err
	}
	if call.ReadOnly != nil && !*call.ReadOnly || r.out.Unextractable {
		r.out.ReadOnly = false
	}
	return r.out, nil
}

// open reads the arguments strictly and finds their members.
func (r *reader) open() error {
	if r.called == "" || len(r.called) > maxName {
		return &InputError{Tool: r.called, Field: "tool", Problem: "must be a name of 1 to 200 bytes"}
	}
	if len(r.data) == 0 {
		r.data = []byte("{}")
	}
	if err := r.scan.document(r.data, &r.members); err != nil {
		field := err.Path
		if field == "" {
			field = allArgs
		}
		return &InputError{Tool: r.called, Field: field, Problem: err.problem(), cause: err}
	}
	r.scan.pos = 0
	if r.scan.space(); !r.scan.at('{') {
		return r.wrong(allArgs, "must be a JSON object")
	}
	return nil
}

// unknown reads a call of a tool that has no entry.
func (r *reader) unknown(t *Table) error {
	r.out.Tool, r.out.Kind = t.Canonical(r.called), model.KindInput
	// A name that differs from a known one by case or blanks only is no tool of
	// its own: the caller's word about it does not count.
	r.out.ReadOnly = r.word != nil && *r.word && !t.resembles(r.called)
	target := model.Target{Kind: model.KindInput, JSON: r.data}
	if m, ok := parseMCP(r.called); ok {
		r.out.Class, target.Descriptor = classMCP, m.descriptor()
	}
	r.out.Targets = append(r.out.Targets, target)
	return nil
}

// known reads a call by its tool's entry.
func (r *reader) known() error {
	tool := r.tool
	r.out.Tool, r.out.Class, r.out.Kind = tool.canonical, tool.class, tool.kind
	r.out.ReadOnly, r.out.ShellHint = tool.readOnly, tool.hint
	if err := r.lookAlikes(); err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	if tool.kind == model.KindInput {
		r.out.Targets = append(r.out.Targets, model.Target{Kind: model.KindInput, JSON: r.data})
	}
	for i := range tool.args {
		if err := r.arg(&tool.args[i]); err != nil {
			return err
		}
		if len(r.out.Targets) > MaxTargets {
			return r.wrong(tool.args[i].From[0], "names more than 4096 targets: split the call")
		}
	}
	return r.complete()
}

// complete looks at the call as a whole once its arguments are read.
func (r *reader) complete() error {
	out := r.out
	if r.tool.kind == model.KindURL && !r.has(model.KindURL) {
		return r.wrong(r.tool.args[0].From[0], "is missing: a URL is needed")
	}
	if len(out.Targets) == 0 {
		// Nothing that the call touches could be read out of it.
		out.Unextractable = out.Unextractable || r.tool.kind == model.KindPath
		out.Targets = append(out.Targets, model.Target{Kind: model.KindInput, JSON: r.data})
	}
	for i := range out.Targets {
		switch t := &out.Targets[i]; t.Kind {
		case model.KindPath, model.KindInput:
			t.Descriptor = r.descriptor
		case model.KindCommand:
			out.ReadOnly = false
		}
	}
	if out.Class == "Copy" || out.Class == "Move" {
		return r.pair()
	}
	return nil
}

// pair looks at a copy or move: one source, one destination.
func (r *reader) pair() error {
	list := r.out.Targets
	if len(list) != 2 || list[0].Role != model.RoleSource || list[1].Role != model.RoleMain {
		return r.wrong(r.tool.args[0].From[0], "must be one source with one destination: leave out the other spellings")
	}
	r.out.PairDescriptor = list[0].Path.Text + " -> " + list[1].Path.Text
	return nil
}

func (r *reader) has(kind model.Kind) bool {
	return slices.ContainsFunc(r.out.Targets, func(t model.Target) bool { return t.Kind == kind })
}

// lookAlikes refuses keys that only differ by letter case from an argument that
// means something: some agents would take them for it.
func (r *reader) lookAlikes() error {
	for i := range r.members.n {
		if slices.ContainsFunc(r.tool.known, func(known string) bool { return r.is(i, known) }) {
			continue
		}
		k := &r.members.at(i).key
		for _, known := range r.tool.known {
			if k.escaped && strings.EqualFold(k.text, known) || !k.escaped && foldEqual(r.data[k.start:k.end], known) {
				return r.wrong(r.name(i), `looks like "`+known+`": write it exactly so`)
			}
		}
	}
	return nil
}

// foldEqual reports whether a key is a name up to letter case, as readers that
// ignore it compare names.
func foldEqual(key []byte, name string) bool {
	if len(key) < len(name) {
		return false // Folding only makes the ASCII names of the table longer.
	}
	if len(key) == len(name) {
		for i := range key {
			if key[i]|0x20 != name[i]|0x20 {
				return false
			}
		}
	}
	return strings.EqualFold(string(key), name)
}

// wrong is an input error of this call.
func (r *reader) wrong(field, problem string) error {
	return &InputError{Tool: r.called, Field: shown(field), Problem: problem}
}

// IsInputError reports whether err is an *InputError: the call is at fault, not
// the disk or the engine.
func IsInputError(err error) bool {
	var input *InputError
	return errors.As(err, &input)
}
