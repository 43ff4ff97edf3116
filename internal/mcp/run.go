package mcp

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
)

// RunPlain is the Runner without a sandbox: the server has the user's rights and
// environment. It is asked to end when ctx does, and killed if it does not.
func RunPlain(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// A pipe, so that the end of the server does not wait for the client's input.
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	}
	cmd.WaitDelay = endTime
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the MCP server cannot be started: %w", err)
	}
	go func() {
		_, _ = io.Copy(in, stdin)
		in.Close()
	}()
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the MCP server %s ended: %w", argv[0], err)
	}
	return nil
}
