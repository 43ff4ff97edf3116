package sandbox

import (
	"fmt"
	"strings"
	"syscall"
)

// SetupError means that the sandbox could not be built. The command did not run.
type SetupError struct {
	Executor Executor
	// Stage is what was being done, Path to what.
	Stage, Path string
	Err         error
	// Fix tells a person what to do; it may be empty.
	Fix string
}

func (e *SetupError) Error() string {
	s := fmt.Sprintf("sandbox (%s): %s", e.Executor, e.Stage)
	if e.Path != "" {
		s += " " + e.Path
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap returns the cause.
func (e *SetupError) Unwrap() error { return e.Err }

// CommandError means that the sandbox stood, but the command could not be started
// in it: the shell's exit codes 127 (not found) and 126 (not executable).
type CommandError struct {
	Program string
	Err     error
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("cannot run %q: %v", e.Program, e.Err)
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// ExitCode is what a shell would report.
func (e *CommandError) ExitCode() int {
	if e.Err == syscall.ENOENT || e.Err == syscall.ENOTDIR {
		return 127
	}
	return 126
}

// fixes gives the remedy for an error of a stage.
func fixes(stage string, errno syscall.Errno) string {
	switch {
	case strings.HasPrefix(stage, "create the namespaces") && errno == syscall.ENOSPC:
		return "the limit of user namespaces is reached or zero: sysctl -w user.max_user_namespaces=15000"
	case strings.HasPrefix(stage, "create the namespaces") && (errno == syscall.EPERM || errno == syscall.EACCES),
		strings.HasPrefix(stage, "make mounts private") && (errno == syscall.EPERM || errno == syscall.EACCES):
		return userNamespaceFix()
	case strings.Contains(stage, "file system proc") && errno == syscall.EPERM:
		return "a container hides part of /proc: start it with --security-opt systempaths=unconfined (Docker) or procMount: Unmasked (Kubernetes)"
	case errno == syscall.ENOSYS:
		return "this kernel is older than 5.12, which the native executor needs; install bubblewrap, or update the kernel"
	}
	return ""
}
