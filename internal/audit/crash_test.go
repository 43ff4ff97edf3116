package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variants are the ways to write a log.
func variants() map[string]Options {
	out := map[string]Options{}
	for _, shared := range []bool{false, true} {
		for _, checkpoint := range []bool{false, true} {
			for _, d := range []Durability{DurabilityNone, DurabilityDenials, DurabilityAlways} {
				out[fmt.Sprintf("shared=%v checkpoint=%v %s", shared, checkpoint, d)] = Options{
					Home: "/home/u", Root: "/src/p", Environ: []string{}, Mandatory: true,
					Shared: shared, Checkpoint: checkpoint, Durability: d, MaxSegmentBytes: 3000, // rotates
				}
			}
		}
	}
	return out
}

// session writes events until one fails, and returns the calls that were
// acknowledged.
func session(opt Options, from, n int) (acked []string) {
	opt.Clock = testClock()
	for range from {
		opt.Clock()
	}
	l, err := Open(opt)
	if err != nil {
		return nil
	}
	for i := range n {
		d := decided("bash", fmt.Sprintf(`{"command":"step %d"}`, i), model.Deny, "rule")
		d.Call.CallID = fmt.Sprintf("call-%d-%d", from, i)
		if l.Verdict(d) != nil {
			return acked
		}
		acked = append(acked, d.Call.CallID)
	}
	_ = l.Close()
	return acked
}

// afterCrash checks what must hold on a disk after any crash: verify never says
// tampered or truncated; the next session makes the log whole; and what was
// acknowledged is there.
func afterCrash(t *testing.T, m *memFS, opt Options, acked []string, what string) {
	t.Helper()
	dir := Dir(opt.Home, opt.Root)
	r := verify(t, dir, VerifyOptions{FS: m, Workers: 1})
	if s := r.Status; s != StatusOK && s != StatusUnanchored && s != StatusTorn {
		t.Fatalf("%s: after the crash: %s", what, r)
	}
	opt.FS = m
	// A shared segment repairs itself; those of dead processes are finished by the
	// next session of any process.
	again := session(opt, 1000, 3)
	own := opt
	own.Shared = false
	again = append(again, session(own, 2000, 2)...)
	if len(again) != 5 {
		t.Fatalf("%s: the log cannot be continued: %v", what, again)
	}
	r = verify(t, dir, VerifyOptions{FS: m, Workers: 1})
	if !r.OK() {
		t.Fatalf("%s: after the recovery: %s", what, r)
	}
	seen := map[string]bool{}
	for e, err := range Show(t.Context(), dir, Filter{FS: m}) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		seen[e.CallID] = true
	}
	for _, id := range append(acked, again...) {
		if !seen[id] {
			t.Fatalf("%s: the acknowledged event %s is lost", what, id)
		}
	}
}

// The power goes at every changing call.
func TestPowerLossAtEveryCall(t *testing.T) {
	seeds := 2
	if os.Getenv("LICTOR_SOAK") != "" {
		seeds = 200
	}
	for name, opt := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := newMemFS()
			opt.FS = whole
			require.Len(t, session(opt, 0, 6), 6)
			for k := 1; k <= whole.calls; k++ {
				m := newMemFS()
				m.budget = k
				opt.FS = m
				acked := session(opt, 0, 6)
				m.budget = -1
				for seed := range seeds {
					disk := m.crash(rand.New(rand.NewPCG(uint64(k), uint64(seed))))
					durable := acked
					if opt.Durability == DurabilityNone && !opt.Checkpoint {
						durable = nil // nothing was promised
					}
					afterCrash(t, disk, opt, durable, fmt.Sprintf("power loss at call %d, seed %d", k, seed))
				}
				// The process dies, the machine lives: what was written is there.
				afterCrash(t, m.copyOf(), opt, acked, fmt.Sprintf("death at call %d", k))
			}
		})
	}
}

// Foreign blocks in the history's torn end may hold newlines: a short line among
// them is no entry that somebody edited, neither before nor after the recovery.
func TestForeignBlocksWithNewlinesInTheHistory(t *testing.T) {
	opt := Options{Home: "/home/u", Root: "/src/p", Environ: []string{}, Mandatory: true, Checkpoint: true}
	whole := newMemFS()
	opt.FS = whole
	require.Len(t, session(opt, 0, 6), 6)
	path := filepath.Join(CheckpointDir(Dir(opt.Home, opt.Root)), historyName)
	entry := whole.live[path].data
	entry = entry[bytes.LastIndexByte(entry[:len(entry)-1], '\n')+1:]
	for _, torn := range []string{
		"\n\x8f\x90\xa0\xff\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e",
		"\x8f\nQUJD\xff\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c",
		string(entry[:40]) + "\xff\nab\n\x01\xfe\xfd\x02\x03\x04\x05\x06\x07\x08\n",
		string(entry[:40]) + "\n\xff\x01\x02\x03\x04\x05\x06\x07\x08\x0b",
		string(entry[:48]) + "\n" + string(make([]byte, 40)),
		string(make([]byte, 40)) + "\nAAAA\n",
		string(entry[:100]),
	} {
		m := whole.copyOf()
		m.live[path].data = append(m.live[path].data, torn...)
		afterCrash(t, m, opt, nil, fmt.Sprintf("torn end %q", torn))
	}
	// What is no foreign block was written by somebody, and a line that never ends too.
	for _, edited := range []string{"QUJD\n", string(entry[:40]) + "\n", "x\n\n", strings.Repeat("\xff", 5*maxCheckpoint)} {
		m := whole.copyOf()
		m.live[path].data = append(m.live[path].data, edited...)
		r := verify(t, Dir(opt.Home, opt.Root), VerifyOptions{FS: m, Workers: 1})
		assert.Equal(t, StatusTampered, r.Status, "%.40q", edited)
		own := opt
		own.FS, own.Mandatory = m, false
		session(own, 1000, 3)
		r = verify(t, Dir(opt.Home, opt.Root), VerifyOptions{FS: m, Workers: 1})
		assert.Equal(t, StatusTampered, r.Status, "not repaired: %.40q", edited)
	}
}

// counting fails the k-th call of an operation, and every one after it if
// sticky.
func counting(op string, k int, sticky bool, hits *int) func(string, string) error {
	return func(o, _ string) error {
		if o != op {
			return nil
		}
		*hits++
		if *hits == k || (sticky && *hits > k) {
			return fs.ErrInvalid
		}
		return nil
	}
}

// Every k-th write, sync, rename … fails. In mandatory mode an acknowledged
// event is in the log and one that is not acknowledged was refused; the log
// verifies in the end.
func TestEveryCallCanFail(t *testing.T) {
	ops := []string{"append", "sync", "rename", "create", "open", "truncate", "chmod", "stat", "fstat", "syncdir", "mkdir", "readdir", "readat", "lock", "own", "remove", "read"}
	for name, base := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, op := range ops {
				for _, sticky := range []bool{false, true} {
					for k := 1; k <= 60; k++ {
						hits := 0
						m := newMemFS()
						opt := base
						opt.FS = &faultFS{FS: m, fail: counting(op, k, sticky, &hits)}
						opt.Clock = testClock()
						l, err := Open(opt)
						require.NoError(t, err)
						var acked []string
						for i := range 5 {
							d := decided("bash", `{"command":"x"}`, model.Deny, "rule")
							d.Call.CallID = fmt.Sprintf("c%d", i)
							err := l.Verdict(d)
							var re *RecordError
							switch {
							case err == nil:
								acked = append(acked, d.Call.CallID)
							case !errors.As(err, &re) || !strings.Contains(err.Error(), "so the call did not run"):
								t.Fatalf("%s %d: %v", op, k, err)
							}
						}
						_ = l.Close()
						what := fmt.Sprintf("%s call %d sticky %v", op, k, sticky)
						afterCrash(t, m, base, acked, what)
						if hits < k {
							break
						}
					}
				}
			}
		})
	}
}

// A write may stop at any byte.
func TestShortWritesAtEveryByte(t *testing.T) {
	for _, stuck := range []bool{false, true} { // can the torn line be taken back?
		for _, base := range []Options{{}, {Shared: true}, {Checkpoint: true}} {
			base.Home, base.Root, base.Environ, base.Mandatory = "/home/u", "/src/p", []string{}, true
			for n := 0; n < 900; n += 7 {
				m := newMemFS()
				opt := base
				armed := false
				f := &faultFS{FS: m, short: func(path string, size int) int {
					if armed && isSegment(path) && n < size {
						armed = false
						return n
					}
					return -1
				}}
				f.fail = func(op, _ string) error {
					if stuck && op == "truncate" {
						return fs.ErrInvalid
					}
					return nil
				}
				opt.FS = f
				l, err := Open(opt)
				require.NoError(t, err)
				fill(t, l, 1)
				armed = true
				err = l.Verdict(decided("bash", `{"command":"torn"}`, model.Allow, "rule"))
				if !stuck && n < 450 {
					require.ErrorContains(t, err, "did not run")
				}
				armed = false
				fill(t, l, 1)
				_ = l.Close()
				if !stuck {
					r := verify(t, l.Dir(), VerifyOptions{FS: m, Workers: 1})
					require.True(t, r.OK(), "%d: %s", n, r)
				}
				afterCrash(t, m, base, nil, fmt.Sprintf("short write of %d bytes", n))
			}
		}
	}
}

// After a failed sync the kernel calls the next one a success: the file is not
// to be trusted, and the event is written again elsewhere.
func TestAFailedSyncMovesOn(t *testing.T) {
	m := newMemFS()
	failing := false
	f := &faultFS{FS: m, fail: func(op, path string) error {
		if failing && op == "sync" && isSegment(path) {
			failing = false
			return fs.ErrInvalid
		}
		return nil
	}}
	opt := Options{Home: "/home/u", Root: "/src/p", Environ: []string{}, Durability: DurabilityAlways, FS: f, Mandatory: true}
	l := openLog(t, opt)
	fill(t, l, 2)
	failing = true
	fill(t, l, 2)
	require.NoError(t, l.Close())
	names, err := segmentNames(m, l.Dir())
	require.NoError(t, err)
	require.Len(t, names, 2)
	list := events(t, l.Dir(), Filter{FS: m, System: true})
	assert.True(t, slices.ContainsFunc(list, func(e *Event) bool {
		return e.Type == TypeHeader && strings.Contains(e.System.Why, "a sync of "+names[0]+" failed")
	}))
	assert.Len(t, events(t, l.Dir(), Filter{FS: m}), 4)
}

// A failed checkpoint is one notice, or the error that says so; the next
// success catches up.
func TestAFailedCheckpoint(t *testing.T) {
	for _, mandatory := range []bool{false, true} {
		failing := true
		opt := testOptions(t)
		opt.Checkpoint, opt.Mandatory = true, mandatory
		opt.FS = &faultFS{FS: OSFS, fail: func(op, path string) error {
			if failing && op == "rename" && strings.HasSuffix(path, checkpointSuffix) {
				return fs.ErrPermission
			}
			return nil
		}}
		var notices []string
		opt.Notify = func(s string) { notices = append(notices, s) }
		l := openLog(t, opt)
		for range 3 {
			_, err := l.Intent(decided("bash", `{}`, model.Allow, "rule"))
			if mandatory {
				require.ErrorContains(t, err, "the line was written, but its checkpoint could not be written")
				require.ErrorContains(t, err, "so the call did not run")
				var re *RecordError
				require.True(t, errors.As(err, &re) && re.Written)
			} else {
				require.NoError(t, err)
			}
		}
		if !mandatory {
			require.Len(t, notices, 1)
			require.Contains(t, notices[0], "its checkpoint could not be written")
		}
		require.Len(t, events(t, l.Dir(), Filter{}), 3, "the lines are there, once")
		failing = false
		fill(t, l, 1)
		require.NoError(t, l.Close())
		r := verify(t, l.Dir(), VerifyOptions{})
		require.Equal(t, StatusOK, r.Status, "%s", r)
		require.Equal(t, r.Events, r.Segments[0].Anchored)
	}
}

// What is lost while the disk is full is counted.
func TestLostEventsAreCounted(t *testing.T) {
	failing := true
	opt := testOptions(t)
	now := testClock()
	opt.Clock = now
	opt.FS = &faultFS{FS: OSFS, fail: func(op, path string) error {
		if failing && op == "append" {
			return errors.New("no space left on device")
		}
		return nil
	}}
	l := openLog(t, opt)
	fill(t, l, 7)
	failing = false
	l.retryAt = now()
	fill(t, l, 1)
	s, err := CountStats(t.Context(), l.Dir(), Filter{})
	require.NoError(t, err)
	assert.Equal(t, uint64(7), s.Lost)
	assert.Equal(t, 1, s.Total)
	requireGood(t, l.Dir())
}

func TestRotation(t *testing.T) {
	for _, shared := range []bool{false, true} {
		opt := testOptions(t)
		opt.MaxSegmentBytes, opt.Shared, opt.Checkpoint = 4000, shared, true
		l := openLog(t, opt)
		fill(t, l, 50)
		require.NoError(t, l.Close())
		r := requireGood(t, l.Dir())
		assert.Greater(t, len(r.Segments), 5)
		for i, path := range segments(t, l.Dir()) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			if last := i == len(r.Segments)-1; !last {
				assert.Equal(t, finishedMode, info.Mode().Perm(), filepath.Base(path))
			}
		}
		list := events(t, l.Dir(), Filter{})
		require.Len(t, list, 50)
		for i, e := range list {
			assert.Contains(t, string(e.Args), fmt.Sprintf("git status %d\"", i), "in order over segments")
		}
	}
}
