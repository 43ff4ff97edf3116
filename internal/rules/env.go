package rules

import "github.com/lictor-policy/lictor/internal/model"

// Env is what a Set must know of the world. The functions may be nil: then no
// tool has aliases, and Class is found by the names of the classes alone.
type Env struct {
	// Root is the absolute root as written, RealRoot with links followed ("" means
	// the same), Home the user's home folder ("" means that `~/` never matches).
	Root, RealRoot, Home string
	// Fold compares paths without letter case (macOS, Windows).
	Fold bool
	// Canonical maps a tool name to its canonical name; an unknown name maps to
	// itself.
	Canonical func(tool string) string
	// ClassOf returns the class of a canonical tool name, or "".
	ClassOf func(canonical string) string
	// KindOf returns the kind of target that a canonical tool has, or "" for a
	// tool that the table does not know.
	KindOf func(canonical string) model.Kind
	// Tools are the canonical names that the table knows. With them a deny or ask
	// rule such as `read_*(x)` speaks for the classes of those tools; without them
	// it holds by name alone.
	Tools []string
	// Inside reports whether a folder, relative to the root or absolute, really
	// lies in the root; it decides about `git -C dir`. Nil looks at the text alone.
	Inside func(dir string) bool
}

func (e *Env) canonical(tool string) string {
	if e.Canonical == nil {
		return tool
	}
	return e.Canonical(tool)
}

func (e *Env) classOf(tool string) string {
	if e.ClassOf == nil {
		return ""
	}
	return e.ClassOf(tool)
}

func (e *Env) kindOf(tool string) model.Kind {
	if e.KindOf == nil {
		return ""
	}
	return e.KindOf(tool)
}

// Notice says something about a rule that its author should know, such as that
// it can never match. The strict profile turns notices into errors.
type Notice struct {
	Rule model.Rule
	// Text says what is wrong and what to do, without the rule and its file.
	Text string
}

// String returns the notice with file and rule in front.
func (n Notice) String() string {
	return n.Rule.Source + ": " + string(n.Rule.Effect) + " rule " + n.Rule.Text + ": " + n.Text
}
