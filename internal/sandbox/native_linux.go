package sandbox

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// nativeAttr puts the helper into namespaces of its own. It keeps its user id, so
// that files look as they are; the capabilities that it needs to mount are ambient,
// count in its own user namespace only, and are dropped before the command starts.
func nativeAttr(a *syscall.SysProcAttr, g *helper.Program) {
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if g.Flags&helper.FlagLoopback != 0 {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	a.Pdeathsig = syscall.SIGKILL
	if os.Geteuid() == 0 {
		// Root sees every owner as it is, as far as it may itself.
		a.UidMappings, a.GidMappings = idMap("uid"), idMap("gid")
		a.GidMappingsEnableSetgroups = true
		return
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
}

var idMaps = sync.OnceValue(func() map[string][]syscall.SysProcIDMap {
	return map[string][]syscall.SysProcIDMap{"uid": readIDMap("uid"), "gid": readIDMap("gid")}
})

func idMap(kind string) []syscall.SysProcIDMap { return idMaps()[kind] }

// readIDMap returns the ids that exist in the own user namespace, each as itself.
func readIDMap(kind string) []syscall.SysProcIDMap {
	b, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return []syscall.SysProcIDMap{{Size: 1}}
	}
	var out []syscall.SysProcIDMap
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		inside, err1 := strconv.Atoi(f[0])
		size, err2 := strconv.Atoi(f[2])
		if err1 == nil && err2 == nil {
			out = append(out, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return out
}
