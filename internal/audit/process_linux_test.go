package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childFull fills a small tmpfs under a log, makes room again, and then makes it
// read-only. It runs in a mount namespace of its own. Arguments: a folder.
func childFull(args []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("no-mount: %w", err)
	}
	if err := unix.Mount("tmpfs", args[0], "tmpfs", 0, "size=96k"); err != nil {
		return fmt.Errorf("no-mount: %w", err)
	}
	for v, opt := range []Options{{}, {Shared: true}, {Checkpoint: true}, {Mandatory: true}, {Mandatory: true, Checkpoint: true}} {
		if err := fillUp(args[0], opt); err != nil {
			return fmt.Errorf("variant %d: %w", v, err)
		}
	}
	// Read-only.
	opt := Options{Home: filepath.Join(args[0], "home"), Root: "/src/p", Environ: []string{}, Mandatory: true}
	l, err := Open(opt)
	if err != nil {
		return err
	}
	d := decided("bash", `{"command":"x"}`, model.Allow, "rule")
	if err := l.Verdict(d); err != nil {
		return err
	}
	_ = l.Close()
	if err := unix.Mount("", args[0], "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if l, err = Open(opt); err != nil {
		return err
	}
	err = l.Verdict(d)
	if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "did not run") {
		return fmt.Errorf("on a read-only disk: %v", err)
	}
	return childCheck(l.Dir(), 1)
}

func fillUp(mount string, opt Options) error {
	home, ballast := filepath.Join(mount, "home"), filepath.Join(mount, "ballast")
	opt.Home, opt.Root, opt.Environ = home, "/src/p", []string{}
	opt.Clock = testClock()
	l, err := Open(opt)
	if err != nil {
		return err
	}
	d := decided("bash", `{"command":"x"}`, model.Allow, "rule")
	if err := l.Verdict(d); err != nil {
		return err
	}
	f, err := os.Create(ballast)
	if err != nil {
		return err
	}
	for {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			break
		}
	}
	f.Close()
	acked, failed := 1, 0
	for range 20 {
		if err := l.Verdict(d); err == nil {
			acked++
		} else {
			failed++
			if !errors.Is(err, unix.ENOSPC) || !opt.Mandatory {
				return err
			}
		}
	}
	if opt.Mandatory && failed == 0 {
		return errors.New("the disk was not full")
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	l.retryAt = l.opt.Clock()
	for range 2 {
		if err := l.Verdict(d); err != nil {
			return err
		}
		acked++
	}
	if err := l.Close(); err != nil {
		return err
	}
	r, err := Verify(bg, l.Dir(), VerifyOptions{Workers: 1})
	if err != nil {
		return err
	}
	if !r.OK() {
		return fmt.Errorf("%s", r)
	}
	s, err := CountStats(bg, l.Dir(), Filter{})
	if err != nil {
		return err
	}
	// Without the mandatory mode what was not written is counted as lost.
	if opt.Mandatory && s.Total < acked || !opt.Mandatory && s.Total+int(s.Lost) != acked {
		return fmt.Errorf("%d events and %d lost of %d", s.Total, s.Lost, acked)
	}
	return os.RemoveAll(home)
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := child(t, "full "+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (len(out) == 0 || strings.Contains(string(out), "no-mount")) {
		t.Skipf("NOT TESTED: a full disk. A mount namespace with a tmpfs is needed: %v %s", err, out)
	}
	require.NoError(t, err, "%s", out)
}
