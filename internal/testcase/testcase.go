// Package testcase reads the case files in testdata folders. It is for tests.
//
// Reading is strict, so that no case and no part of one is passed over: a member
// that the test does not know, anything behind a value, an id that stands there
// twice, a line that is too long and a file without cases fail the test.
package testcase

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxLine is how many bytes a line may have.
const maxLine = 1 << 20

// Row is a case of the usual form. Given, Input and Expect are decoded by the
// test of the row's area, with Strict.
type Row struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Given  json.RawMessage `json:"given"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

// Rows returns the cases of a file whose lines have the usual form, in order.
func Rows(t testing.TB, file string) []Row {
	t.Helper()
	rows := Lines[Row](t, file)
	seen := map[string]bool{}
	for _, row := range rows {
		require.False(t, seen[row.ID], "%s: %s stands there twice", file, row.ID)
		seen[row.ID] = true
	}
	return rows
}

// Lines returns the lines of a file of JSON lines, in order.
func Lines[T any](t testing.TB, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	var rows []T
	for lines.Scan() {
		var row T
		Strict(t, lines.Bytes(), &row)
		rows = append(rows, row)
	}
	require.NoError(t, lines.Err(), file)
	require.NotEmpty(t, rows, file)
	return rows
}

// Strict decodes JSON.
func Strict(t testing.TB, data []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), "%s", data)
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF, "trailing data: %s", data)
}
