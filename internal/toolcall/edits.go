package toolcall

import "strings"

// fileKeys are the members that name a file in an edit of several files: those
// of agents' own formats and of the Language Server Protocol's WorkspaceEdit.
var fileKeys = map[string]bool{
	"path": true, "filePath": true, "file_path": true, "file": true, "filename": true,
	"uri": true, "oldUri": true, "newUri": true, "old_path": true, "new_path": true, "oldPath": true, "newPath": true,
}

// edits reads an object or list that names files anywhere inside: every member
// of fileKeys, the keys of a "changes" object, and the texts of a list of names.
// Without any file the call is Unextractable.
func (r *reader) edits(a *argEntry, from string, v value) error {
	before := len(r.out.Targets)
	if err := r.editsIn(a, from, v); err != nil {
		return err
	}
	if len(r.out.Targets) == before {
		r.out.Unextractable = true
	}
	return nil
}

// editsIn walks one value; MaxDepth bounds its recursion.
func (r *reader) editsIn(a *argEntry, from string, v value) error {
	switch v[0] {
	case '[':
		items, _ := v.items()
		for i, item := range items {
			at := from + index(i)
			if item[0] == '"' {
				if err := r.file(a, at, item); err != nil {
					return err
				}
				continue
			}
			if err := r.nested(a, at, item); err != nil {
				return err
			}
		}
		return nil
	case '{':
		return r.nested(a, from, v)
	case '"':
		// Some agents write the object as a JSON text.
		text, _ := v.text()
		if inner := []byte(text); text != "" && (text[0] == '{' || text[0] == '[') {
			if err := Strict(inner); err != nil {
				return r.wrong(from, "must hold strict JSON: "+err.Error())
			}
			return r.nested(a, from, inner)
		}
		return r.file(a, from, v)
	}
	return r.wrong(from, "must be an object or a list")
}

// nested walks an object or list; other values name nothing.
func (r *reader) nested(a *argEntry, from string, v value) error {
	if len(r.out.Targets) > MaxTargets {
		return nil // Decode refuses the call.
	}
	if v[0] == '[' {
		items, _ := v.items()
		for i, item := range items {
			if err := r.nested(a, from+index(i), item); err != nil {
				return err
			}
		}
		return nil
	}
	if v[0] != '{' {
		return nil
	}
	var s scanner
	var members memberList
	if err := s.document(v, &members); err != nil {
		return r.wrong(from, err.problem())
	}
	for i := range members.n {
		name := s.name(&members.at(i).key)
		inner := v[members.at(i).start:members.at(i).end]
		at := join(from, name)
		switch {
		case fileKeys[name] && inner[0] != '{' && inner[0] != '[':
			if inner[0] == 'n' {
				continue
			}
			if err := r.file(a, at, inner); err != nil {
				return err
			}
			continue
		case name == "changes" && inner[0] == '{':
			if err := r.changes(a, at, inner); err != nil {
				return err
			}
		}
		for known := range fileKeys {
			if !fileKeys[name] && strings.EqualFold(name, known) {
				return r.wrong(at, `looks like "`+known+`": write it exactly so`)
			}
		}
		if err := r.nested(a, at, inner); err != nil {
			return err
		}
	}
	return nil
}

// changes adds the files that are keys of a WorkspaceEdit's "changes".
func (r *reader) changes(a *argEntry, from string, v value) error {
	var s scanner
	var members memberList
	if err := s.document(v, &members); err != nil {
		return r.wrong(from, err.problem())
	}
	for i := range members.n {
		name := s.name(&members.at(i).key)
		if name == "" {
			return r.wrong(from, "must not have an empty file name")
		}
		if err := r.place(a, from, name); err != nil {
			return err
		}
	}
	return nil
}

// file adds the file that a value names.
func (r *reader) file(a *argEntry, from string, v value) error {
	text, ok := v.text()
	if !ok {
		return r.wrong(from, "must be a string")
	}
	if text == "" {
		return r.wrong(from, "must not be empty")
	}
	return r.place(a, from, text)
}
