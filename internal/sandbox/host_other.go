//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// runHost runs a command without confinement, in a process group of its own.
func runHost(ctx context.Context, p *ExecPolicy, c Command, dir string) (*Result, error) {
	res, err := runGroup(ctx, p, c, c.Argv, dir)
	if res != nil {
		res.Executor, res.Isolation = Host, Host.Isolation()
	}
	return res, err
}

// runGroup runs argv and ends its process group when it is over. A program that
// made a session of its own is not reached on this platform.
func runGroup(ctx context.Context, p *ExecPolicy, c Command, argv []string, dir string) (*Result, error) {
	if c.Terminal != nil {
		return nil, errors.New("sandbox: a terminal of its own is not supported on this platform yet; run the command without one")
	}
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
		defer cancel()
	}
	out, errs := &capture{limit: p.MaxOutput, tee: c.Stdout}, &capture{limit: p.MaxOutput, tee: c.Stderr}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, p.Env, c.Stdin, out, errs
	cmd.WaitDelay = 2 * time.Second
	cmd.SysProcAttr = groupAttr()
	cmd.Cancel = func() error { return endGroup(cmd.Process) }
	began := time.Now()
	if err := cmd.Start(); err != nil {
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			errno = syscall.ENOENT
		}
		ce := &CommandError{Program: argv[0], Err: errno}
		return &Result{ExitCode: ce.ExitCode()}, ce
	}
	_ = cmd.Wait()
	_ = endGroup(cmd.Process)
	res := &Result{Stdout: out.output(), Stderr: errs.output(), Duration: time.Since(began)}
	res.ExitCode, res.Signal = exitStatus(cmd.ProcessState)
	if ctx.Err() != nil {
		res.TimedOut = errors.Is(context.Cause(ctx), errTimeout)
		res.Canceled = !res.TimedOut
	}
	return res, nil
}

var errTimeout = errors.New("timeout")
