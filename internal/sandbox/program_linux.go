package sandbox

import (
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// program compiles a plan for the helper. Mounts are left out for executors that
// mount themselves or not at all.
func program(e Executor, p *ExecPolicy, pl *Plan, c Command, dir string) (*helper.Program, error) {
	g := &helper.Program{Cwd: dir, Argv: c.Argv, Env: pl.Env, Limits: limits(pl.Limits)}
	var err error
	g.Filter, err = seccompFilter(runtime.GOARCH, filterOptions{unixSockets: pl.UnixSockets, noInternet: e == Landlock && pl.Network != "host"})
	if err != nil {
		return nil, &SetupError{Executor: e, Stage: "make the system call filter", Err: err}
	}
	if c.Terminal != nil {
		g.Flags |= helper.FlagTerminal
	}
	if pl.Network == "proxy" {
		g.Flags |= helper.FlagProxy
		g.ProxyPort = ProxyPort
	}
	switch e {
	case Native:
		g.Flags |= helper.FlagMounts | helper.FlagInit
		if pl.Network != "host" {
			g.Flags |= helper.FlagLoopback
		}
		g.Ops = mountOps(pl)
		innerLandlock(g, pl)
	case Bubblewrap:
		g.Flags |= helper.FlagInit
		innerLandlock(g, pl)
	case Landlock:
		g.Flags |= helper.FlagSupervise
		if err := onlyLandlock(g, p, pl); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// mountOps translates the mounts of a plan.
func mountOps(pl *Plan) []helper.Op {
	ops := make([]helper.Op, 0, len(pl.Mounts))
	for i := range pl.Mounts {
		m := &pl.Mounts[i]
		o := helper.Op{Path: m.Path, Source: m.Source}
		if m.Link {
			o.Attr |= helper.AttrLink
		}
		switch m.Kind {
		case Proc:
			o.Code = helper.OpProc
		case Dev:
			o.Code = helper.OpDev
		case Empty:
			o.Code, o.Attr, o.Mode = helper.OpTmpfs, helper.AttrReadOnly, 0o755
			o.Dirs, o.Files = holes(m.Holes)
		case Write, Pin:
			o.Code = helper.OpBind
		case Read:
			o.Code = helper.OpBind
			o.Attr |= helper.AttrReadOnly
		case Mask:
			if m.File {
				o.Code = helper.OpNull
				o.Attr |= helper.AttrOptional
				break
			}
			o.Code, o.Attr = helper.OpTmpfs, helper.AttrReadOnly|helper.AttrOptional
			if o.Dirs, o.Files = holes(m.Holes); len(m.Holes) > 0 {
				o.Mode = 0o111
			}
		}
		ops = append(ops, o)
	}
	return ops
}

func holes(list []string) (dirs, files []string) {
	for _, h := range list {
		if n := len(h) - 1; h[n] == '/' {
			dirs = append(dirs, h[:n])
		} else {
			files = append(files, h)
		}
	}
	return dirs, files
}

// limits translates resource limits. There is never a core dump: it would hold the
// command's memory in a file.
func limits(l Limits) []helper.Limit {
	out := []helper.Limit{{Resource: unix.RLIMIT_CORE}}
	add := func(res int, v int64) {
		if v > 0 {
			out = append(out, helper.Limit{Resource: uint32(res), Value: uint64(v)})
		}
	}
	add(unix.RLIMIT_NPROC, int64(l.Pids))
	add(unix.RLIMIT_FSIZE, l.FileSize)
	add(unix.RLIMIT_NOFILE, int64(l.OpenFiles))
	if l.CPU > 0 {
		add(unix.RLIMIT_CPU, int64(math.Ceil(l.CPU.Seconds())))
	}
	add(unix.RLIMIT_DATA, l.Memory)
	return out
}

// landlockABI is the version of Landlock that the kernel offers, 0 if none.
var landlockABI = sync.OnceValue(func() int {
	r, _, e := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(r)
})

// Landlock rights.
const (
	llRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	llWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
	llDevice = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockRights returns what a ruleset handles at a version of Landlock.
func landlockRights(abi int) (fs, net, scoped uint64) {
	if abi < 1 {
		return 0, 0, 0
	}
	fs = 1<<13 - 1
	if abi >= 2 {
		fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return fs, net, scoped
}

// innerLandlock adds the inner layer: what the mounts already say, once more, in a
// part of the kernel that has nothing to do with them. It also holds when the host
// mounts something writable into the tree while the command runs.
func innerLandlock(g *helper.Program, pl *Plan) {
	abi := landlockABI()
	if abi < 1 {
		return
	}
	g.HandledFS, _, g.Scoped = landlockRights(abi)
	g.Rules = append(g.Rules, helper.Rule{Path: "/", Access: llRead}, helper.Rule{Path: "/dev", Access: llDevice}, helper.Rule{Path: "/dev/shm", Access: llWrite})
	for _, m := range pl.Mounts {
		if m.Kind == Write {
			g.Rules = append(g.Rules, helper.Rule{Path: m.Path, Access: llWrite})
		}
	}
}

// helperEnv is the whole environment of a helper: the command's own would be
// readable in /proc/1/environ. The Go runtime is told to stay small.
var helperEnv = []string{helper.Env + "=" + helper.RoleSandbox, "GOMAXPROCS=1", "GOGC=off"}

// memfd returns a sealed anonymous file with the content.
func memfd(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.WriteAt(content, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		_ = f.Close()
		return nil, os.NewSyscallError("seal", err)
	}
	return f, nil
}

// grace is how long the streams may stay open after every process is gone.
const grace = 2 * time.Second
