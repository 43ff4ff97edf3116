//go:build unix

package audit

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time that this process has used: on a busy machine
// it says more than the clock.
func cpuTime() time.Duration {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// reportCPU reports processor time per operation, with per operations in each
// iteration.
func reportCPU(b *testing.B, per int) {
	start := cpuTime()
	b.Cleanup(func() {
		b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N*per), "cpu-ns/event")
	})
}
