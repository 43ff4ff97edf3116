package sandbox

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Check is one attack that Verify made on a sandbox of this machine.
type Check struct {
	Name string `json:"name"`
	// What says in words what was tried.
	What string `json:"what"`
	// Result is "blocked", "ESCAPED", "works" (the positive control) or "failed" (the
	// control did not work, so the check proves nothing).
	Result string `json:"result"`
	// Detail is the command's own words.
	Detail string `json:"detail,omitempty"`
}

// Report is the outcome of Verify.
type Report struct {
	Choice Choice  `json:"choice"`
	Checks []Check `json:"checks"`
}

// OK reports whether every attack was blocked and every control worked.
func (r *Report) OK() bool {
	for _, c := range r.Checks {
		if c.Result != "blocked" && c.Result != "works" {
			return false
		}
	}
	return len(r.Checks) > 0
}

// Table renders the report for a person.
func (r *Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Choice)
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-8s  %-22s  %s\n", c.Result, c.Name, c.What)
		if c.Result == "ESCAPED" || c.Result == "failed" {
			fmt.Fprintf(&b, "          %s\n", strings.ReplaceAll(strings.TrimSpace(c.Detail), "\n", "\n          "))
		}
	}
	return b.String()
}

// verifyTimeout ends one attack.
const verifyTimeout = 20 * time.Second

// Verify attacks sandboxes of this machine with the chosen executor and says what
// came of it. It works in a folder of its own below dir ("" is the user's cache
// folder) and leaves nothing behind; host files, sockets and processes that are
// attacked are made for it. The oracle is outside: whether a file changed is seen on
// the host, not asked of the command. An error means that it could not be tried.
func Verify(ctx context.Context, s *Sandbox, dir string) (*Report, error) {
	if s.Choice().Executor == Host {
		return nil, fmt.Errorf("there is no sandbox to verify: %s", s.Choice())
	}
	w, err := newArena(dir)
	if err != nil {
		return nil, err
	}
	defer w.close()
	r := &Report{Choice: s.Choice()}
	for _, a := range verifyAttacks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := w.try(ctx, s, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		r.Checks = append(r.Checks, c)
	}
	return r, nil
}
