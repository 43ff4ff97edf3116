package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// sibling is the program `lictor` in the folder of this one. It is never looked
// for anywhere else: whoever can write to a folder of PATH could answer for it.
func sibling() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the place of lictor-hook is not known: %w", err)
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	name := "lictor"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(own), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("there is no program %s: install it beside lictor-hook", path)
	}
	return path, nil
}

// cold decides the call in a process of its own, `lictor hook`, and returns what
// it said. An answer counts only if the process ended by itself with a code that
// hooks use and before the deadline.
func cold(program, agent string, ask bool, stdin []byte, deadline time.Time) (Response, error) {
	args := []string{"hook", agent}
	if ask {
		args = append(args, "--ask")
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	stdout, stderr := &capped{}, &capped{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), stdout, stderr
	// A grandchild that holds the pipes must not keep the answer back.
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	var exited *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Response{}, errors.New("`lictor hook` did not answer in time")
	case stdout.full || stderr.full:
		return Response{}, errors.New("the answer of `lictor hook` is too long")
	case errors.As(err, &exited) && exited.ExitCode() == 2, err == nil:
		return Response{Status: StatusAnswer, Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Code: cmd.ProcessState.ExitCode()}, nil
	case exited != nil && exited.ExitCode() == 1 && stderr.Len() > 0 && stdout.Len() == 0:
		// How `lictor hook` reports trouble with an event that decides nothing. For
		// one that decides, code 1 would let the call run, so it is made a refusal.
		return Response{}, errors.New(stderr.String())
	}
	return Response{}, fmt.Errorf("`lictor hook` failed: %w", err)
}

// capped is a buffer that takes no more than an answer may have.
type capped struct {
	bytes.Buffer
	full bool
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > MaxResponse {
		c.full = true
		return len(b), nil
	}
	return c.Buffer.Write(b)
}
