package toolcall

import (
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/rego"
	"github.com/stretchr/testify/require"
)

// builtin is the table that ships.
func builtin(t testing.TB) *Table {
	t.Helper()
	table, err := LoadTable(rego.Tools)
	require.NoError(t, err)
	return table
}

func call(tool, args string) model.Call { return model.Call{Tool: tool, Args: []byte(args)} }
