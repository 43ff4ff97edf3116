package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/rules"
)

// Rules are rules in the syntax of permission files, in order, each once.
type Rules struct {
	Allow, Ask, Deny []string
}

// Report says what became of each of the agent's rules.
type Report struct {
	// Files are the files that were read.
	Files []string
	// Taken are the rules that were turned into lictor's, Left those that were not.
	Taken, Left []Imported
	// Notes are differences that hold for all rules.
	Notes []string
}

// Imported is one rule of the agent.
type Imported struct {
	// File is where it stands, From the rule as written there, with its effect.
	File, From string
	// To are lictor's rules for it; Why says what is different, or why it was left.
	To  []string
	Why string
}

// Importable lists the agents whose rules can be read.
func Importable() []string { return []string{"claude-code", "codex", "gemini"} }

// Import reads the agent's own rules of one scope and says them in lictor's
// syntax. Nothing is written. A rule that lictor cannot say exactly is never
// turned into an allow that covers more, nor into a deny or ask that covers less:
// it is left, and the report says why. A file that cannot be parsed is an error.
func Import(name string, scope Scope, o Options) (Rules, Report, error) {
	var rules Rules
	var report Report
	_, o, err := prepare(name, scope, o)
	if err != nil {
		return rules, report, err
	}
	im := importer{scope: scope, o: o, rules: &rules, report: &report}
	switch name {
	case "claude-code":
		err = im.claude()
	case "codex":
		err = im.codex()
	case "gemini":
		err = im.gemini()
	default:
		err = fmt.Errorf("%s has no rules that lictor reads: only %s have", name, strings.Join(Importable(), ", "))
	}
	return rules, report, err
}

// importer collects rules and what became of them.
type importer struct {
	scope  Scope
	o      Options
	rules  *Rules
	report *Report
	file   string
}

// read returns the file's text, nil if there is none.
func (im *importer) read(p place) ([]byte, error) {
	data, exists, err := p.read()
	if err != nil || !exists {
		return nil, err
	}
	im.file = p.path()
	im.report.Files = append(im.report.Files, im.file)
	return data, nil
}

// folder lists the files of a folder below a place, sorted, by their ending.
func folder(p place, ending string) ([]place, error) {
	list, err := os.ReadDir(p.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []place
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ending) {
			out = append(out, place{p.base, filepath.Join(p.name, e.Name()), p.mode})
		}
	}
	return out, nil
}

func (im *importer) left(from, why string) {
	im.report.Left = append(im.report.Left, Imported{File: im.file, From: from, Why: why})
}

func (im *importer) note(text string) {
	if !slices.Contains(im.report.Notes, text) {
		im.report.Notes = append(im.report.Notes, text)
	}
}

// take adds rules for one of the agent's. A rule that lictor does not read after
// all is left.
func (im *importer) take(effect model.Effect, from, why string, to ...string) {
	list := map[model.Effect]*[]string{
		model.EffectAllow: &im.rules.Allow, model.EffectAsk: &im.rules.Ask, model.EffectDeny: &im.rules.Deny,
	}[effect]
	for _, text := range to {
		r, err := rules.Parse(text, model.SyntaxPermissions, effect, "")
		if err == nil {
			_, _, err = rules.Compile([]model.Rule{r}, rules.Env{Root: "/", Home: "/"})
		}
		if err != nil {
			im.left(from, err.Error())
			return
		}
	}
	for _, text := range to {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	im.report.Taken = append(im.report.Taken, Imported{File: im.file, From: from, To: to, Why: why})
}

// steers reports whether a text has characters that lictor's patterns read as
// more than themselves.
func steers(text string) bool { return strings.ContainsAny(text, "*?") }
