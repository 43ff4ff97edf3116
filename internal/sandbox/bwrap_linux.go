package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// bwrapPath is the system's bubblewrap. A copy elsewhere would not have the rights
// that AppArmor gives to this path, and one from PATH could be anybody's.
const bwrapPath = "/usr/bin/bwrap"

// helperPath is where the helper appears inside a bubblewrap sandbox, whatever
// the plan hides.
const helperPath = "/run/lictor-helper"

// checkBwrap says why bubblewrap cannot be used, or nil. A set-user-ID copy is
// refused (CVE-2020-5291, CVE-2026-41163).
func checkBwrap() error {
	fi, err := os.Stat(bwrapPath)
	if err != nil {
		return errors.New("bubblewrap is not installed; install the package bubblewrap")
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !fi.Mode().IsRegular():
		return fmt.Errorf("%s is not a program", bwrapPath)
	case fi.Mode()&os.ModeSetuid != 0:
		return fmt.Errorf("%s is set-user-ID, which turns its mistakes into root's; chmod u-s %s", bwrapPath, bwrapPath)
	case st.Uid != 0 && int(st.Uid) != os.Getuid() || fi.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be changed by others; reinstall bubblewrap", bwrapPath)
	}
	return nil
}

// bwrapArgv translates a plan. Every mount point exists already and has no link in
// it (CVE-2026-87766): bubblewrap never has to create one outside of folders that
// it made itself.
func bwrapArgv(pl *Plan, self, cwd string) []string {
	a := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
	}
	if pl.Network != "host" {
		a = append(a, "--unshare-net")
	}
	a = append(a, "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--ro-bind", "/", "/")
	var late []string
	for i := range pl.Mounts {
		m := &pl.Mounts[i]
		src := m.Source
		if src == "" {
			src = m.Path
		}
		switch m.Kind {
		case Proc:
			a = append(a, "--proc", m.Path)
			late = append(late, m.Path)
		case Dev:
			a = append(a, "--dev", m.Path, "--size", "536870912", "--perms", "1777", "--tmpfs", "/dev/shm")
			late = append(late, m.Path)
		case Empty:
			a = append(a, "--size", "65536", "--perms", "0755", "--tmpfs", m.Path)
			if m.Path == "/run" {
				a = append(a, "--ro-bind", self, helperPath)
			}
			late = append(late, m.Path)
		case Write, Pin:
			a = append(a, "--bind", src, m.Path)
		case Read:
			if !m.Link { // a link cannot be a mount point here; the post-check looks at it
				a = append(a, "--ro-bind", src, m.Path)
			}
		case Mask:
			if m.File {
				a = append(a, "--ro-bind", "/dev/null", m.Path)
				break
			}
			perms := "0000"
			if len(m.Holes) > 0 {
				perms = "0111"
			}
			a = append(a, "--size", "65536", "--perms", perms, "--tmpfs", m.Path)
			late = append(late, m.Path)
		}
	}
	for _, path := range late {
		a = append(a, "--remount-ro", path)
	}
	return append(a, "--chdir", cwd)
}

// bwrapArgs passes the arguments through a file: a command line can be read by
// every process of the machine, and by the command in /proc/1/cmdline.
func bwrapArgs(pl *Plan, cwd string) (*os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for i := range pl.Mounts {
		m := &pl.Mounts[i]
		if m.Kind == Proc || m.Kind == Dev || m.Kind == Empty || m.Link || below(pl, m.Path) {
			continue
		}
		fd, err := unix.Openat2(unix.AT_FDCWD, m.Path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS})
		if err != nil {
			return nil, fmt.Errorf("mount point %s: %w", m.Path, err)
		}
		_ = unix.Close(fd)
	}
	argv := bwrapArgv(pl, self, cwd)
	if i := slices.IndexFunc(argv, func(s string) bool { return strings.Contains(s, "\x00") }); i >= 0 {
		return nil, fmt.Errorf("path %q contains a NUL", argv[i])
	}
	return memfd("bwrap", []byte(strings.Join(argv, "\x00")+"\x00"))
}

// below reports a mount point that only exists inside the sandbox.
func below(pl *Plan, path string) bool {
	for i := range pl.Mounts {
		if m := &pl.Mounts[i]; m.Source != "" && within(path, m.Path) && path != m.Path {
			return true
		}
	}
	return false
}

// bwrapFix reads bubblewrap's own words.
func bwrapFix(e Executor, text string) string {
	if e != Bubblewrap {
		return ""
	}
	switch {
	case strings.Contains(text, "setting up uid map"), strings.Contains(text, "RTM_NEWADDR"), strings.Contains(text, "No permissions to create"):
		return userNamespaceFix()
	case strings.Contains(text, "No space left"):
		return "the limit of user namespaces is reached or zero: sysctl -w user.max_user_namespaces=15000"
	case strings.Contains(text, "mount proc"):
		return "a container hides part of /proc: start it with --security-opt systempaths=unconfined (Docker) or procMount: Unmasked (Kubernetes)"
	}
	return ""
}
