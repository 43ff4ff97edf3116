//go:build !linux && !darwin

package sandbox

import (
	"os"
	"syscall"
)

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func endGroup(p *os.Process) error { return p.Kill() }

func exitStatus(s *os.ProcessState) (code, signal int) { return s.ExitCode(), 0 }
