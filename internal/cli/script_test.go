package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/daemon/client"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lictor":      func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"lictor-hook": func() { os.Exit(client.Main(os.Args[1:])) },
	})
}

// TestScript runs the command line as a person or an agent would: every script
// has its own project and home.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("R", filepath.Join(env.WorkDir, "repo"))
			if err := os.MkdirAll(filepath.Join(env.WorkDir, "repo", ".git"), 0o755); err != nil {
				return err
			}
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":       exitCodeIs,
			"waitfor":    waitFor,
			"changebyte": changeByte,
		},
	})
}

// exitCodeIs runs lictor and wants an exit code: code 2 lictor check …
func exitCodeIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want := args[0]; want != strconv.Itoa(got) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// waitFor runs a command until it succeeds: waitfor command args…
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitfor command args…")
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v", err)
		}
	}
}

// changeByte changes one byte in a line of the only segment below a folder:
// changebyte FOLDER LINE
func changeByte(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: changebyte folder line")
	}
	segments, err := filepath.Glob(ts.MkAbs(args[0]) + "/*/*.jsonl")
	ts.Check(err)
	if len(segments) != 1 {
		ts.Fatalf("want one segment, found %v", segments)
	}
	data, err := os.ReadFile(segments[0])
	ts.Check(err)
	line, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	at := bytes.Index(lines[line-1], []byte(`"tool":"`)) + len(`"tool":"`)
	lines[line-1][at] ^= 1
	ts.Check(os.Chmod(segments[0], 0o600))
	ts.Check(os.WriteFile(segments[0], bytes.Join(lines, nil), 0o600))
}

// A relative --root starts where the hook was started. The event's own folder moves
// while the agent works, and here into another repository.
func TestHookRootStaysWhereItIs(t *testing.T) {
	top := t.TempDir()
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	root := filepath.Join(top, "repo")
	for _, dir := range []string{filepath.Join(top, "home"), filepath.Join(root, ".lictor"), filepath.Join(root, "sub", ".git")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, ".lictor", "settings.json"), []byte(`{"permissions":{"deny":["bash(make *)"]}}`), 0o600))
	in, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": "make all"},
		"cwd": filepath.Join(root, "sub"),
	})
	require.NoError(t, err)
	t.Chdir(root)
	var out, errOut bytes.Buffer
	assert.Zero(t, Main([]string{"hook", "claude-code", "--root", "."}, bytes.NewReader(in), &out, &errOut))
	assert.Contains(t, out.String(), "bash(make *)")
}
