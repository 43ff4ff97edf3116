package audit

import (
	"os"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogWritesAChain(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, checkpoint := range []bool{false, true} {
			opt := testOptions(t)
			opt.Shared, opt.Checkpoint = shared, checkpoint
			l := openLog(t, opt)
			fill(t, l, 5)
			ref, err := l.Intent(decided("bash", `{"command":"make"}`, model.Allow, "rule"))
			require.NoError(t, err)
			code := 2
			require.NoError(t, l.Result(ref, &Ran{Tool: "bash", Class: AllowRule, Started: true, Exit: &code}))
			require.NoError(t, l.Hook(&HookRun{Event: "preToolUse", Command: "true", Ran: true, Exit: new(int)}))
			require.NoError(t, l.Close())
			r := requireGood(t, l.Dir())
			want := uint64(9)
			if !shared {
				want++ // the end line
			}
			assert.Equal(t, want, r.Events)
			assert.Equal(t, map[bool]Status{true: StatusOK, false: StatusUnanchored}[checkpoint], r.Status)
			list := events(t, l.Dir(), Filter{})
			require.Len(t, list, 8)
			assert.Equal(t, ref.Seq, list[6].Intent)
			assert.Equal(t, 2, *list[6].Exit)
			assert.Equal(t, "hook:preToolUse", list[7].Tool)
			info, err := os.Stat(l.Dir())
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		}
	}
}
