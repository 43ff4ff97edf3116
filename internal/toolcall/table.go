package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Table says of every known tool which targets its calls have (SPEC section 1).
// It is immutable and safe for concurrent use.
type Table struct {
	tools map[string]*tool
}

// LoadTable reads the table of tools: a strict JSON object of entries by tool
// name, the format of tools.json. A key "$comment" is skipped. It fails with the
// tool's name at the first entry that contradicts itself.
func LoadTable(data []byte) (*Table, error) {
	t := &Table{tools: map[string]*tool{}}
	if err := t.load(data, false); err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	return t, nil
}

// With returns a table with more tools: extra has the format of LoadTable, and
// source names the file that it comes from in errors. Additions only add. A name
// that the table has already, or one that belongs to MCP servers, is an error,
// and so is a tool with paths or commands that calls itself read-only; another
// name of such a tool is never read-only. t itself stays as it is.
func (t *Table) With(extra []byte, source string) (*Table, error) {
	more := &Table{tools: maps.Clone(t.tools)}
	if err := more.load(extra, true); err != nil {
		return nil, fmt.Errorf("%s: tools: %w", source, err)
	}
	return more, nil
}

// commentKey is a member of the table that is no tool.
const commentKey = "$comment"

// maxName is the longest tool name in bytes.
const maxName = 200

func (t *Table) load(data []byte, added bool) error {
	var raw map[string]json.RawMessage
	if err := DecodeStrict(data, &raw); err != nil {
		return err
	}
	if raw == nil {
		return errors.New("an object of tools by name is needed")
	}
	entries := make(map[string]*entry, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if name == commentKey {
			continue
		}
		e := &entry{}
		if err := DecodeStrict(raw[name], e); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if err := t.free(name, added); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		entries[name] = e
	}
	// Other names come after the tools that they name.
	for _, alias := range []bool{false, true} {
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			e := entries[name]
			if (e.Is != "") != alias {
				continue
			}
			var base *tool
			if alias {
				if base = t.tools[e.Is]; base == nil || base.canonical != base.name {
					return fmt.Errorf("%q: \"is\" names %q, which is no tool with an entry of its own", name, e.Is)
				}
			}
			made, err := compile(name, e, base, added)
			if err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			t.tools[name] = made
		}
	}
	return nil
}

// free reports why a name cannot be given to a tool.
func (t *Table) free(name string, added bool) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a tool's name has 1 to %d bytes", maxName)
	}
	if _, mcp := parseMCP(name); mcp {
		return errors.New("tools of MCP servers need no entry: write rules for MCP(server/tool)")
	}
	if _, there := t.tools[name]; there && added {
		return errors.New("the table has this tool already, and additions cannot change it")
	}
	return nil
}

// Known reports whether the table has an entry for the name, as an agent or a
// rule says it. Tools of MCP servers have none.
func (t *Table) Known(name string) bool { return t.tools[name] != nil }

// Canonical returns the one name that verdicts and session rules use for a tool:
// "bash" for "Bash" and "run_shell_command", "mcp__server__tool" for every
// spelling of an MCP tool. An unknown name is its own canonical name.
func (t *Table) Canonical(name string) string {
	if known := t.tools[name]; known != nil {
		return known.canonical
	}
	if m, ok := parseMCP(name); ok {
		return m.canonical(name)
	}
	return name
}

// Class returns the permission-file class of a tool by any of its names, "MCP"
// for tools of MCP servers, or "" if it has none or is unknown.
func (t *Table) Class(name string) string {
	if known := t.tools[name]; known != nil {
		return known.class
	}
	if _, ok := parseMCP(name); ok {
		return classMCP
	}
	return ""
}

// KindOf returns the kind of a tool's main targets by any of its names, input for
// tools of MCP servers, or "" for a tool that the table does not know (whose
// calls have one input target).
func (t *Table) KindOf(name string) model.Kind {
	if known := t.tools[name]; known != nil {
		return known.kind
	}
	if _, ok := parseMCP(name); ok {
		return model.KindInput
	}
	return ""
}

// resembles reports whether a name is that of a known tool but for letter case
// and blanks around it.
func (t *Table) resembles(name string) bool {
	name = strings.TrimSpace(name)
	for known := range t.tools {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

// Names returns every name that the table knows, sorted, other names of tools
// included: for messages such as "did you mean".
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.tools)) }

// Canonicals returns the canonical names that the table knows, sorted.
func (t *Table) Canonicals() []string {
	var names []string
	for name, known := range t.tools {
		if known.canonical == name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Suggest returns the known name nearest to an unknown one, or "".
func (t *Table) Suggest(name string) string { return nearest(name, t.Names()) }
