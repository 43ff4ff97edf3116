package approve

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// FuzzDecision checks that whatever stands in the store, an answer is either
// read as one of the five or is a denial.
func FuzzDecision(f *testing.F) {
	f.Add([]byte(`{"id":"aaaaaaaaaa","outcome":"answered","reply":{"answer":"once","by":"a","from":"b","at":"2026-01-01T00:00:00Z"},"question":"x"}`))
	f.Add([]byte(`{"id":"aaaaaaaaaa"}{}`))
	f.Add([]byte("null"))
	s := store{dir: f.TempDir()}
	require.NoError(f, os.Chmod(s.dir, 0o700))
	r := change(threeLines())
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(s.path("aaaaaaaaaa"+decisionFile), data, 0o600))
		d, err := s.decision("aaaaaaaaaa")
		if err != nil {
			return
		}
		require.Equal(t, "aaaaaaaaaa", d.ID)
		reply, err := Checked(&r, d.Reply)
		if err != nil {
			require.Equal(t, model.AnswerDeny, reply.Answer)
			return
		}
		require.Contains(t, Choices(&r), reply.Answer)
		if reply.Answer.Allows() && reply.Hunks != nil {
			require.NotEmpty(t, reply.Hunks)
		}
	})
}

func FuzzParseHunks(f *testing.F) {
	f.Add("1,3-5", 5)
	f.Add("all", 3)
	f.Add(" - ", 1)
	f.Fuzz(func(t *testing.T, text string, all int) {
		all = min(max(all, 0), 1000)
		if len(text) > 2000 {
			return
		}
		got, err := ParseHunks(text, all)
		if err != nil {
			return
		}
		for i, n := range got {
			require.True(t, n >= 1 && n <= all && (i == 0 || got[i-1] < n))
		}
	})
}
