package install

import (
	"io/fs"
	"path/filepath"

	"github.com/lictor-policy/lictor/internal/hook"
)

// editor changes the text of one kind of configuration.
type editor interface {
	// install returns the text with lictor in it, and notes.
	install(data []byte, exists bool, a agent, o Options) ([]byte, []string, error)
	// remove returns the text without lictor, nil if nothing is left.
	remove(data []byte, exists bool, a agent) ([]byte, error)
	// status reads what is installed.
	status(data []byte, a agent, s *State) error
}

// agent is everything about one agent's configuration.
type agent struct {
	name string
	// events are the agent's names of the events to install.
	events map[hook.Kind][]string
	// entry is one entry of an event's list.
	entry func(o Options, event string) ordered
	// closed names the member that blocks when the hook fails, or "".
	closed string
	// anyMatcher says that the agent looks at no matcher.
	anyMatcher bool
	// target says which file is edited, and how.
	target func(scope Scope, o Options) (target, error)
	// other is the file that is edited where the target's is missing, if there are
	// two: it may still hold lictor's hook, or switch hooks off.
	other func(scope Scope, o Options) target
	// notes are for whoever installs it, projectNotes for the project scope.
	notes, projectNotes []string
}

type target struct {
	place place
	edit  editor
}

const (
	private fs.FileMode = 0o600
	shared  fs.FileMode = 0o644
)

// inFolder is a target below the user's home or a folder that a variable names,
// or below the project.
func inFolder(scope Scope, o Options, variable, userFolder, projectFolder, name string) place {
	if scope == Project {
		return place{o.Root, filepath.Join(projectFolder, name), shared}
	}
	if variable != "" {
		if folder := o.Getenv(variable); filepath.IsAbs(folder) {
			return place{folder, name, private}
		}
	}
	return place{o.Home, filepath.Join(userFolder, name), private}
}

// claudeEvents are the events of agents that follow Claude Code's contract.
var claudeEvents = map[hook.Kind][]string{
	hook.PreToolUse: {"PreToolUse"}, hook.PermissionRequest: {"PermissionRequest"},
	hook.PostToolUse: {"PostToolUse"}, hook.SessionStart: {"SessionStart"},
}

// exit2 is the fallback where exit code 2 blocks; codex also wants a reason.
const (
	exit2       = "exit 2"
	exit2Reason = "{ echo 'lictor could not be run' >&2; exit 2; }"
)

// decides reports whether a native event of the agent waits for a decision.
func (a agent) decides(event string) bool {
	for kind, names := range a.events {
		for _, n := range names {
			if n == event && kind.Decides() {
				return true
			}
		}
	}
	return false
}

// group is an entry of the agents that follow Claude Code: a matcher and a list of
// handlers.
func group(matcher string, handler ordered) ordered {
	out := ordered{}
	if matcher != "" {
		out = append(out, member{"matcher", matcher})
	}
	return append(out, member{"hooks", []any{handler}})
}

// handler is a command handler with the host's timeout.
func handler(command string, timeout int) ordered {
	return ordered{{"type", "command"}, {"command", command}, {"timeout", timeout}}
}

// fallback is the fallback for events that decide; for the others a missing lictor
// must not block anything.
func (a agent) fallback(event, otherwise string) string {
	if !a.decides(event) {
		return ""
	}
	return otherwise
}

// agents are the agents by name. It is filled at start because entries look at
// the events of their own agent.
var agents = map[string]agent{}

func init() {
	for _, a := range []agent{claudeCode(), codex(), copilot(), cursor(), droid(), gemini(), opencode(), vscode()} {
		agents[a.name] = a
	}
}

func claudeCode() agent {
	a := agent{
		name: "claude-code", events: claudeEvents, closed: "onFailure",
		target: func(scope Scope, o Options) (target, error) {
			return target{inFolder(scope, o, "CLAUDE_CONFIG_DIR", ".claude", ".claude", "settings.json"), jsonEditor{path: []string{"hooks"}, grouped: true}}, nil
		},
		projectNotes: []string{"Claude Code runs a project's hooks once the folder is trusted"},
	}
	a.entry = func(o Options, event string) ordered {
		h := handler(o.guarded(a.name, a.fallback(event, exit2)), seconds)
		matcher := "*"
		if a.decides(event) {
			h = append(h, member{"onFailure", "block"})
		}
		if event == "SessionStart" {
			matcher = ""
		}
		return group(matcher, h)
	}
	return a
}

func codex() agent {
	a := agent{
		name: "codex", events: claudeEvents,
		notes: []string{"Codex runs a new or changed hook only once you trust it: open Codex and type /hooks"},
	}
	a.target = func(scope Scope, o Options) (target, error) {
		// A layer must not use both forms: what is there already is continued.
		list := inFolder(scope, o, "CODEX_HOME", ".codex", ".codex", "hooks.json")
		if _, exists, err := list.read(); err != nil || exists {
			return target{list, jsonEditor{path: []string{"hooks"}, grouped: true}}, err
		}
		return a.other(scope, o), nil
	}
	a.other = func(scope Scope, o Options) target {
		return target{inFolder(scope, o, "CODEX_HOME", ".codex", ".codex", "config.toml"), tomlEditor{}}
	}
	a.projectNotes = []string{"Codex reads a project's .codex folder only if the project is trusted"}
	a.entry = func(o Options, event string) ordered {
		return group("", handler(o.guarded(a.name, a.fallback(event, exit2Reason)), seconds))
	}
	return a
}

func gemini() agent {
	a := agent{
		name: "gemini",
		events: map[hook.Kind][]string{
			hook.PreToolUse: {"BeforeTool"}, hook.PostToolUse: {"AfterTool"}, hook.SessionStart: {"SessionStart"},
		},
		target: func(scope Scope, o Options) (target, error) {
			return target{inFolder(scope, o, "", ".gemini", ".gemini", "settings.json"), jsonEditor{path: []string{"hooks"}, grouped: true}}, nil
		},
		notes:        []string{"Gemini CLI has no option that blocks when a hook fails: the command itself prints a denial if lictor is missing; a hook that is too slow lets the call run"},
		projectNotes: []string{"Gemini CLI shows a project's new hooks once and runs them"},
	}
	a.entry = func(o Options, event string) ordered {
		// Both at once: a denial that is read as JSON whatever the code, and a code
		// that denies if something else was printed before it.
		deny := `{ echo '{"decision":"deny","reason":"lictor could not be run"}'; exit 2; }`
		h := ordered{
			{"type", "command"},
			{"name", "lictor"},
			{"command", o.guarded(a.name, a.fallback(event, deny))},
			{"timeout", seconds * 1000},
		}
		if event == "SessionStart" {
			return group("", h)
		}
		return group(".*", h)
	}
	return a
}

func cursor() agent {
	a := agent{
		name: "cursor", closed: "failClosed",
		events: map[hook.Kind][]string{
			hook.PreToolUse:   {"beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"},
			hook.PostToolUse:  {"afterShellExecution", "afterMCPExecution", "afterFileEdit"},
			hook.SessionStart: {"sessionStart"},
		},
		target: func(scope Scope, o Options) (target, error) {
			return target{inFolder(scope, o, "", ".cursor", ".cursor", "hooks.json"), jsonEditor{path: []string{"hooks"}, version: true}}, nil
		},
		notes: []string{"Cursor's CLI runs the hook for commands only: beforeShellExecution"},
	}
	a.entry = func(o Options, event string) ordered {
		out := ordered{{"command", o.line(a.name)}, {"timeout", seconds}}
		if event == "preToolUse" {
			// Commands and MCP calls have events of their own, in which Cursor can ask.
			out = append(out, member{"matcher", "^(?!Shell$|MCP:)"})
		}
		if a.decides(event) {
			out = append(out, member{"failClosed", true})
		}
		return out
	}
	return a
}

func copilot() agent {
	a := agent{
		name: "copilot",
		events: map[hook.Kind][]string{
			hook.PreToolUse: {"preToolUse"}, hook.PermissionRequest: {"permissionRequest"},
			hook.PostToolUse: {"postToolUse"}, hook.SessionStart: {"sessionStart"},
		},
		target: func(scope Scope, o Options) (target, error) {
			p := inFolder(scope, o, "COPILOT_HOME", ".copilot", filepath.Join(".github"), filepath.Join("hooks", "lictor.json"))
			return target{p, jsonEditor{path: []string{"hooks"}, version: true}}, nil
		},
		projectNotes: []string{
			"the cloud agent reads this file from the default branch, and needs lictor in its environment: without it every call is denied there",
			"the CLI loads a project's hooks only in a trusted folder",
		},
	}
	a.entry = func(o Options, event string) ordered {
		unix, win := o, o
		unix.Windows, win.Windows = false, true
		deny := `echo '{"permissionDecision":"deny","permissionDecisionReason":"lictor could not be run"}'`
		if event == "permissionRequest" {
			deny = `echo '{"behavior":"deny","message":"lictor could not be run"}'`
		}
		if o.Windows {
			return ordered{{"type", "command"}, {"powershell", "& " + win.line(a.name)}, {"timeoutSec", seconds}}
		}
		return ordered{{"type", "command"}, {"bash", unix.guarded(a.name, a.fallback(event, deny))}, {"timeoutSec", seconds}}
	}
	return a
}

func vscode() agent {
	a := agent{
		name: "vscode", anyMatcher: true,
		events: map[hook.Kind][]string{
			hook.PreToolUse: {"PreToolUse"}, hook.PostToolUse: {"PostToolUse"}, hook.SessionStart: {"SessionStart"},
		},
		target: func(scope Scope, o Options) (target, error) {
			p := inFolder(scope, o, "", ".copilot", ".github", filepath.Join("hooks", "lictor-vscode.json"))
			return target{p, jsonEditor{path: []string{"hooks"}}}, nil
		},
		notes: []string{"VS Code's agent hooks are a preview: check in its output that the hook runs"},
	}
	a.entry = func(o Options, event string) ordered {
		return handler(o.guarded(a.name, a.fallback(event, exit2)), seconds)
	}
	return a
}

func droid() agent {
	a := agent{name: "droid", events: claudeEvents}
	a.target = func(scope Scope, o Options) (target, error) {
		// If there is a hooks.json, droid reads no hooks from settings.json; creating
		// one would switch off the hooks that stand there.
		list := inFolder(scope, o, "", ".factory", ".factory", "hooks.json")
		data, exists, err := list.read()
		if err != nil {
			return target{}, err
		}
		if exists {
			edit := jsonEditor{grouped: true}
			if root, err := parseJSON(data); err == nil && root.member("hooks") != nil {
				edit.path = []string{"hooks"}
			}
			return target{list, edit}, nil
		}
		return a.other(scope, o), nil
	}
	a.other = func(scope Scope, o Options) target {
		settings := inFolder(scope, o, "", ".factory", ".factory", "settings.json")
		return target{settings, jsonEditor{path: []string{"hooks"}, grouped: true}}
	}
	a.entry = func(o Options, event string) ordered {
		matcher := "*"
		if event == "SessionStart" {
			matcher = ""
		}
		return group(matcher, handler(o.guarded(a.name, a.fallback(event, exit2)), seconds))
	}
	return a
}
