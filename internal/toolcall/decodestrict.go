package toolcall

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
)

// DecodeStrict decodes a document that passes Strict into v, a pointer as for
// json.Unmarshal, and refuses keys that v does not have. Unlike encoding/json it
// compares keys exactly, so `{"Deny":[]}` does not pass for "deny". Types with
// their own UnmarshalJSON decide about their part themselves. Every error is a
// *JSONError.
func DecodeStrict(data []byte, v any) error {
	if err := Strict(data); err != nil {
		return err
	}
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return &JSONError{Offset: -1, Cause: ErrType, Detail: "DecodeStrict needs a pointer"}
	}
	if err := knownKeys(data, t, ""); err != nil {
		return err
	}
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &JSONError{Path: wrong.Field, Offset: int(wrong.Offset), Cause: ErrType, Detail: wrong.Value + " where " + typeName(wrong.Type) + " is needed"}
	}
	return &JSONError{Offset: -1, Cause: ErrType, Detail: err.Error()}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// knownKeys checks the keys of a strict document against the type it will be
// decoded into. Its recursion is bounded by MaxDepth.
func knownKeys(raw json.RawMessage, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		if t.Implements(unmarshaler) {
			return nil
		}
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		if len(raw) == 0 || raw[0] != '{' {
			return nil
		}
		return knownMembers(raw, t, path)
	case reflect.Slice, reflect.Array:
		if len(raw) == 0 || raw[0] != '[' {
			return nil
		}
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil
		}
		for i, item := range items {
			if err := knownKeys(item, t.Elem(), path+index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func knownMembers(raw json.RawMessage, t reflect.Type, path string) error {
	var s scanner
	var members memberList
	if err := s.document(raw, &members); err != nil {
		return err
	}
	var fields map[string]reflect.Type
	if t.Kind() == reflect.Struct {
		fields = fieldTypes(t)
	}
	for i := range members.n {
		name := s.name(&members.at(i).key)
		at := join(path, name)
		var elem reflect.Type
		if fields == nil {
			elem = t.Elem()
		} else if elem = fields[name]; elem == nil {
			names := make([]string, 0, len(fields))
			for known := range fields {
				names = append(names, known)
			}
			return &JSONError{Path: at, Offset: -1, Cause: ErrUnknownKey, Detail: didYouMean(name, names)}
		}
		if err := knownKeys(raw[members.at(i).start:members.at(i).end], elem, at); err != nil {
			return err
		}
	}
	return nil
}

// typeFields are the answers of fieldTypes by type: there are a handful of types
// and hundreds of documents.
var typeFields sync.Map

// fieldTypes are the JSON names of a struct's fields, those of embedded structs
// included. The map is shared: never change it.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	if known, ok := typeFields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := make(map[string]reflect.Type, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" || f.Anonymous && name == "" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, there := fields[name]; !there {
			fields[name] = f.Type
		}
	}
	typeFields.Store(t, fields)
	return fields
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "a number"
}

// join appends a key to a key path.
func join(path, key string) string {
	if path == "" {
		return shown(key)
	}
	return path + "." + shown(key)
}
