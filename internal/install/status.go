package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/hook"
)

// State is what is installed in one scope of an agent.
type State struct {
	// Agent is the agent, Scope the scope, File the file that was read.
	Agent string
	Scope Scope
	File  string
	// Installed says that at least one event that decides goes to lictor, Events
	// are the agent's names of all events that do.
	Installed bool
	Events    []string
	// HasFailClosed says that the agent has an option that blocks when the hook
	// fails, FailClosed that each installed event that decides sets it.
	HasFailClosed, FailClosed bool
	// Command is the installed command, Program the file that it starts, Args the
	// options that it has behind the agent's name, Resolves that the program is one
	// that can be run.
	Command, Program string
	Args             []string
	Resolves         bool
	// Problems are what keeps the hook from working, Notes what cannot be checked
	// from the file.
	Problems, Notes []string

	closedSeen, windows bool
}

// problem notes what keeps the hook from working, once.
func (s *State) problem(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Problems, text) {
		s.Problems = append(s.Problems, text)
	}
}

// OK reports whether the hook is installed, would start, and stays closed as far
// as the agent's file can say.
func (s State) OK() bool {
	return s.Installed && s.Resolves && len(s.Problems) == 0 && (!s.HasFailClosed || s.FailClosed)
}

// closed notes one event's fail-closed option; one that lacks it is enough.
func (s *State) closed(set bool) {
	s.FailClosed = set && (s.FailClosed || !s.closedSeen)
	s.closedSeen = true
}

// Status reads what is installed. The errors are those of reading the file; an
// absent file is a state that is not installed.
func Status(name string, scope Scope, o Options) (State, error) {
	a, o, err := prepare(name, scope, o)
	if err != nil {
		return State{}, err
	}
	t, err := a.target(scope, o)
	if err != nil {
		return State{}, err
	}
	s := State{Agent: name, Scope: scope, File: t.place.path(), HasFailClosed: a.closed != "", windows: o.Windows}
	data, exists, err := t.place.read()
	if err != nil {
		return s, err
	}
	if exists {
		if err := t.edit.status(data, a, &s); err != nil {
			return s, fmt.Errorf("%s: %w", s.File, err)
		}
	}
	s.elsewhere(a, scope, o)
	if !s.Installed {
		return s, nil
	}
	s.Notes = append(s.Notes, a.notes...)
	if scope == Project {
		s.Notes = append(s.Notes, a.projectNotes...)
	}
	s.holes(a)
	s.resolve(o)
	return s, nil
}

// elsewhere looks into the other file of an agent that has two.
func (s *State) elsewhere(a agent, scope Scope, o Options) {
	if a.other == nil || a.other(scope, o).place.path() == s.File {
		return
	}
	t := a.other(scope, o)
	there := State{Agent: s.Agent, windows: s.windows}
	data, exists, err := t.place.read()
	if err == nil && exists {
		err = t.edit.status(data, a, &there)
	}
	if there.Installed {
		s.problem("lictor's hook stands in %s, but now there is %s: `lictor uninstall %s`, then install again", t.place.path(), s.File, a.name)
	}
	if err != nil && s.Installed {
		s.problem("%s: %v", t.place.path(), err)
	}
	if s.Installed || there.Installed {
		s.Problems = append(s.Problems, there.Problems...)
	}
}

// holes are the calls that lictor is not asked about.
func (s *State) holes(a agent) {
	for _, event := range a.events[hook.PreToolUse] {
		if !slices.Contains(s.Events, event) {
			s.problem("%s does not go to lictor: `lictor install %s` adds it", event, a.name)
		}
	}
	if s.HasFailClosed && !s.FailClosed {
		s.problem("%q is not set: a hook that fails lets the call run; `lictor install %s` sets it", a.closed, a.name)
	}
}

// check compares an installed entry with what install writes: a command without
// its fallback is a hole; other, the names of what else differs, may be meant so.
func (s *State) check(a agent, event, command, wanted string, other []string) {
	if a.closed == "" && strings.Contains(wanted, " || ") && !strings.Contains(command, "||") {
		s.problem("the command for %s has no fallback: without lictor the call runs; `lictor install %s` adds it", event, a.name)
	}
	if len(other) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("the entry for %s is not as `lictor install %s` writes it: %s", event, a.name, strings.Join(other, ", ")))
	}
}

// optionsOf are the words behind the agent's name, up to what the shell does next.
func optionsOf(words []string, agent string) []string {
	from := slices.Index(words, agent) + 1
	to := slices.IndexFunc(words[from:], func(w string) bool { return strings.ContainsAny(w, "|&;<>") })
	if to < 0 {
		return words[from:]
	}
	return words[from : from+to]
}

// resolve finds the program of the installed command.
func (s *State) resolve(o Options) {
	words := firstWords(s.Command)
	if len(words) == 0 {
		s.Problems = append(s.Problems, "the installed command is empty")
		return
	}
	s.Program, s.Args = words[0], optionsOf(words, s.Agent)
	if slices.ContainsFunc(s.Args, func(w string) bool { return w == "--observe" || strings.HasPrefix(w, "--observe=") }) {
		s.problem("the command has --observe: nothing is stopped, only recorded")
	}
	if !filepath.IsAbs(s.Program) {
		s.Problems = append(s.Problems, fmt.Sprintf("%s is no absolute path: which program runs depends on the agent's PATH and folder; install again", s.Program))
		return
	}
	info, err := os.Stat(s.Program)
	switch {
	case err != nil:
		s.Problems = append(s.Problems, fmt.Sprintf("%s cannot be run: %v", s.Program, err))
		return
	case !info.Mode().IsRegular() || !o.Windows && info.Mode().Perm()&0o111 == 0:
		s.Problems = append(s.Problems, fmt.Sprintf("%s is no program that can be run", s.Program))
		return
	}
	s.Resolves = true
	if o.Root != "" {
		if rel, err := filepath.Rel(o.Root, s.Program); err == nil && filepath.IsLocal(rel) {
			s.Problems = append(s.Problems, fmt.Sprintf("%s lies in the project, where the agent can write: put lictor elsewhere (%s)", s.Program, strings.Join([]string{"/usr/local/bin", "~/.local/bin"}, ", ")))
		}
	}
}
