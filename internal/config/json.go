package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of a configuration document. The deepest documented one needs eight
// levels, the longest lists of rules some ten thousand values.
const (
	maxDepth  = 64
	maxValues = 50_000
)

// document is a strictly read JSON text and its value.
type document struct {
	value any
	text  []byte
}

// syntaxError is a fault in a JSON text with its line.
type syntaxError struct {
	line int
	err  error
}

func (e *syntaxError) Error() string { return e.err.Error() }

// parseJSON reads exactly one JSON value: no duplicate keys, no trailing data,
// at most maxDepth levels. Numbers stay json.Number.
func parseJSON(text []byte) (*document, error) {
	// The depth comes first, from a plain scan: the readers below recurse.
	if err := checkDepth(text); err != nil {
		return nil, err
	}
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	p := &parser{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	p.decoder.UseNumber()
	value, err := p.value(nil)
	if err != nil {
		line := 1 + bytes.Count(text[:min(int(p.decoder.InputOffset()), len(text))], []byte("\n"))
		return nil, &syntaxError{line, err}
	}
	return &document{value: value, text: text}, nil
}

// checkSyntax finds the place of a syntax error, which a reader of tokens only
// knows roughly.
func checkSyntax(text []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return &syntaxError{1, err}
	}
	line := 1 + bytes.Count(text[:min(max(int(syntax.Offset)-1, 0), len(text))], []byte("\n"))
	switch reason := err.Error(); {
	case strings.HasSuffix(reason, "after top-level value"):
		return &syntaxError{line, errors.New("there is more text after the end of the JSON document")}
	case strings.HasPrefix(reason, "unexpected end"):
		line = 1 + bytes.Count(text, []byte("\n"))
		return &syntaxError{line, errors.New("is not valid JSON: the text ends too early")}
	}
	return &syntaxError{line, fmt.Errorf("is not valid JSON: %w", err)}
}

func checkDepth(text []byte) error {
	depth, inString, line := 0, false, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			line++
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return &syntaxError{line, fmt.Errorf("is nested deeper than %d levels", maxDepth)}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// parser walks the tokens of one text, whose syntax has been checked.
type parser struct {
	text    []byte
	decoder *json.Decoder
	values  int
}

// step is one key or index on the way to a value. Steps are linked, so that a
// path costs nothing until an error needs it.
type step struct {
	outer *step
	key   string
}

func (s *step) path() []string {
	if s == nil {
		return nil
	}
	return append(s.outer.path(), s.key)
}

func (p *parser) value(at *step) (any, error) {
	if p.values++; p.values > maxValues {
		return nil, fmt.Errorf("has more than %d values", maxValues)
	}
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return p.object(at)
	case json.Delim('['):
		return p.array(at)
	}
	if number, ok := token.(json.Number); ok && !sensible(number) {
		return nil, errors.New("a number is too long or too large")
	}
	return token, nil
}

func (p *parser) object(at *step) (any, error) {
	object := map[string]any{}
	for p.decoder.More() {
		token, err := p.decoder.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("is not valid JSON: a key must be a string")
		}
		inner := &step{at, key}
		if _, double := object[key]; double {
			return nil, fmt.Errorf("key %s stands there twice", displayPath(inner.path()))
		}
		if object[key], err = p.value(inner); err != nil {
			return nil, err
		}
	}
	_, err := p.decoder.Token() // the closing brace
	return object, err
}

func (p *parser) array(at *step) (any, error) {
	array := []any{}
	for p.decoder.More() {
		item, err := p.value(&step{at, strconv.Itoa(len(array))})
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := p.decoder.Token() // the closing bracket
	return array, err
}

// maxNumber and maxExponent bound numbers: exact arithmetic with 1e999999 takes
// its time, and no key needs it.
const (
	maxNumber   = 40
	maxExponent = 300
)

func sensible(number json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(number)), "e")
	n, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	return len(number) <= maxNumber && (exponent == "" || err == nil && n >= -maxExponent && n <= maxExponent)
}
