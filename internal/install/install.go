// Package install puts lictor's hook into an agent's own configuration and takes
// it out again, reads what is installed, and turns an agent's existing rules into
// lictor's.
//
// Files are edited as text: everything that is not lictor's stays byte for byte.
// A link or anything else that is no regular file is never followed or replaced,
// writes are atomic, and an edit that is already there changes nothing.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/hook"
)

// Scope says whose configuration is meant.
type Scope string

// User is the user's own configuration, Project the one in the project folder.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Options say what is installed and where.
type Options struct {
	// Root is the project folder, absolute; needed for Project.
	Root string
	// Home is the user's home folder; empty means os.UserHomeDir.
	Home string
	// Getenv reads variables that move an agent's folder (CODEX_HOME); nil means
	// os.Getenv.
	Getenv func(string) string
	// Command is the program that answers, without the agent's name:
	// {"/usr/local/bin/lictor", "hook"}. The first word must be an absolute path.
	// Empty means this program with "hook".
	Command []string
	// Ask adds --ask: somebody sits before the agent, so a question may be said in
	// agents that can be made to skip questions.
	Ask bool
	// Kinds are the events to install; empty means hook.PreToolUse.
	Kinds []hook.Kind
	// Windows says that the commands are for Windows; it is set by default on
	// Windows, and for tests elsewhere.
	Windows bool
}

// Change is an edit of one file, made or planned.
type Change struct {
	// Agent is the agent, File the file's absolute path.
	Agent, File string
	// Before and After are the whole texts. Created says that there was no file,
	// Removed that there is none afterwards.
	Before, After    []byte
	Created, Removed bool
	// Notes are what the user must know or do besides ("Codex asks once whether it
	// may run the hook: /hooks").
	Notes []string

	place place
}

// Changed reports whether the file differs afterwards.
func (c Change) Changed() bool { return c.Created || c.Removed || string(c.Before) != string(c.After) }

// Diff is the edit as a unified diff, "" if nothing changes.
func (c Change) Diff() string {
	if !c.Changed() {
		return ""
	}
	from, to := c.File, c.File
	if c.Created {
		from = "/dev/null"
	}
	if c.Removed {
		to = "/dev/null"
	}
	return unified(from, to, string(c.Before), string(c.After))
}

// Agents lists the agents that can be installed.
func Agents() []string {
	var out []string
	for name := range agents {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Plan says what Install would do and changes nothing. The errors are those of
// Install: an unknown agent, a file that is a link, is no regular file, is too
// large or cannot be parsed, or a command that is no absolute path.
func Plan(agent string, scope Scope, o Options) (Change, error) {
	return plan(agent, scope, o, true)
}

// PlanUninstall says what Uninstall would do.
func PlanUninstall(agent string, scope Scope, o Options) (Change, error) {
	return plan(agent, scope, o, false)
}

// Install writes lictor's hook into the agent's configuration, with the option
// that blocks when the hook fails where the agent has one. Installing twice
// changes nothing the second time.
func Install(agent string, scope Scope, o Options) (Change, error) {
	return apply(func() (Change, error) { return Plan(agent, scope, o) })
}

// Uninstall takes out what Install wrote, of whatever version and command. A file
// that held nothing else is removed.
func Uninstall(agent string, scope Scope, o Options) (Change, error) {
	return apply(func() (Change, error) { return PlanUninstall(agent, scope, o) })
}

// apply writes a planned change. Whoever edited the file in between wins: the
// change is planned anew on what they wrote.
func apply(plan func() (Change, error)) (Change, error) {
	for range 5 {
		c, err := plan()
		if err != nil || !c.Changed() {
			return c, err
		}
		if err := c.place.write(c); !errors.Is(err, errMoved) {
			return c, err
		}
	}
	return Change{}, errors.New("the file is changed by somebody else all the time: close the agent and try again")
}

func plan(agent string, scope Scope, o Options, install bool) (Change, error) {
	a, o, err := prepare(agent, scope, o)
	if err != nil {
		return Change{}, err
	}
	t, err := a.target(scope, o)
	if err != nil {
		return Change{}, err
	}
	c, err := planIn(t, a, scope, o, install)
	if err == nil && !install && !c.Changed() && a.other != nil {
		// The file of the other form came after lictor was installed.
		return planIn(a.other(scope, o), a, scope, o, false)
	}
	return c, err
}

// planIn plans the change of one file.
func planIn(t target, a agent, scope Scope, o Options, install bool) (Change, error) {
	before, exists, err := t.place.read()
	if err != nil {
		return Change{}, err
	}
	c := Change{Agent: a.name, File: t.place.path(), Before: before, Created: !exists, place: t.place}
	var after []byte
	if install {
		after, c.Notes, err = t.edit.install(before, exists, a, o)
	} else {
		after, err = t.edit.remove(before, exists, a)
	}
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", c.File, err)
	}
	if after == nil {
		c.Created, c.Removed = false, exists
	}
	c.After = after
	if install {
		c.Notes = append(c.Notes, a.notes...)
		if scope == Project {
			c.Notes = append(c.Notes, a.projectNotes...)
		}
	}
	return c, nil
}

func prepare(name string, scope Scope, o Options) (agent, Options, error) {
	a, ok := agents[name]
	if !ok {
		return a, o, fmt.Errorf("unknown agent %q: lictor installs into %s", name, strings.Join(Agents(), ", "))
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return a, o, fmt.Errorf("the home folder is not known: %w", err)
		}
		o.Home = home
	}
	switch scope {
	case User:
	case Project:
		if !filepath.IsAbs(o.Root) {
			return a, o, fmt.Errorf("the project folder %q must be an absolute path", o.Root)
		}
	default:
		return a, o, fmt.Errorf("unknown scope %q: it is user or project", scope)
	}
	if len(o.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return a, o, fmt.Errorf("where lictor is installed is not known: %w", err)
		}
		o.Command = []string{self, "hook"}
	}
	o.Windows = o.Windows || runtime.GOOS == "windows"
	if !filepath.IsAbs(o.Command[0]) && !(o.Windows && len(o.Command[0]) > 2 && o.Command[0][1] == ':') {
		return a, o, fmt.Errorf("the program %q must be an absolute path: agents start hooks in any folder", o.Command[0])
	}
	if len(o.Kinds) == 0 {
		o.Kinds = []hook.Kind{hook.PreToolUse}
	}
	for _, k := range o.Kinds {
		if len(a.events[k]) == 0 {
			return a, o, fmt.Errorf("%s has no %s event that lictor reads", name, k)
		}
	}
	return a, o, nil
}
