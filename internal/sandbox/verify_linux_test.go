package sandbox

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	for _, e := range []Executor{Native, Bubblewrap} {
		t.Run(string(e), func(t *testing.T) {
			r, err := Verify(context.Background(), openExecutor(t, e), t.TempDir())
			require.NoError(t, err)
			assert.True(t, r.OK(), r.Table())
			assert.Len(t, r.Checks, len(verifyAttacks))
		})
	}
	_, err := Verify(context.Background(), openExecutor(t, Host), t.TempDir())
	assert.ErrorContains(t, err, "no sandbox to verify")
	t.Log(Diagnose())
}
