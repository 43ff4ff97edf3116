package sandbox

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// killRounds is 50, or LICTOR_SOAK's number (200 if it is no number).
func killRounds() int {
	v := os.Getenv("LICTOR_SOAK")
	if v == "" {
		return 50
	}
	if n, err := strconv.Atoi(v); err == nil && n > 1 {
		return n
	}
	return 200
}

// TestMain runs the tests, or is the process that TestKill starts and kills.
func TestMain(m *testing.M) {
	root := os.Getenv("LICTOR_TEST_KILL_ROOT")
	// Under nohup, everything that is started would ignore a hangup; a signal that
	// is caught here is at its default there.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if root == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, runUntilKilled(root))
	os.Exit(1)
}

// runUntilKilled runs commands that leave processes behind, over and over.
func runUntilKilled(root string) error {
	p, err := NewPolicy(Input{Root: root, Home: os.Getenv("LICTOR_TEST_KILL_HOME"), Sandbox: true})
	if err != nil {
		return err
	}
	s, err := Open(Selection{Setting: os.Getenv("LICTOR_TEST_KILL_EXECUTOR")})
	if err != nil {
		return err
	}
	mark := os.Getenv("LICTOR_TEST_KILL_MARK")
	fmt.Println("ready")
	for {
		if _, err := s.Run(context.Background(), p, sh("setsid -f sleep "+mark+"; sleep "+mark+" & sleep 0.0"+fmt.Sprint(rand.IntN(9)))); err != nil {
			return err
		}
	}
}

// lictor is killed at random moments: nothing may be left of its sandboxes, and the
// next start takes away the placeholders.
func TestKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	self, err := os.Executable()
	require.NoError(t, err)
	p := project(t, nil)
	rounds := killRounds()
	for i := range rounds {
		e := []Executor{Native, Bubblewrap, Native, Landlock}[i%4]
		if e == Bubblewrap && checkBwrap() != nil {
			t.Log("EXECUTOR bwrap NOT TESTED")
			continue
		}
		mark := fmt.Sprintf("33%d.%d", os.Getpid(), i+1)
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "LICTOR_TEST_KILL_ROOT="+p.Root, "LICTOR_TEST_KILL_HOME="+p.Home,
			"LICTOR_TEST_KILL_EXECUTOR="+string(e), "LICTOR_TEST_KILL_MARK="+mark)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		b := make([]byte, 5)
		_, err = io.ReadFull(out, b)
		require.NoError(t, err, "the process that is to be killed did not start to run")
		time.Sleep(time.Duration(rnd.IntN(60_000)) * time.Microsecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		assertGone(t, mark)
	}
	assert.Eventually(t, func() bool {
		out, _ := exec.Command("pgrep", "-f", "^(bwrap|lictor)( |$)").Output()
		for _, pid := range strings.Fields(string(out)) {
			env, _ := os.ReadFile("/proc/" + pid + "/environ")
			parent, _ := exec.Command("ps", "-o", "ppid=", "-p", pid).Output()
			if strings.Contains(string(env), "LICTOR_BOOT") && strings.TrimSpace(string(parent)) == "1" {
				return false
			}
		}
		return true
	}, 5*time.Second, 50*time.Millisecond, "a helper is left")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	assert.NotContains(t, string(mounts), p.Root, "a mount is left")
	res := mustRun(t, openExecutor(t, Native), p, sh("true"))
	assert.Zero(t, res.ExitCode)
	assertNoPlaceholders(t, p)
	left, err := filepath.Glob(filepath.Join(p.StateDir, "sandbox", "*.json"))
	require.NoError(t, err)
	assert.Empty(t, left, "a registration is left")
}

// A placeholder that somebody put something into stays; one of a dead run goes.
func TestReclaim(t *testing.T) {
	p := project(t, nil)
	r, err := openRegistry(p.StateDir)
	require.NoError(t, err)
	pl, _, err := makePlan(context.Background(), p, Native)
	require.NoError(t, err)
	reg, err := r.hold(pl)
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(p.Root, ".claude"))
	require.NoError(t, Reclaim(p.StateDir))
	require.DirExists(t, filepath.Join(p.Root, ".claude"), "a live run keeps it")
	require.NoError(t, os.WriteFile(filepath.Join(p.Root, ".claude", "settings.json"), nil, 0o600))
	require.NoError(t, os.Remove(filepath.Join(p.Root, ".codex")))
	require.NoError(t, os.Mkdir(filepath.Join(p.Root, ".other"), 0o700)) // takes the inode, perhaps
	require.NoError(t, os.Mkdir(filepath.Join(p.Root, ".codex"), 0o700))
	_ = reg.file.Close() // as a killed process does
	require.NoError(t, Reclaim(p.StateDir))
	assert.FileExists(t, filepath.Join(p.Root, ".claude", "settings.json"), "somebody's file")
	assert.NoDirExists(t, filepath.Join(p.Root, ".lictor"))
	require.NoError(t, Reclaim(p.StateDir))
}
