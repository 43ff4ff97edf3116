package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/toolcall"
)

func TestTheTableReadsWhatTheSchemaLetsThrough(t *testing.T) {
	s, err := ParseSettings("settings.json", []byte(everyKey))
	require.NoError(t, err)
	table, err := toolcall.LoadTable([]byte("{}"))
	require.NoError(t, err)
	table, err = table.With(s.Tools, "settings.json")
	require.NoError(t, err)
	assert.True(t, table.Known("my_copy"))
}
