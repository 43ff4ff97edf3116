package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// cgroup is a control group for one run: where rlimits do not reach (process
// counts for root, memory of a whole tree). nil does nothing.
type cgroup struct{ dirs []string }

// controller is one limit: its file in the old and in the new hierarchy.
type controller struct {
	name, v1, v2 string
	value        int64
}

// cgroup makes the control groups that the limits need. Where none can be made the
// limit is a notice: SPEC asks for it where the kernel lets us.
func (r *run) cgroup(pl *Plan) error {
	var want []controller
	if n := int64(pl.Limits.Pids); n > 0 && os.Geteuid() == 0 {
		want = append(want, controller{"pids", "pids.max", "pids.max", n})
	}
	if n := pl.Limits.Memory; n > 0 {
		want = append(want, controller{"memory", "memory.limit_in_bytes", "memory.max", n})
	}
	if len(want) == 0 {
		return nil
	}
	g := &cgroup{}
	for _, c := range want {
		dir := makeCgroup(c)
		if dir == "" {
			if c.name == "pids" {
				r.res.Notices = append(r.res.Notices, "limits.pids does not hold: no control group can be made, and root has no process limit")
			} else {
				r.res.Notices = append(r.res.Notices, "limits.memory holds for each process by itself: no control group can be made")
			}
			continue
		}
		g.dirs = append(g.dirs, dir)
	}
	if len(g.dirs) > 0 {
		r.group = g
		r.g.Flags |= helper.FlagWait
		// The group's limit is for all processes together; the one per process would
		// only be in its way.
		keep := r.g.Limits[:0]
		for _, l := range r.g.Limits {
			if l.Resource != rlimitData {
				keep = append(keep, l)
			}
		}
		r.g.Limits = keep
	}
	return nil
}

// rlimitData is RLIMIT_DATA.
const rlimitData = 2

// makeCgroup makes a group beside or below the process's own and sets its limit.
func makeCgroup(c controller) string {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	name := fmt.Sprintf("lictor-%d-%d", os.Getpid(), runCounter.Add(1))
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		var base, file string
		switch {
		case f[0] == "0" && f[1] == "":
			base, file = "/sys/fs/cgroup", c.v2
		case f[1] == c.name:
			base, file = "/sys/fs/cgroup/"+c.name, c.v1
		default:
			continue
		}
		for _, at := range []string{filepath.Join(base, f[2]), filepath.Dir(filepath.Join(base, f[2]))} {
			if !within(at, base) {
				continue
			}
			dir := filepath.Join(at, name)
			if os.Mkdir(dir, 0o755) != nil {
				continue
			}
			if os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(c.value, 10)), 0) == nil {
				return dir
			}
			_ = os.Remove(dir)
		}
	}
	return ""
}

// release moves the waiting helper into the groups and lets it go on.
func (g *cgroup) release(r *run) {
	if g == nil {
		return
	}
	for _, d := range g.dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte(strconv.Itoa(r.proc.Pid)), 0); err != nil {
			r.res.Notices = append(r.res.Notices, "limits: "+err.Error())
		}
	}
	_, _ = r.ctl.Write([]byte{helper.MsgGo})
}

// remove takes the groups away; the kernel may need a moment to see them empty.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for _, d := range g.dirs {
		for range 50 {
			if err := os.Remove(d); err == nil || os.IsNotExist(err) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (r *run) helperPid() int { return int(atomic.LoadInt64(&r.pid)) }

func (r *run) setHelperPid(pid int) {
	if pid > 0 {
		atomic.StoreInt64(&r.pid, int64(pid))
	}
}
