package nowhere

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGoes(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	assert.True(t, Goes(null))

	file, err := os.Create(filepath.Join(t.TempDir(), "null"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, Goes(file))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	assert.False(t, Goes(write))
	require.NoError(t, write.Close())
	assert.False(t, Goes(write), "a closed file fails by itself")
}
