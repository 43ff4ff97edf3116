package sandbox

import (
	"fmt"
	"runtime"
	"strings"
)

// Diagnosis is what this machine offers.
type Diagnosis struct {
	Platform string    `json:"platform"`
	Tried    []Attempt `json:"executors"`
	// Best is the executor that "auto" takes.
	Best Executor `json:"best"`
	// Facts are details worth knowing, Advice what would give more isolation.
	Facts  []string `json:"facts"`
	Advice []string `json:"advice"`
}

// Diagnose probes every executor of this platform anew and says how to get more.
func Diagnose() Diagnosis {
	d := Diagnosis{Platform: runtime.GOOS + "/" + runtime.GOARCH, Best: Host, Facts: machineFacts()}
	all := candidates(runtime.GOOS)
	if runtime.GOOS == "linux" {
		all = append(all, Landlock)
	}
	for _, e := range all {
		a := Attempt{Executor: e, Works: true}
		if err := probe(e, ""); err != nil {
			a.Works, a.Why = false, err.Error()
			d.Advice = append(d.Advice, fmt.Sprintf("%s: %s", e, a.Why))
		} else if d.Best == Host && e != Landlock {
			d.Best = e
		}
		d.Tried = append(d.Tried, a)
	}
	if len(all) == 0 {
		d.Advice = append(d.Advice, "there is no OS sandbox for "+runtime.GOOS+"; on Windows run lictor inside WSL 2")
	}
	return d
}

// String renders the diagnosis for a person.
func (d Diagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "platform   %s\nexecutor   %s (isolation %s)\n", d.Platform, d.Best, d.Best.Isolation())
	for _, a := range d.Tried {
		state := "works"
		if !a.Works {
			state = "does not work: " + a.Why
		}
		fmt.Fprintf(&b, "  %-9s %s\n", a.Executor, state)
	}
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "  %s\n", f)
	}
	if d.Best == Host {
		for _, a := range d.Advice {
			fmt.Fprintf(&b, "to do      %s\n", a)
		}
	}
	return b.String()
}
