package install

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lictor-policy/lictor/internal/hook"
)

// tomlEditor edits Codex' config.toml: one block of lines between two marks, put
// at the end, because a table that is opened elsewhere would swallow what follows.
// The parser only checks; the text is cut by hand.
type tomlEditor struct{}

const (
	tomlBegin = "# >>> lictor: written by `lictor install codex`, removed by `lictor uninstall codex`"
	tomlEnd   = "# <<< lictor"
)

// block finds the lines between the marks, with the marks and the line end.
func block(data []byte) (from, to int, found bool, err error) {
	from = lineAt(data, tomlBegin, 0)
	if from < 0 {
		if end := lineAt(data, tomlEnd, 0); end >= 0 {
			return 0, 0, false, fmt.Errorf("the line %q stands alone: remove it", tomlEnd)
		}
		return 0, 0, false, nil
	}
	end := lineAt(data, tomlEnd, from)
	if end < 0 {
		return 0, 0, false, fmt.Errorf("the line %q has no %q behind it: remove lictor's lines by hand", tomlBegin, tomlEnd)
	}
	to = end + len(tomlEnd)
	if to < len(data) && data[to] == '\r' {
		to++
	}
	if to < len(data) && data[to] == '\n' {
		to++
	}
	return from, to, true, nil
}

// lineAt is where a line that is exactly text begins, or -1.
func lineAt(data []byte, text string, from int) int {
	for pos := from; pos < len(data); {
		end := bytes.IndexByte(data[pos:], '\n')
		if end < 0 {
			end = len(data) - pos
		}
		if strings.TrimSuffix(string(data[pos:pos+end]), "\r") == text {
			return pos
		}
		pos += end + 1
	}
	return -1
}

// codexFile is what lictor reads of config.toml.
type codexFile struct {
	Features map[string]any `toml:"features"`
	Hooks    map[string]any `toml:"hooks"`
	Groups   []codexHandler `toml:"-"`
}

type codexHandler struct {
	event, command string
	// other are the members that are not as install writes them.
	other []string
}

func parseCodex(data []byte) (codexFile, error) {
	var f codexFile
	if _, err := toml.Decode(string(data), &f); err != nil {
		return f, fmt.Errorf("it is no valid TOML: %w", err)
	}
	for event, v := range f.Hooks {
		for _, group := range tables(v) {
			for _, h := range tables(group["hooks"]) {
				command, ok := h["command"].(string)
				if !ok {
					continue
				}
				var other []string
				if group["matcher"] != nil {
					other = append(other, "matcher")
				}
				if h["timeout"] != int64(seconds) {
					other = append(other, "timeout")
				}
				f.Groups = append(f.Groups, codexHandler{event, command, other})
			}
		}
	}
	return f, nil
}

// tables are the tables of an array, however it was written.
func tables(v any) []map[string]any {
	switch v := v.(type) {
	case []map[string]any:
		return v
	case []any:
		var out []map[string]any
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				out = append(out, m)
			}
		}
		return out
	}
	return nil
}

func (tomlEditor) install(data []byte, _ bool, a agent, o Options) ([]byte, []string, error) {
	if _, err := parseCodex(data); err != nil {
		return nil, nil, err
	}
	from, to, found, err := block(data)
	if err != nil {
		return nil, nil, err
	}
	if inlineHooks(data) {
		return nil, nil, fmt.Errorf("the hooks are written in a form that tables cannot be added to (hooks = {…}): write them as [[hooks.PreToolUse]] tables first")
	}
	newline := layoutOf(data).newline
	var b strings.Builder
	b.WriteString(tomlBegin + newline)
	for _, kind := range o.Kinds {
		for _, event := range a.events[kind] {
			fmt.Fprintf(&b, "[[hooks.%s]]%s[[hooks.%s.hooks]]%s", event, newline, event, newline)
			fmt.Fprintf(&b, "type = \"command\"%scommand = %s%stimeout = %d%s", newline,
				quoteTOML(o.guarded(a.name, a.fallback(event, exit2Reason))), newline, seconds, newline)
		}
	}
	b.WriteString(tomlEnd + newline)
	var out []byte
	if found {
		out = splice(data, from, to, b.String())
	} else {
		before, err := parseCodex(data)
		if err != nil {
			return nil, nil, err
		}
		for _, h := range before.Groups {
			if ours(h.command, a.name) {
				return data, []string{"a hook for lictor was written by hand; it is left as it is"}, nil
			}
		}
		// One line end in any case: a blank line behind a finished last line, else
		// the end of that line. remove takes exactly that away again.
		gap := ""
		if len(data) > 0 {
			gap = newline
		}
		out = append(append([]byte{}, data...), gap+b.String()...)
	}
	after, err := parseCodex(out)
	if err != nil {
		return nil, nil, fmt.Errorf("the edit would break the file, nothing is written: %w", err)
	}
	if err := sameButHooks(data, out); err != nil {
		return nil, nil, err
	}
	for _, kind := range o.Kinds {
		for _, event := range a.events[kind] {
			if !has(after.Groups, event, a.name) {
				return nil, nil, fmt.Errorf("the hook for %s would not be read where it was written: add it by hand", event)
			}
		}
	}
	return out, nil, nil
}

// inlineHooks reports whether hooks are written as values, which TOML does not let
// tables extend. Parsers differ in how strictly they say so, and Codex would not
// start with such a file, so the lines are looked at; one that only looks like it,
// in a text of several lines, is refused as well.
func inlineHooks(data []byte) bool {
	header := ""
	for _, text := range strings.Split(string(data), "\n") {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			header = strings.Trim(strings.SplitN(text, "#", 2)[0], "[] \t")
			continue
		}
		key, _, is := strings.Cut(text, "=")
		if !is || strings.HasPrefix(text, "#") {
			continue
		}
		key = strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "").Replace(key)
		if header == "" && (key == "hooks" || strings.HasPrefix(key, "hooks.")) ||
			header == "hooks" && len(claudeEvents[hook.Kind(strings.SplitN(key, ".", 2)[0])]) > 0 {
			return true
		}
	}
	return false
}

// sameButHooks checks that an edit changed nothing else: a line behind the block
// that belongs to the table before it would move to another table.
func sameButHooks(before, after []byte) error {
	var x, y map[string]any
	if _, err := toml.Decode(string(before), &x); err != nil {
		return err
	}
	if _, err := toml.Decode(string(after), &y); err != nil {
		return err
	}
	delete(x, "hooks")
	delete(y, "hooks")
	if !reflect.DeepEqual(x, y) && len(x)+len(y) > 0 {
		return fmt.Errorf("the edit would change other settings too: move lictor's lines to the end of the file by hand")
	}
	return nil
}

func has(list []codexHandler, event, agent string) bool {
	for _, h := range list {
		if h.event == event && ours(h.command, agent) {
			return true
		}
	}
	return false
}

// quoteTOML is a basic string; what JSON escapes, TOML escapes the same way.
func quoteTOML(s string) string { return quoteJSON(s) }

func (tomlEditor) remove(data []byte, exists bool, _ agent) ([]byte, error) {
	from, to, found, err := block(data)
	if err != nil {
		return nil, err
	}
	if !found {
		return keep(data, exists), nil
	}
	// A table that somebody else opened in the block would be lost with it.
	for _, text := range strings.Split(string(data[from:to]), "\n") {
		if strings.HasPrefix(strings.TrimSpace(text), "[") && !strings.HasPrefix(text, "[[hooks.") {
			return nil, fmt.Errorf("lictor's block holds another table, %s: move it out first", strings.TrimSpace(text))
		}
	}
	// The line end before the block was written with it, unless the user took the
	// blank line away that it made. Where something follows, the line ends there.
	cut := from
	newline := layoutOf(data).newline
	if bytes.HasSuffix(data[:cut], []byte(newline+newline)) || to == len(data) && bytes.HasSuffix(data[:cut], []byte(newline)) {
		cut -= len(newline)
	}
	out := splice(data, cut, to, "")
	if err := sameButHooks(data, out); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, nil
	}
	return out, nil
}

func (tomlEditor) status(data []byte, a agent, s *State) error {
	f, err := parseCodex(data)
	if err != nil {
		return err
	}
	for _, h := range f.Groups {
		if !ours(h.command, a.name) {
			continue
		}
		s.Events = append(s.Events, h.event)
		if a.decides(h.event) {
			s.Installed, s.Command = true, h.command
			s.check(a, h.event, h.command, Options{Windows: s.windows}.guarded(a.name, exit2Reason), h.other)
		}
	}
	for _, name := range []string{"hooks", "codex_hooks"} {
		if on, ok := f.Features[name].(bool); ok && !on {
			s.Problems = append(s.Problems, fmt.Sprintf("[features] %s is false: no hook runs", name))
		}
	}
	return nil
}
