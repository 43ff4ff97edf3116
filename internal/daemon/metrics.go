//go:build unix

package daemon

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// metrics are counters only: their number is fixed, so they take no memory with
// time.
type metrics struct {
	started                             time.Time
	allow, deny, ask, refused, cold     atomic.Uint64
	opened, closed, reloads, failures   atomic.Uint64
	connections, rejected, unauthorised atomic.Uint64
	panics                              atomic.Uint64
	buckets                             [len(bounds) + 1]atomic.Uint64
	nanoseconds                         atomic.Uint64
}

// bounds of the histogram of answer times.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 100 * time.Millisecond, time.Second,
}

func (m *metrics) verdict(d model.Decision) {
	switch d {
	case model.Allow:
		m.allow.Add(1)
	case model.Ask:
		m.ask.Add(1)
	default:
		m.deny.Add(1)
	}
}

func (m *metrics) took(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	m.buckets[i].Add(1)
	m.nanoseconds.Add(uint64(d))
}

// text is the Prometheus text format, version 0.0.4.
func (m *metrics) text(engines int) string {
	var b strings.Builder
	one := func(name, kind, help string, value uint64) {
		fmt.Fprintf(&b, "# HELP lictor_%s %s\n# TYPE lictor_%s %s\nlictor_%s %d\n", name, help, name, kind, name, value)
	}
	b.WriteString("# HELP lictor_verdicts_total Verdicts by decision.\n# TYPE lictor_verdicts_total counter\n")
	for _, v := range []struct {
		decision string
		n        *atomic.Uint64
	}{{"allow", &m.allow}, {"ask", &m.ask}, {"deny", &m.deny}} {
		fmt.Fprintf(&b, "lictor_verdicts_total{decision=%q} %d\n", v.decision, v.n.Load())
	}
	one("refusals_total", "counter", "Calls that were refused because no verdict was reached.", m.refused.Load())
	one("cold_total", "counter", "Calls that were left to the cold path.", m.cold.Load())
	one("engines", "gauge", "Projects that are kept warm.", uint64(engines))
	one("engines_opened_total", "counter", "Engines that were opened.", m.opened.Load())
	one("engines_closed_total", "counter", "Engines that were closed to make room.", m.closed.Load())
	one("reloads_total", "counter", "Times that a project's files were read again.", m.reloads.Load())
	one("load_failures_total", "counter", "Times that a project's files could not be read.", m.failures.Load())
	one("connections_total", "counter", "Connections that were accepted.", m.connections.Load())
	one("connections_rejected_total", "counter", "Connections of other users, and ones that did not speak the protocol.", m.rejected.Load())
	one("http_unauthorised_total", "counter", "HTTP requests without the token or for another host.", m.unauthorised.Load())
	one("panics_total", "counter", "Internal errors.", m.panics.Load())
	b.WriteString("# HELP lictor_call_seconds Time from a call's arrival to its answer.\n# TYPE lictor_call_seconds histogram\n")
	total := uint64(0)
	for i := range m.buckets {
		total += m.buckets[i].Load()
		le := "+Inf"
		if i < len(bounds) {
			le = fmt.Sprint(bounds[i].Seconds())
		}
		fmt.Fprintf(&b, "lictor_call_seconds_bucket{le=%q} %d\n", le, total)
	}
	fmt.Fprintf(&b, "lictor_call_seconds_sum %g\nlictor_call_seconds_count %d\n", time.Duration(m.nanoseconds.Load()).Seconds(), total)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	one("heap_bytes", "gauge", "Memory of live and not yet collected objects.", mem.HeapAlloc)
	one("goroutines", "gauge", "Goroutines.", uint64(runtime.NumGoroutine()))
	one("uptime_seconds", "gauge", "Time since the start.", uint64(time.Since(m.started).Seconds()))
	return b.String()
}
