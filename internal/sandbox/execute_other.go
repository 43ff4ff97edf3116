//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// execute: seatbelt is the only executor of another platform.
func execute(ctx context.Context, e Executor, p *ExecPolicy, pl *Plan, c Command, dir string) (*Result, error) {
	if e == Seatbelt && runtime.GOOS == "darwin" {
		return runSeatbelt(ctx, p, pl, c, dir)
	}
	return nil, &SetupError{Executor: e, Stage: "start", Err: errors.New("this executor does not exist on " + runtime.GOOS), Fix: unsupportedFix()}
}

func unsupportedFix() string {
	if runtime.GOOS == "windows" {
		return "run lictor inside WSL 2"
	}
	return `set "executor" to "auto"`
}

func userNamespaceFix() string { return "" }

func gaps(Executor, *Plan) []string { return nil }

func probe(e Executor, _ string) error {
	if e == Seatbelt {
		return probeSeatbelt()
	}
	return fmt.Errorf("%s does not exist on %s", e, runtime.GOOS)
}
