package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/require"
)

// testClock ticks a microsecond per call, so that logs are the same each time.
func testClock() func() time.Time {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Microsecond)
		return at
	}
}

// testOptions are those of a log in a fresh home, with a fixed environment.
func testOptions(t testing.TB) Options {
	return Options{Home: t.TempDir(), Root: "/src/proj", Environ: []string{}, Version: "test"}
}

func openLog(t testing.TB, opt Options) *Log {
	t.Helper()
	l, err := Open(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// decided is a call with a verdict.
func decided(tool, args string, decision model.Decision, by string) *Decided {
	return &Decided{
		Call:    model.Call{Tool: tool, Args: json.RawMessage(args), CallID: "call-1", Agent: "claude-code", Cwd: "/src/proj"},
		Verdict: model.Verdict{Decision: decision, By: by, Step: "6", Reason: "allowed by " + tool, Revision: "r1"},
		Mode:    model.ModeBuild, Isolation: model.IsolationOS, TargetKind: model.KindCommand,
	}
}

// fill writes n verdicts.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, l.Verdict(decided("bash", fmt.Sprintf(`{"command":"git status %d"}`, i), model.Allow, "rule")))
	}
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := segmentNames(OSFS, dir)
	require.NoError(t, err)
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	return names
}

func verify(t testing.TB, dir string, opt VerifyOptions) *Report {
	t.Helper()
	r, err := Verify(context.Background(), dir, opt)
	require.NoError(t, err)
	return r
}

func requireGood(t testing.TB, dir string) *Report {
	t.Helper()
	r := verify(t, dir, VerifyOptions{Strict: true})
	require.True(t, r.OK(), "%s\n%+v", r, r.Findings)
	return r
}

func events(t testing.TB, dir string, f Filter) []*Event {
	t.Helper()
	list, err := Collect(context.Background(), dir, f)
	require.NoError(t, err)
	return list
}

func writable(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.Chmod(path, 0o600))
}

// edit changes the bytes of a file.
func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	writable(t, path)
	p, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, change(p), 0o600))
}

// tree is every file below a folder, joined: to look for secrets.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		p, err := os.ReadFile(path)
		b.WriteString(path + "\n")
		b.Write(p)
		return err
	}))
	return b.String()
}

var bg = context.Background()
