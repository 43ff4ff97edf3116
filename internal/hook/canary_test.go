package hook

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// TestCanaries decode as calls, so that it is the engine that denies them.
func TestCanaries(t *testing.T) {
	for _, name := range Names() {
		d, err := Find(name)
		require.NoError(t, err)
		in, err := Canary(name, `/a "b"`)
		require.NoError(t, err)
		e, err := d.Decode(in)
		require.NoError(t, err, name)
		assert.Equal(t, PreToolUse, e.Kind)
		assert.JSONEq(t, `{}`, string(e.Call.Args))
		assert.Equal(t, `/a "b"`, e.Call.Cwd)
		assert.True(t, Denies(d.Block("x")), name)
		assert.False(t, Decided(d.Block("x")), name)
		assert.True(t, Decided(d.Answer(e, &model.Verdict{Decision: model.Deny, Reason: "Bash: command: is missing"}, Options{})), name)
		assert.True(t, Denies(d.Answer(e, &model.Verdict{Decision: model.Deny}, Options{})), name)
		assert.False(t, Denies(d.Answer(e, &model.Verdict{Decision: model.Allow}, Options{})), name)
	}
	_, err := Canary("nobody", "/")
	assert.Error(t, err)
	assert.False(t, Denies(Reply{}))
}
