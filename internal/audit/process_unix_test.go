//go:build unix

package audit

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childEnv makes this test binary a process that does one thing and exits.
const childEnv = "LICTOR_AUDIT_TEST_CHILD"

var children = map[string]func(args []string) error{
	"write": childWrite, "hold": childHold, "limit": childLimit, "full": childFull,
}

func TestMain(m *testing.M) {
	if do := os.Getenv(childEnv); do != "" {
		name, rest, _ := strings.Cut(do, " ")
		if err := children[name](strings.Fields(rest)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, do string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+do)
	return cmd
}

func soaking() bool { return os.Getenv("LICTOR_SOAK") != "" }

// childWrite writes events as fast as it can and says which are acknowledged.
// Arguments: home, name, shared, checkpoint.
func childWrite(args []string) error {
	opt := Options{
		Home: args[0], Root: "/src/p", Environ: []string{}, Mandatory: true, Durability: DurabilityNone,
		Shared: args[2] == "true", Checkpoint: args[3] == "true", MaxSegmentBytes: 100_000,
	}
	l, err := Open(opt)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		d := decided("bash", `{"command":"`+strings.Repeat("x", (i*371)%5000)+`"}`, model.Allow, "rule")
		d.Call.CallID = args[1] + "-" + strconv.Itoa(i)
		if err := l.Verdict(d); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString(d.Call.CallID + "\n"); err != nil {
			return err
		}
	}
}

// Writers are killed at any moment, four at a time, on one log: no acknowledged
// event is lost, verify never says tampered, and the next session makes the log
// whole.
func TestKilledWriters(t *testing.T) {
	rounds := 50
	if soaking() {
		rounds = 1000
	}
	home := t.TempDir()
	dir := Dir(home, "/src/p")
	acked := map[string]bool{}
	for round := range rounds {
		if round%10 == 0 { // a fresh log now and then keeps the checks quick
			home = t.TempDir()
			dir = Dir(home, "/src/p")
			acked = map[string]bool{}
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		for w := range 4 {
			cmd := child(t, fmt.Sprintf("write %s r%dw%d %v %v", home, round, w, w%2 == 0, w < 2))
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			delay := time.Duration(rand.IntN(6000)) * time.Microsecond
			wg.Go(func() {
				r := bufio.NewReader(out)
				for n := 0; ; n++ {
					line, err := r.ReadString('\n')
					if err != nil {
						break
					}
					mu.Lock()
					acked[strings.TrimSpace(line)] = true
					mu.Unlock()
					if n == 0 {
						time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
					}
				}
				_ = cmd.Wait()
			})
		}
		wg.Wait()
		r := verify(t, dir, VerifyOptions{})
		if !r.OK() && r.Status != StatusTorn {
			t.Fatalf("round %d: %s", round, r)
		}
		if round%3 == 0 {
			for _, shared := range []bool{true, false} {
				l := openLog(t, Options{Home: home, Root: "/src/p", Environ: []string{}, Mandatory: true, Shared: shared, Checkpoint: true})
				fill(t, l, 1)
				require.NoError(t, l.Close())
			}
			r := verify(t, dir, VerifyOptions{Strict: true})
			require.True(t, r.OK(), "round %d: %s", round, r)
		}
		have := map[string]bool{}
		for e, err := range Show(t.Context(), dir, Filter{}) {
			if err == nil {
				have[e.CallID] = true
			}
		}
		for id := range acked {
			require.True(t, have[id] || strings.HasPrefix(id, "error"), "round %d: %s is lost", round, id)
			require.False(t, strings.HasPrefix(id, "error"), id)
		}
	}
}

// childHold takes the lock of the shared segment and stops.
func childHold(args []string) error {
	lock, err := OSFS.OpenLock(args[0])
	if err != nil {
		return err
	}
	if err := lock.Lock(time.Second); err != nil {
		return err
	}
	fmt.Println("locked")
	return unix.Kill(os.Getpid(), unix.SIGSTOP)
}

// A stopped process that holds the lock does not stop everybody else.
func TestStoppedLockHolder(t *testing.T) {
	opt := testOptions(t)
	opt.Shared, opt.LockTimeout, opt.Mandatory = true, 100*time.Millisecond, true
	l := openLog(t, opt)
	fill(t, l, 2)
	cmd := child(t, "hold "+filepath.Join(l.Dir(), lockName))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	start := time.Now()
	fill(t, l, 3)
	assert.Less(t, time.Since(start), 5*time.Second)
	require.NoError(t, l.Close())
	requireGood(t, l.Dir())
	assert.Len(t, events(t, l.Dir(), Filter{}), 5)
	assert.Len(t, segments(t, l.Dir()), 2, "this process went on in a segment of its own")
}

// childLimit writes under every file size limit and checks the log each time.
// Arguments: a folder, the first limit, the step.
func childLimit(args []string) error {
	from, _ := strconv.Atoi(args[1])
	step, _ := strconv.Atoi(args[2])
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for n := from; n < 2600; n += step {
		for v, opt := range []Options{{}, {Shared: true}, {Checkpoint: true}} {
			opt.Home, opt.Root, opt.Environ, opt.Mandatory = filepath.Join(args[0], fmt.Sprint(n, "-", v)), "/src/p", []string{}, true
			opt.Durability = DurabilityNone
			dir := Dir(opt.Home, opt.Root)
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(n), Max: old.Max}); err != nil {
				return err
			}
			l, err := Open(opt)
			acked := 0
			for err == nil && acked < 5 {
				if err = l.Verdict(decided("bash", `{"command":"x"}`, model.Allow, "rule")); err == nil {
					acked++
				}
			}
			_ = l.Close()
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
				return err
			}
			if err == nil {
				return fmt.Errorf("limit %d was not met", n)
			}
			if !strings.Contains(err.Error(), "did not run") {
				return fmt.Errorf("limit %d: %w", n, err)
			}
			if acked == 0 && n < 400 {
				continue // not even a folder's worth of log
			}
			if err := childCheck(dir, acked); err != nil {
				return fmt.Errorf("limit %d variant %d: %w", n, v, err)
			}
			if err := os.RemoveAll(opt.Home); err != nil {
				return err
			}
		}
	}
	return nil
}

func childCheck(dir string, acked int) error {
	r, err := Verify(bg, dir, VerifyOptions{Workers: 1})
	if err != nil {
		return err
	}
	if !r.OK() {
		return fmt.Errorf("%s", r)
	}
	n := 0
	for _, err := range Show(bg, dir, Filter{Types: []Type{TypeVerdict}}) {
		if err != nil {
			return err
		}
		n++
	}
	if n < acked || n > acked+1 { // one line may be there whose checkpoint failed
		return fmt.Errorf("%d events, %d acknowledged", n, acked)
	}
	return nil
}

// RLIMIT_FSIZE cuts a write at exactly one byte.
func TestFileSizeLimit(t *testing.T) {
	step := 13
	if soaking() {
		step = 1
	}
	out, err := child(t, fmt.Sprintf("limit %s 0 %d", t.TempDir(), step)).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A folder that is removed, moved away or replaced under a writer: the event
// that is acknowledged is in the folder that is there, and the trouble is on
// record.
func TestFolderUnderAWriter(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"moved":   func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+".away")) },
		"replaced": func(t *testing.T, dir string) {
			seg := segments(t, dir)[0]
			p, err := os.ReadFile(seg)
			require.NoError(t, err)
			require.NoError(t, os.Remove(seg))
			require.NoError(t, os.WriteFile(seg, p, 0o600))
		},
		"cut": func(t *testing.T, dir string) { require.NoError(t, os.Truncate(segments(t, dir)[0], 700)) },
	} {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s shared=%v", name, shared), func(t *testing.T) {
				opt := testOptions(t)
				opt.Shared, opt.Mandatory = shared, true
				var notices []string
				opt.Notify = func(s string) { notices = append(notices, s) }
				l := openLog(t, opt)
				fill(t, l, 3)
				harm(t, l.Dir())
				fill(t, l, 2)
				require.NoError(t, l.Close())
				require.NotEmpty(t, notices)
				r := verify(t, l.Dir(), VerifyOptions{})
				assert.Contains(t, []Status{StatusConflict, StatusTampered}, r.Status, "%s", r)
				count := map[Type]int{}
				for e, err := range Show(t.Context(), l.Dir(), Filter{System: true}) {
					if err == nil { // the cut line is one
						count[e.Type]++
					}
				}
				assert.Equal(t, 1, count[TypeConflict])
				assert.GreaterOrEqual(t, count[TypeVerdict], 2)
			})
		}
	}
}

// A conflict stays until somebody acknowledges it, and the acknowledgement is
// about exactly this state.
func TestConflictsAreSticky(t *testing.T) {
	opt := testOptions(t)
	opt.Checkpoint, opt.Shared = true, true
	l := openLog(t, opt)
	fill(t, l, 5)
	require.NoError(t, l.Close())
	seg := segments(t, l.Dir())[0]
	edit(t, seg, func(p []byte) []byte { return bytes.Join(lines(p)[:3], nil) })
	before, err := os.ReadFile(seg)
	require.NoError(t, err)
	for range 3 { // later commands do not launder it
		l := openLog(t, opt)
		fill(t, l, 1)
		require.NoError(t, l.Close())
		r := verify(t, l.Dir(), VerifyOptions{})
		assert.False(t, r.OK())
	}
	after, err := os.ReadFile(seg)
	require.NoError(t, err)
	assert.Equal(t, before, after, "the cut segment is never written to again")
	assert.Len(t, events(t, l.Dir(), Filter{Types: []Type{TypeConflict}}), 1)

	done, err := Ack(t.Context(), opt, VerifyOptions{}, "ana", "the disk was restored from a backup")
	require.NoError(t, err)
	require.Len(t, done, 2, "the conflict and the cut segment: %v", done)
	r := verify(t, l.Dir(), VerifyOptions{})
	assert.True(t, r.OK(), "%s", r)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "acknowledged by ana")
	edit(t, seg, func(p []byte) []byte { return bytes.Join(lines(p)[:2], nil) })
	assert.False(t, verify(t, l.Dir(), VerifyOptions{}).OK(), "another cut is found again")
	_, err = Ack(t.Context(), opt, VerifyOptions{}, "", "")
	assert.Error(t, err)
}

// With a key, an acknowledgement that no signed checkpoint covers does not
// count; and anchors cannot be acknowledged.
func TestAcknowledgementsNeedTheKey(t *testing.T) {
	skey, vkey, err := GenerateKey("k")
	require.NoError(t, err)
	opt := testOptions(t)
	opt.Checkpoint, opt.SignKey = true, skey
	l := openLog(t, opt)
	fill(t, l, 5)
	anchors, err := Head(l.Dir(), nil)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	edit(t, segments(t, l.Dir())[0], func(p []byte) []byte { return bytes.Join(lines(p)[:3], nil) })
	keys := VerifyOptions{Keys: []string{vkey}}

	forger := opt
	forger.SignKey, forger.Checkpoint = "", false
	_, err = Ack(t.Context(), forger, VerifyOptions{}, "mallory", "nothing to see")
	require.NoError(t, err)
	assert.True(t, verify(t, l.Dir(), VerifyOptions{}).OK(), "without the key it looks fine")
	assert.False(t, verify(t, l.Dir(), keys).OK())

	_, err = Ack(t.Context(), opt, keys, "ana", "seen")
	require.NoError(t, err)
	assert.True(t, verify(t, l.Dir(), keys).OK(), "%s", verify(t, l.Dir(), keys))
	keys.Anchors = anchors
	assert.Equal(t, StatusTruncated, verify(t, l.Dir(), keys).Status)
}
