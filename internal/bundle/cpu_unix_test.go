//go:build unix

package bundle

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process: a benchmark on a busy machine
// means more by it than by the clock.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
