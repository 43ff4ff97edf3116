package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// jsonEditor edits a JSON file with lists of hooks by event.
type jsonEditor struct {
	// path leads to the object of events; grouped says that entries are groups with
	// a matcher and a list of handlers; version that a new file says version 1.
	path    []string
	grouped bool
	version bool
}

// entryAt is one handler of lictor's in a file.
type entryAt struct {
	event string
	// item is the entry of the event's list, handler the object with the command
	// (the same where entries are not grouped).
	item, handler *node
	command       string
}

// whole reports whether the entry holds nothing but lictor's handler.
func (e entryAt) whole() bool {
	return e.item == e.handler || len(e.handler.parent.children) == 1
}

// find lists lictor's handlers in order.
func (j jsonEditor) find(data []byte, root *node, a agent) []entryAt {
	events := root.at(j.path...)
	if events == nil || events.kind != '{' {
		return nil
	}
	var out []entryAt
	for _, list := range events.children {
		if list.kind != '[' {
			continue
		}
		for _, item := range list.children {
			handlers := []*node{item}
			if h := item.member("hooks"); h != nil && h.kind == '[' {
				handlers = h.children
			}
			for _, h := range handlers {
				if command := commandOf(data, h); ours(command, a.name) {
					out = append(out, entryAt{list.key, item, h, command})
				}
			}
		}
	}
	return out
}

// commandOf is the command of a handler under any of the names that agents use.
func commandOf(data []byte, h *node) string {
	for _, key := range []string{"command", "bash", "powershell"} {
		if s := h.member(key).text(data); s != "" {
			return s
		}
	}
	return ""
}

// open parses the file; an absent or blank one is an empty object.
func open(data []byte) ([]byte, *node, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	root, err := parseJSON(data)
	if err != nil {
		return nil, nil, err
	}
	if root.kind != '{' {
		return nil, nil, fmt.Errorf("it is no JSON object: correct the file first")
	}
	return data, root, nil
}

func (j jsonEditor) install(data []byte, _ bool, a agent, o Options) ([]byte, []string, error) {
	data, root, err := open(data)
	if err != nil {
		return nil, nil, err
	}
	if j.version && len(root.children) == 0 {
		data = add(data, root, "version", 1)
	}
	var wanted []string
	for _, kind := range o.Kinds {
		wanted = append(wanted, a.events[kind]...)
	}
	// What is there for events that are not wanted any more goes first, then what
	// stands twice or not as it should.
	if data, err = j.clear(data, a, func(e entryAt, nth int) bool {
		return !slices.Contains(wanted, e.event) || nth > 0 || !e.whole()
	}); err != nil {
		return nil, nil, err
	}
	for _, event := range wanted {
		if data, err = j.set(data, a, o, event); err != nil {
			return nil, nil, err
		}
	}
	if _, err := parseJSON(data); err != nil {
		return nil, nil, fmt.Errorf("the edit would break the file, nothing is written: %w", err)
	}
	return data, nil, nil
}

// set puts lictor's entry for one event in place.
func (j jsonEditor) set(data []byte, a agent, o Options, event string) ([]byte, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	entry := a.entry(o, event)
	for _, e := range j.find(data, root, a) {
		if e.event != event {
			continue
		}
		if sameJSON(e.item.plain(data), render(entry, layout{}, "", false)) {
			return data, nil
		}
		l := layoutOf(data)
		wide := bytes.ContainsRune(data[e.item.parent.start:e.item.parent.end], '\n')
		return splice(data, e.item.start, e.item.end, render(entry, l, indentOf(data, e.item.start), wide)), nil
	}
	out, wrong := put(data, root, append(append([]string{}, j.path...), event), entry)
	if out == nil {
		return nil, fmt.Errorf("%q is not what the agent's documentation says it is: correct the file first", wrong)
	}
	return out, nil
}

// clear drops the handlers that are not to stay; nth counts those of one event.
func (j jsonEditor) clear(data []byte, a agent, gone func(e entryAt, nth int) bool) ([]byte, error) {
	for {
		root, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		seen := map[string]int{}
		var hit *node
		for _, e := range j.find(data, root, a) {
			nth := seen[e.event]
			seen[e.event]++
			if gone(e, nth) {
				hit = e.handler
				if e.whole() {
					hit = e.item
				}
				break
			}
		}
		if hit == nil {
			return data, nil
		}
		data = drop(data, hit)
	}
}

func (j jsonEditor) remove(data []byte, exists bool, a agent) ([]byte, error) {
	if !exists || len(bytes.TrimSpace(data)) == 0 {
		return keep(data, exists), nil
	}
	_, root, err := open(data)
	if err != nil {
		return nil, err
	}
	if len(j.find(data, root, a)) == 0 {
		return data, nil
	}
	if data, err = j.clear(data, a, func(entryAt, int) bool { return true }); err != nil {
		return nil, err
	}
	if root, err = parseJSON(data); err != nil {
		return nil, fmt.Errorf("the edit would break the file, nothing is written: %w", err)
	}
	left := root.plain(data)
	if (left == "{}" || j.version && left == `{"version":1}`) && !comment(data) {
		return nil, nil
	}
	return data, nil
}

// keep is the text of a file that stays as it is; nil if there is none.
func keep(data []byte, exists bool) []byte {
	if exists && data == nil {
		return []byte{}
	}
	return data
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	ax, err1 := json.Marshal(x)
	ay, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(ax) == string(ay)
}

// compare checks an entry against what install would write.
func (j jsonEditor) compare(data []byte, e entryAt, a agent, s *State) error {
	text := []byte(render(a.entry(Options{Windows: s.windows}, e.event), layout{}, "", false))
	wanted, err := parseJSON(text)
	if err != nil {
		return err
	}
	var other []string
	// matcher is the one member whose presence makes a hole where none is written.
	if e.item.member("matcher") != nil && wanted.member("matcher") == nil && !a.anyMatcher {
		other = append(other, "matcher")
	}
	differ := func(got, want *node) {
		for _, m := range want.children {
			v := got.member(m.key)
			if slices.Contains([]string{"hooks", "command", "bash", "powershell", a.closed}, m.key) {
				continue
			}
			if v == nil || !sameJSON(v.plain(data), m.plain(text)) {
				other = append(other, m.key)
			}
		}
	}
	differ(e.item, wanted)
	handler := wanted
	if h := wanted.member("hooks"); h != nil {
		handler = h.children[0]
		differ(e.handler, handler)
	}
	s.check(a, e.event, e.command, commandOf(text, handler), other)
	return nil
}

func (j jsonEditor) status(data []byte, a agent, s *State) error {
	data, root, err := open(data)
	if err != nil {
		return err
	}
	for _, e := range j.find(data, root, a) {
		s.Installed = s.Installed || a.decides(e.event)
		s.Events = append(s.Events, e.event)
		if s.Command == "" || a.decides(e.event) {
			s.Command = e.command
		}
		if a.closed != "" && a.decides(e.event) {
			v := e.handler.member(a.closed)
			set := v != nil && (v.text(data) == "block" || string(data[v.start:v.end]) == "true")
			s.closed(set)
		}
		if a.decides(e.event) {
			if err := j.compare(data, e, a, s); err != nil {
				return err
			}
		}
	}
	for _, off := range [][]string{{"disableAllHooks"}, {"hooksDisabled"}} {
		if n := root.at(off...); n != nil && string(data[n.start:n.end]) == "true" {
			s.Problems = append(s.Problems, fmt.Sprintf("%q is true: no hook runs", off[0]))
		}
	}
	if n := root.at("hooksConfig", "enabled"); n != nil && string(data[n.start:n.end]) == "false" {
		s.Problems = append(s.Problems, `"hooksConfig.enabled" is false: no hook runs`)
	}
	return nil
}
