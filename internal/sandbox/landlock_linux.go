package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/sandbox/helper"
)

// maxLandlockRules bounds the siblings that are granted one by one.
const maxLandlockRules = 20000

// onlyLandlock compiles a plan for Landlock alone. Rights only add up below a
// folder, so a hidden path is left out by granting everything beside it and beside
// each folder above it. A hidden path inside a writable folder cannot be left out
// that way: files made later would be unreadable; that is an error, not a gap.
func onlyLandlock(g *helper.Program, p *ExecPolicy, pl *Plan) error {
	abi := landlockABI()
	if abi < 3 {
		return &SetupError{Executor: Landlock, Stage: "create a Landlock ruleset", Err: fmt.Errorf("the kernel offers version %d, 3 is needed", abi), Fix: "update the kernel to 6.2 or later"}
	}
	if pl.Network == "proxy" {
		return &SetupError{Executor: Landlock, Stage: "open the proxy's socket", Err: errors.New("there is no network namespace"), Fix: `remove "network.allow", or use an executor with namespaces`}
	}
	g.HandledFS, g.HandledNet, g.Scoped = landlockRights(abi)
	if pl.Network == "host" {
		g.HandledNet = 0
	}
	hidden := map[string]bool{}
	for _, m := range pl.Mounts {
		if m.Kind != Mask {
			continue
		}
		for _, w := range pl.Mounts {
			if w.Kind == Write && w.Source == "" && within(m.Path, w.Path) {
				return &SetupError{Executor: Landlock, Stage: "hide", Path: m.Path, Err: errors.New("it lies in the writable " + w.Path + ", where Landlock cannot hide anything"), Fix: "use an executor with namespaces"}
			}
		}
		hidden[m.Path] = true
	}
	// Host sockets are out of reach by the filter; /proc of other processes by the
	// ptrace rules of the domain.
	l := &landlockRules{g: g, hidden: hidden}
	g.Rules = append(g.Rules, helper.Rule{Path: "/", Access: unix.LANDLOCK_ACCESS_FS_READ_DIR})
	if err := l.grant("/"); err != nil {
		return err
	}
	for _, m := range pl.Mounts {
		if m.Kind == Write && m.Source == "" {
			g.Rules = append(g.Rules, helper.Rule{Path: m.Path, Access: llRead | llWrite})
		}
	}
	if p.PrivateTemp != "" { // it cannot stand for /tmp without mounts; TMPDIR names it
		g.Rules = append(g.Rules, helper.Rule{Path: p.PrivateTemp, Access: llRead | llWrite})
		g.Env = append(dropEnv(g.Env, "TMPDIR"), "TMPDIR="+p.PrivateTemp)
	}
	for _, d := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"} {
		g.Rules = append(g.Rules, helper.Rule{Path: "/dev/" + d, Access: llDevice | unix.LANDLOCK_ACCESS_FS_READ_FILE})
	}
	return nil
}

func dropEnv(env []string, name string) []string {
	var out []string
	for _, kv := range env {
		if len(kv) <= len(name) || kv[:len(name)+1] != name+"=" {
			out = append(out, kv)
		}
	}
	return out
}

type landlockRules struct {
	g      *helper.Program
	hidden map[string]bool
}

// grant allows reading everything below dir but the hidden paths.
func (l *landlockRules) grant(dir string) error {
	if !l.above(dir) {
		l.g.Rules = append(l.g.Rules, helper.Rule{Path: dir, Access: llRead})
		return nil
	}
	list, err := readDir(dir)
	if err != nil {
		return nil // what cannot be listed gets no right
	}
	for _, e := range list {
		path := filepath.Join(dir, e.name)
		if l.hidden[path] || e.link || path == "/run" {
			continue
		}
		if len(l.g.Rules) > maxLandlockRules {
			return &SetupError{Executor: Landlock, Stage: "grant", Path: dir, Err: errors.New("too many entries beside a hidden path"), Fix: "use an executor with namespaces"}
		}
		if err := l.grant(path); err != nil {
			return err
		}
	}
	return nil
}

// above reports whether a hidden path, or /run, lies below dir.
func (l *landlockRules) above(dir string) bool {
	if dir == "/" {
		return true
	}
	for h := range l.hidden {
		if within(h, dir) {
			return true
		}
	}
	return false
}

// gaps are what an executor cannot hold of a plan.
func gaps(e Executor, pl *Plan) []string {
	var out []string
	for _, m := range pl.Mounts {
		switch {
		case e == Landlock && m.Kind == Read:
			out = append(out, m.Path+" is not protected while a command runs, only checked afterwards")
		case e == Bubblewrap && m.Link:
			out = append(out, m.Path+" is a link and cannot be pinned by bubblewrap; it is checked afterwards")
		}
	}
	if e == Landlock {
		out = append(out, "processes of the machine are visible; there is no network of its own, not even localhost")
	}
	return out
}
