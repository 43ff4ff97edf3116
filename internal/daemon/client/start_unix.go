//go:build unix

package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startPause is how long after one start nobody tries another: a daemon that
// cannot start must not be tried by every call.
const startPause = 2 * time.Second

// Start starts the daemon (`lictor serve`, the given program) if nobody is doing
// that already, and does not wait for it. The lock on a file in the daemon's
// folder goes over to the new process, which holds it until it ends, so that of
// any number of processes one starts one daemon. The environment goes along too:
// its secrets are those that the record must not have.
//
// The error is an *UnsafeError for a folder that cannot be trusted, or that of
// the system; no error if another start is under way or was a moment ago.
func Start(program, home string) error {
	if err := MakeDir(home); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(Dir(home), startLock), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	info, err := lock.Stat()
	if err != nil {
		return err
	}
	// A size tells a file that was just made from one that marks a start.
	if age := time.Since(info.ModTime()); info.Size() > 0 && age >= 0 && age < startPause {
		return nil
	}
	if _, err := lock.WriteAt([]byte("1"), 0); err != nil {
		return err
	}
	cmd := exec.Command(program, "serve")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
