package audit

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// peakHeap runs f and returns the largest heap that was in use, above what was
// there before.
func peakHeap(f func()) uint64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak.Load() - min(before.HeapInuse, peak.Load())
}

// Many events: verify and show stay small. LICTOR_AUDIT_EVENTS says how many (10
// million in a soak).
func TestVolume(t *testing.T) {
	n := 100_000
	if soak := os.Getenv("LICTOR_AUDIT_EVENTS"); soak != "" {
		var err error
		n, err = strconv.Atoi(soak)
		require.NoError(t, err)
	}
	opt := testOptions(t)
	opt.Durability = DurabilityNone
	l := openLog(t, opt)
	d := benchCall()
	for range n {
		require.NoError(t, l.Verdict(d))
	}
	require.NoError(t, l.Close())
	const limit = 48 << 20
	var r *Report
	var calls int
	assert.Less(t, peakHeap(func() {
		r = verify(t, l.Dir(), VerifyOptions{Progress: func(done, total int64) {
			calls++
			assert.LessOrEqual(t, done, total)
		}})
	}), uint64(limit), "verify")
	require.Equal(t, StatusUnanchored, r.Status, "%s", r)
	require.GreaterOrEqual(t, r.Events, uint64(n))
	require.Positive(t, calls)
	count := 0
	assert.Less(t, peakHeap(func() {
		for e, err := range Show(t.Context(), l.Dir(), Filter{}) {
			require.NoError(t, err)
			require.NotEmpty(t, e.Tool)
			count++
		}
	}), uint64(limit), "show")
	require.Equal(t, n, count)
	ten := 10
	require.Len(t, events(t, l.Dir(), Filter{Limit: &ten}), 10)
}
