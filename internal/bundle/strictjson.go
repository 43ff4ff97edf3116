package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// checkJSON refuses a document that two readers could read differently: a key
// that an object has twice (letter case does not count), text behind the
// document, and what is no JSON at all. A signature covers what a document
// means, not its bytes, so it must mean one thing.
func checkJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := checkValue(decoder, 0); err != nil {
		return atLine(text, decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return atLine(text, decoder.InputOffset(), errors.New("there is something behind the document"))
	}
	return nil
}

func checkValue(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth > 100 {
		return errors.New("nested deeper than 100")
	}
	seen := make(map[string]bool)
	for decoder.More() {
		if delim == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			folded := strings.ToLower(key.(string))
			if seen[folded] {
				return fmt.Errorf("the key %q is there twice", key)
			}
			seen[folded] = true
		}
		if err := checkValue(decoder, depth+1); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// lineError is an error at a line of a document.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

func atLine(text []byte, offset int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the document ends too early")
	}
	return &lineError{line: 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n")), err: err}
}

// lineOf returns the line of the first occurrence of a JSON key, or 0.
func lineOf(text []byte, key string) int {
	at := bytes.Index(text, []byte(`"`+key+`"`))
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(text[:at], []byte("\n"))
}
