package testcase

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// failing is a test that may fail.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper()               {}
func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) FailNow()              { f.failed = true; runtime.Goexit() }

// fails reports whether reading a file with this text fails the test.
func fails(t *testing.T, text string) bool {
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Rows(f, file)
	}()
	<-done
	return f.failed
}

func TestRowsAreStrict(t *testing.T) {
	assert.False(t, fails(t, `{"id":"a","area":"b","given":{}}`+"\n"+`{"id":"b","expect":[1]}`))
	for name, text := range map[string]string{
		"no case":         "",
		"blank line":      `{"id":"a"}` + "\n\n" + `{"id":"b"}`,
		"unknown member":  `{"id":"a","more":1}`,
		"trailing data":   `{"id":"a"} {"id":"b"}`,
		"trailing brace":  `{"id":"a"}}`,
		"twice":           `{"id":"a"}` + "\n" + `{"id":"a"}`,
		"too long a line": `{"id":"a"}` + "\n" + `{"id":"` + strings.Repeat("b", maxLine) + `"}`,
	} {
		assert.True(t, fails(t, text), name)
	}
}
