package install

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/hook"
)

// pluginText is the plugin; the words between underscores are filled in.
//
//go:embed assets/opencode.js
var pluginText string

// pluginMark is the first line of every version of the plugin.
const pluginMark = "// lictor: written by `lictor install opencode`"

func opencode() agent {
	a := agent{
		name: "opencode",
		events: map[hook.Kind][]string{
			hook.PreToolUse: {"tool.execute.before"}, hook.PostToolUse: {"tool.execute.after"},
		},
		notes: []string{"opencode loads plugins at its start: start it anew"},
	}
	a.target = func(scope Scope, o Options) (target, error) {
		name := filepath.Join("plugins", "lictor.js")
		if folder := o.Getenv("XDG_CONFIG_HOME"); scope == User && filepath.IsAbs(folder) {
			return target{place{folder, filepath.Join("opencode", name), private}, pluginEditor{}}, nil
		}
		return target{inFolder(scope, o, "", filepath.Join(".config", "opencode"), ".opencode", name), pluginEditor{}}, nil
	}
	return a
}

// pluginEditor writes a file of its own.
type pluginEditor struct{}

func (pluginEditor) mine(data []byte, exists bool) error {
	if exists && !strings.HasPrefix(string(data), pluginMark) {
		return fmt.Errorf("it was not written by lictor: move it away first")
	}
	return nil
}

func (p pluginEditor) install(data []byte, exists bool, a agent, o Options) ([]byte, []string, error) {
	if err := p.mine(data, exists); err != nil {
		return nil, nil, err
	}
	words := []any{}
	for _, w := range append(append([]string{}, o.Command...), a.name) {
		words = append(words, w)
	}
	text := strings.NewReplacer(
		"__COMMAND__", render(words, layout{}, "", false),
		"__LIMIT__", fmt.Sprint(hook.HostTimeout.Milliseconds()),
		"__TELL__", fmt.Sprint(slices.Contains(o.Kinds, hook.PostToolUse)),
	).Replace(pluginText)
	return []byte(text), nil, nil
}

func (p pluginEditor) remove(data []byte, exists bool, _ agent) ([]byte, error) {
	if !exists {
		return nil, nil
	}
	return nil, p.mine(data, exists)
}

var pluginCommand = regexp.MustCompile(`(?m)^const command = (\[.*\])$`)

func (p pluginEditor) status(data []byte, a agent, s *State) error {
	if err := p.mine(data, true); err != nil {
		return err
	}
	m := pluginCommand.FindSubmatch(data)
	if m == nil {
		return fmt.Errorf("the plugin was edited: install again")
	}
	root, err := parseJSON(m[1])
	if err != nil {
		return err
	}
	var words []string
	for _, c := range root.children {
		words = append(words, quoteShell(c.text(m[1])))
	}
	s.Installed, s.Command = true, strings.Join(words, " ")
	s.Events = []string{"tool.execute.before"}
	if strings.Contains(string(data), "\nconst tell = true\n") {
		s.Events = append(s.Events, "tool.execute.after")
	}
	return nil
}
