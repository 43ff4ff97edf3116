package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeLine reads a line into an event.
func decodeLine(line []byte) (*Event, error) {
	e := &Event{}
	if err := json.Unmarshal(line, e); err != nil {
		return nil, err
	}
	if e.Version != 1 {
		return nil, fmt.Errorf("the line format %d is unknown", e.Version)
	}
	return e, nil
}

// strictLine says what is wrong with a line's members, beyond the chain:
// unknown ones, duplicates, wrong types.
func strictLine(line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var e Event
	if err := d.Decode(&e); err != nil {
		return "the line is not an event: " + err.Error()
	}
	if e.Version != 1 || e.Type == "" {
		return "the line is not an event: no version 1 or no type"
	}
	if name := duplicateMember(line); name != "" {
		return fmt.Sprintf("the member %q stands there twice", name)
	}
	return ""
}

// duplicateMember returns a member name of the outer object that occurs twice.
func duplicateMember(line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	seen := make(map[string]bool, 32)
	depth, name := 0, true
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return ""
		}
		switch t := tok.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			name = true
			continue
		case string:
			if depth == 1 && name {
				if seen[t] {
					return t
				}
				seen[t] = true
				name = false
				continue
			}
		}
		if depth == 1 {
			name = true
		}
	}
}
