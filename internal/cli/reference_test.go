package cli

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the reference")

// TestReferenceIsComplete: docs/reference.md names every command and flag.
func TestReferenceIsComplete(t *testing.T) {
	const file, begin, end = "../../docs/reference.md", "<!-- commands -->\n", "<!-- end of commands -->\n"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok)
	commands, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := "\n" + reference()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+want+end+after), 0o644))
		return
	}
	assert.Equal(t, want, commands, "run go test ./internal/cli -run Reference -update")
}
