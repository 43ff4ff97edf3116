package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	// Command is the installed command, Program the file that it starts, Resolves
	// that this is a program that can be run.
	Command, Program string
	Resolves         bool
	// Problems are what keeps the hook from working, Notes what cannot be checked
	// from the file.
	Problems, Notes []string

	closedSeen bool
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
	s := State{Agent: name, Scope: scope, File: t.place.path(), HasFailClosed: a.closed != ""}
	data, exists, err := t.place.read()
	if err != nil {
		return s, err
	}
	if exists {
		if err := t.edit.status(data, a, &s); err != nil {
			return s, fmt.Errorf("%s: %w", s.File, err)
		}
	}
	if !s.Installed {
		return s, nil
	}
	s.Notes = append(s.Notes, a.notes...)
	if scope == Project {
		s.Notes = append(s.Notes, a.projectNotes...)
	}
	s.resolve(o)
	return s, nil
}

// resolve finds the program of the installed command.
func (s *State) resolve(o Options) {
	words := firstWords(s.Command)
	if len(words) == 0 {
		s.Problems = append(s.Problems, "the installed command is empty")
		return
	}
	s.Program = words[0]
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
