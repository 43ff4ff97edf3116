package sandbox

import (
	"os"
	"syscall"
)

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

func exitStatus(s *os.ProcessState) (code, signal int) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), int(ws.Signal())
	}
	return s.ExitCode(), 0
}
