package bundle

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lictor-policy/lictor/internal/model"
)

// need is what a call must have for a rule to hold, as the rule's own text
// proves: each condition stands in the rule's body, where all conditions must
// hold. It is derived, never declared, so a rule that is skipped for it would have
// had nothing to say.
type need struct {
	// programs are base names: some command must run one of them. Nil means any.
	programs map[string]bool
	// words must have one that is an argument of some command. Nil means any.
	words map[string]bool
}

// met reports whether the call has what the rule needs. Rules see the commands
// that are listed, also of an opaque text, so nothing has to be assumed here.
func (n *need) met(input *model.Input) bool {
	return (n.programs == nil || anyCommand(input, func(program string, _ []string) bool {
		return hasProgram(n.programs, program)
	})) && (n.words == nil || anyCommand(input, func(_ string, args []string) bool {
		for _, word := range args {
			if n.words[word] {
				return true
			}
		}
		return false
	}))
}

// anyCommand reports whether a part or an inner command passes.
func anyCommand(input *model.Input, pass func(program string, args []string) bool) bool {
	for i := range input.Targets {
		command := input.Targets[i].Command
		if command == nil {
			continue
		}
		for j := range command.Parts {
			part := &command.Parts[j]
			if pass(part.Program, part.Args) {
				return true
			}
			for k := range part.Inner {
				if pass(part.Inner[k].Program, part.Inner[k].Args) {
					return true
				}
			}
		}
	}
	return false
}

// deriver reads one rule.
type deriver struct {
	module *ast.Module
	// targets and commands are the variables that stand for one target and for one
	// part or inner command of the call.
	targets, commands map[ast.Var]bool
	need              need
}

// deriveNeed finds what a rule cannot do without. Whatever it does not
// understand it leaves aside.
func deriveNeed(module *ast.Module, rule *ast.Rule) need {
	d := deriver{module: module, targets: make(map[ast.Var]bool), commands: make(map[ast.Var]bool)}
	for _, expr := range rule.Body {
		if !expr.Negated && len(expr.With) == 0 {
			d.expression(expr)
		}
	}
	return d.need
}

func (d *deriver) expression(expr *ast.Expr) {
	if some, ok := expr.Terms.(*ast.SomeDecl); ok {
		if len(some.Symbols) == 1 {
			d.declaration(some.Symbols[0])
		}
		return
	}
	terms, ok := expr.Terms.([]*ast.Term)
	if !ok || len(terms) < 2 {
		return
	}
	operator, ok := terms[0].Value.(ast.Ref)
	if !ok {
		return
	}
	args := terms[1:]
	switch name := operator.String(); {
	case (name == ast.Equal.Name || name == ast.Equality.Name) && len(args) == 2:
		for i := range args {
			if word, ok := args[1-i].Value.(ast.String); ok && d.isProgram(args[i]) {
				d.wantPrograms(map[string]bool{string(word): true})
			}
		}
	case name == ast.Member.Name && len(args) == 2:
		if words, ok := constantWords(args[1]); ok && d.isProgram(args[0]) {
			d.wantPrograms(words)
		}
	case d.library(operator, "command_runs") && len(args) == 3 && d.isCommand(args[0]):
		d.runs(args[1], args[2])
	case d.library(operator, "runs") && len(args) == 2:
		d.runs(args[0], args[1])
	case d.library(operator, "runs_any") && len(args) == 1:
		if words, ok := constantWords(args[0]); ok {
			d.wantPrograms(words)
		}
	}
}

// declaration learns from `some x in list` what x stands for.
func (d *deriver) declaration(symbol *ast.Term) {
	call, ok := symbol.Value.(ast.Call)
	if !ok || len(call) != 3 || call[0].String() != ast.Member.Name {
		return
	}
	variable, ok := call[1].Value.(ast.Var)
	if !ok {
		return
	}
	list, ok := call[2].Value.(ast.Ref)
	if !ok {
		return
	}
	switch {
	case list.Equal(targetsRef):
		d.targets[variable] = true
	case d.library(list, "commands"):
		d.commands[variable] = true
	case len(list) == 2:
		head, ok := list[0].Value.(ast.Var)
		field, isText := list[1].Value.(ast.String)
		if ok && isText && (d.targets[head] && field == "parts" || d.commands[head] && field == "inner") {
			d.commands[variable] = true
		}
	}
}

var targetsRef = ast.MustParseRef("input.targets")

// runs is lib.runs and lib.command_runs: the program, and one of the words unless
// the set is empty.
func (d *deriver) runs(program, subcommands *ast.Term) {
	if name, ok := program.Value.(ast.String); ok {
		d.wantPrograms(map[string]bool{string(name): true})
	}
	if words, ok := constantWords(subcommands); ok && len(words) > 0 && d.need.words == nil {
		d.need.words = words
	}
}

// wantPrograms keeps the first condition: any one of them is necessary.
func (d *deriver) wantPrograms(names map[string]bool) {
	if d.need.programs != nil {
		return
	}
	d.need.programs = make(map[string]bool, len(names))
	for name := range maps.Keys(names) {
		d.need.programs[baseName(name)] = true
	}
}

func (d *deriver) isCommand(term *ast.Term) bool {
	variable, ok := term.Value.(ast.Var)
	return ok && d.commands[variable]
}

// isProgram recognises c.program and lib.base_name(c.program) of a command c.
func (d *deriver) isProgram(term *ast.Term) bool {
	if call, ok := term.Value.(ast.Call); ok && len(call) == 2 {
		operator, ok := call[0].Value.(ast.Ref)
		return ok && d.library(operator, "base_name") && d.isProgramField(call[1])
	}
	return d.isProgramField(term)
}

func (d *deriver) isProgramField(term *ast.Term) bool {
	ref, ok := term.Value.(ast.Ref)
	if !ok || len(ref) != 2 || !ref[1].Equal(ast.InternedTerm("program")) {
		return false
	}
	head, ok := ref[0].Value.(ast.Var)
	return ok && d.commands[head]
}

// library reports whether a reference is data.lictor.lib.<name>, in full or by an
// import.
func (d *deriver) library(ref ast.Ref, name string) bool {
	want := libraryRef.Append(ast.StringTerm(name))
	if ref.Equal(want) {
		return true
	}
	head, ok := ref[0].Value.(ast.Var)
	if !ok {
		return false
	}
	for _, imported := range d.module.Imports {
		if path, ok := imported.Path.Value.(ast.Ref); ok && imported.Name().Equal(head) && path.HasPrefix(libraryRef) {
			return path.Concat(ref[1:]).Equal(want)
		}
	}
	return false
}

// constantWords returns the texts of a set or list of plain texts.
func constantWords(term *ast.Term) (map[string]bool, bool) {
	words := make(map[string]bool)
	plain := true
	add := func(element *ast.Term) {
		word, ok := element.Value.(ast.String)
		plain = plain && ok
		words[string(word)] = true
	}
	switch list := term.Value.(type) {
	case ast.Set:
		list.Foreach(add)
	case *ast.Array:
		list.Foreach(add)
	default:
		return nil, false
	}
	return words, plain
}
