//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// runSeatbelt runs a command under sandbox-exec. The proxy listens on the host's
// loopback interface, on a port of its own; other local programs can reach it too,
// so it must ask for credentials.
func runSeatbelt(ctx context.Context, p *ExecPolicy, pl *Plan, c Command, dir string) (*Result, error) {
	port := 0
	if pl.Network == "proxy" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, &SetupError{Executor: Seatbelt, Stage: "open the proxy's port", Err: err}
		}
		defer l.Close()
		port = l.Addr().(*net.TCPAddr).Port
		c.ProxyListener(l)
	}
	q := *p
	q.Env = make([]string, len(p.Env))
	for i, kv := range p.Env {
		q.Env[i] = strings.ReplaceAll(kv, "127.0.0.1:3128", "127.0.0.1:"+strconv.Itoa(port))
	}
	if p.PrivateTemp != "" {
		q.Env = append(q.Env, "TMPDIR="+p.PrivateTemp)
	}
	return runGroup(ctx, &q, c, SeatbeltProfile(p, pl, port).Argv(c.Argv), dir)
}

// probeSeatbelt runs true under a small profile.
func probeSeatbelt() error {
	if _, err := os.Stat(sandboxExec); err != nil {
		return errors.New(sandboxExec + " is missing")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, sandboxExec, "-p", "(version 1)(allow default)", "--", "/usr/bin/true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("sandbox-exec: %w: %s", err, out)
	}
	return nil
}
