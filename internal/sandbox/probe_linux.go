package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// probeTimeout ends a probe that hangs.
const probeTimeout = 10 * time.Second

var probed sync.Map // Executor → func() error

// probe builds a real sandbox once per process and boot and says why it cannot.
func probe(e Executor, stateDir string) error {
	once, _ := probed.LoadOrStore(e, sync.OnceValue(func() error { return probeCached(e, stateDir) }))
	return once.(func() error)()
}

// probeRecord is a result that the next process may use: good only for the same
// boot, program and user. Failures are never kept: the fix must take effect.
type probeRecord struct {
	Boot  string     `json:"boot"`
	Self  string     `json:"self"`
	UID   int        `json:"uid"`
	Works []Executor `json:"works"`
}

func probeCached(e Executor, stateDir string) error {
	now := probeRecord{Boot: bootID(), Self: selfID(), UID: os.Geteuid()}
	path := filepath.Join(stateDir, "sandbox", "probe")
	var old probeRecord
	if stateDir != "" && now.Boot != "" {
		if b, err := os.ReadFile(path); err == nil && json.Unmarshal(b, &old) == nil &&
			old.Boot == now.Boot && old.Self == now.Self && old.UID == now.UID {
			for _, w := range old.Works {
				if w == e {
					return nil
				}
			}
			now.Works = old.Works
		}
	}
	if err := probeReal(e); err != nil {
		return err
	}
	if stateDir != "" && now.Boot != "" {
		now.Works = append(now.Works, e)
		if b, err := json.Marshal(now); err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
			tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
			if os.WriteFile(tmp, b, 0o600) == nil {
				_ = os.Rename(tmp, path)
			}
		}
	}
	return nil
}

// probeReal runs the helper in a small sandbox with every kind of layer.
func probeReal(e Executor) error {
	switch e {
	case Host:
		return nil
	case Seatbelt:
		return errors.New("seatbelt exists on macOS only")
	case Bubblewrap:
		if err := checkBwrap(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	pl := &Plan{Root: "/", Network: "none", Mounts: []Mount{
		{Kind: Proc, Path: "/proc"}, {Kind: Dev, Path: "/dev"}, {Kind: Empty, Path: "/run"},
	}}
	p := &ExecPolicy{Root: "/", Sandbox: true}
	self := "/proc/self/exe"
	c := Command{Argv: []string{self, "probe", "nothing"}}
	pl.Env = []string{helper.Env + "=" + helper.RoleProbe}
	if e == Landlock {
		if exe, err := os.Executable(); err == nil {
			c.Argv[0] = exe
		}
	}
	res, err := execute(ctx, e, p, pl, c, "/")
	var ce *CommandError
	switch {
	case errors.As(err, &ce):
		return nil // the sandbox stood; the program's file is not visible in it
	case err != nil:
		return err
	case res.TimedOut || res.Canceled:
		return errors.New("the probe did not end within 10 seconds")
	case res.ExitCode != 0:
		return fmt.Errorf("the probe ended with exit code %d", res.ExitCode)
	}
	return nil
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// selfID identifies this program's file.
func selfID() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	fi, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	dev, ino, _ := identity(fi)
	return fmt.Sprintf("%d:%d:%d:%d", dev, ino, fi.ModTime().UnixNano(), fi.Size())
}

// userNamespaceFix says why user namespaces are not allowed here, and what to do.
func userNamespaceFix() string {
	read := func(path string) string {
		b, _ := os.ReadFile(path)
		return strings.TrimSpace(string(b))
	}
	switch {
	case read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor restricts user namespaces: install bubblewrap (its path is allowed), or add an AppArmor profile for lictor with \"userns,\", or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	case read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		return "the kernel forbids user namespaces: sysctl -w kernel.unprivileged_userns_clone=1"
	case read("/proc/sys/user/max_user_namespaces") == "0":
		return "user namespaces are switched off: sysctl -w user.max_user_namespaces=15000"
	case inContainer():
		return "the container forbids user namespaces: run it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or with user namespaces enabled"
	}
	return "a security module or container forbids user namespaces"
}

func inContainer() bool {
	for _, f := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(f); err == nil {
			return true
		}
	}
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" || os.Getenv("container") != ""
}
