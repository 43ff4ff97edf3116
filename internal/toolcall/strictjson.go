package toolcall

import (
	"errors"
	"strconv"
)

// The limits of strict JSON. They bound time and memory before anything is
// decoded: agents and projects choose these documents.
const (
	// MaxSize is the largest document in bytes.
	MaxSize = 16 << 20
	// MaxDepth is how deep objects and arrays may nest.
	MaxDepth = 64
	// MaxMembers is how many members one object may have.
	MaxMembers = 1 << 16
)

// The causes of a JSONError, for errors.Is.
var (
	// ErrTooLarge: the document is larger than MaxSize.
	ErrTooLarge = errors.New("larger than 16 MiB")
	// ErrTooDeep: objects and arrays nest deeper than MaxDepth.
	ErrTooDeep = errors.New("nested deeper than 64 levels")
	// ErrTooMany: an object has more than MaxMembers members.
	ErrTooMany = errors.New("an object with more than 65536 members")
	// ErrDuplicate: a key occurs twice in one object, escapes resolved.
	ErrDuplicate = errors.New("duplicate key")
	// ErrEncoding: a byte order mark, bytes that are not UTF-8, or an escape that
	// is half of a surrogate pair.
	ErrEncoding = errors.New("not valid UTF-8")
	// ErrTrailing: something follows the document.
	ErrTrailing = errors.New("something follows the JSON document: give one document")
	// ErrSyntax: the text is not JSON.
	ErrSyntax = errors.New("malformed JSON")
	// ErrUnknownKey: a key that the target of DecodeStrict does not have.
	ErrUnknownKey = errors.New("unknown key")
	// ErrType: a value that does not fit the target of DecodeStrict.
	ErrType = errors.New("wrong type")
)

// JSONError says where and why a document is not strict JSON.
type JSONError struct {
	// Path is the key path of the place ("edits[2].path"), "" for the document.
	Path string
	// Offset is the place in bytes from the start, or -1 if only Path is known.
	Offset int
	// Cause is one of the package's errors above.
	Cause error
	// Detail says more, or is empty.
	Detail string
}

// Error names key path, reason and offset in one line.
func (e *JSONError) Error() string {
	s := e.problem()
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	return s
}

// problem is the error without its key path.
func (e *JSONError) problem() string {
	s := e.Cause.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Offset >= 0 {
		s += " (at byte " + strconv.Itoa(e.Offset) + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *JSONError) Unwrap() error { return e.Cause }

// Strict reports whether data is exactly one JSON document (RFC 8259) that every
// reader understands in the same way: no duplicate key at any depth, nothing
// behind it, no byte order mark, valid UTF-8, no half of a surrogate pair, and
// within MaxSize, MaxDepth and MaxMembers. It returns nil or a *JSONError. It
// allocates nothing for documents without large objects and escaped keys.
func Strict(data []byte) error {
	var s scanner
	if err := s.document(data, nil); err != nil {
		return err
	}
	return nil
}
