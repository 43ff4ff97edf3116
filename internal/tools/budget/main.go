// Budget runs the benchmarks and prints the performance budget of
// docs/architecture.md as a table: each figure against its bound, as a ratio of
// two benchmarks of the same run wherever that is possible, because machines are
// noisy. It exits 1 if a bound is missed.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is one line of the budget: a figure of a benchmark ("package.Name" and a
// unit, ns/op unless given), divided by another's if there is one, against its
// bound.
type row struct {
	what      string
	name, per string
	unit      string
	// bound is the largest value: a ratio, or nanoseconds; 0 shows the figure alone.
	bound float64
	// atLeast turns the bound round.
	atLeast bool
	// allocs is the largest number of allocations, -1 for any.
	allocs int
}

// packages hold the benchmarks that the rows name, with the time of each run
// where it is not the default.
var packages = []struct{ path, time string }{
	{".", ""},
	{"./internal/eval", ""},
	{"./internal/rules", ""},
	{"./internal/shell", ""},
	{"./internal/bundle", ""},
	{"./internal/audit", ""},
	{"./internal/netguard", ""},
	{"./internal/daemon", "60x"},
	{"./internal/sandbox", "30x"},
}

var rows = []row{
	{what: "facts in, verdict out, vector seen before", name: "eval.OutcomeSeen", bound: 500, allocs: 0},
	{what: "... against cedar-go on the same policy", name: "eval.OutcomeSeen", per: "eval.Cedar", bound: 1, allocs: -1},
	{what: "... vector seen for the first time, p50", name: "eval.OutcomeUnseen", unit: "p50-ns", bound: 15_000, allocs: -1},
	{what: "... with a bundle of 20 rules that denies, p50", name: "bundle.TwentyRules", unit: "p50-ns", bound: 50_000, allocs: -1},
	{what: "... with a bundle of 20 rules that allows, p50", name: "bundle.TwentyRulesAllowed", unit: "p50-ns", bound: 50_000, allocs: -1},
	{what: "baseline on git status", name: "bundle.BaselineSkips", bound: 1_000, allocs: 0},
	{what: "compile and prepare", name: "eval.New", bound: 25e6, allocs: -1},
	{what: "10,000 rules loaded", name: "rules.Load10000", bound: 60e6, allocs: -1},
	{what: "whole check of a command against one bare parse", name: ".CheckCommand/rules=10", per: ".BareParse", bound: 8, allocs: -1},
	{what: "whole check of a command", name: ".CheckCommand/rules=10", bound: 30_000, allocs: -1},
	{what: "whole check of a path against EvalSymlinks", name: ".CheckPath", per: ".EvalSymlinks", bound: 1.5, allocs: -1},
	{what: "10 to 10,000 rules, matching a command", name: "rules.Match/index/command/10000", per: "rules.Match/index/command/10", bound: 1.6, allocs: 0},
	{what: "10 to 10,000 rules, matching a path", name: "rules.Match/index/path/10000", per: "rules.Match/index/path/10", bound: 1.6, allocs: 0},
	{what: "10 to 10,000 rules, whole check", name: ".CheckCommand/rules=10000", per: ".CheckCommand/rules=10", bound: 1.1, allocs: -1},
	{what: "10,000 rules against cedar-go", name: "rules.Match/index/command/10000", per: "rules.Cedar/command/10000", bound: 1, allocs: -1},
	{what: "open a project, cold", name: ".Open/rules=10", bound: 60e6, allocs: -1},
	{what: "warm lictor-hook against a program that echoes", name: "daemon.HookWarmPaired/allowed", unit: "x-echo", bound: 2, allocs: -1},
	{what: "cold lictor hook, p50", name: "daemon.HookCold", unit: "p50-ns", bound: 60e6, allocs: -1},
	{what: "... against a program that echoes", name: "daemon.HookCold", unit: "x-echo", allocs: -1},
	{what: "sandboxed true, native, against plain exec", name: "sandbox.Command/true", unit: "native-x", bound: 10, allocs: -1},
	{what: "sandboxed bash -c true, native, against plain exec", name: "sandbox.Command/bash", unit: "native-x", allocs: -1},
	{what: "... true in lictor's bubblewrap", name: "sandbox.Command/true", unit: "bwrap-x", allocs: -1},
	{what: "... true in bare bubblewrap", name: "sandbox.Command/true", unit: "bare-bwrap-x", allocs: -1},
	{what: "daemon, round trip on the socket, against an echo", name: "daemon.Socket", per: "daemon.Echo", allocs: -1},
	{what: "daemon, round trip over HTTP, against an echo", name: "daemon.HTTP", per: "daemon.Echo", allocs: -1},
	{what: "audit append, not synced", name: "audit.Append/unsynced", bound: 8_000, allocs: 0},
	{what: "... against the bare write of the line", name: "audit.Append/unsynced", per: "audit.Bare/write", allocs: -1},
	{what: "audit append, synced, against write + fdatasync", name: "audit.Ratio", unit: "synced/bare", bound: 1.3, allocs: -1},
	{what: "... with a checkpoint per line", name: "audit.Ratio", unit: "checkpoint/bare", bound: 5, allocs: -1},
	{what: "audit verify, events a second on one core", name: "audit.Verify/workers=1", unit: "events/s", bound: 1e6, atLeast: true, allocs: -1},
	{what: "... an event, against the SHA-256 of the line alone", name: "audit.Verify/workers=1", unit: "cpu-ns/event", per: "audit.Bare/sha256", allocs: -1},
	{what: "proxy CONNECT against a bare relay", name: "netguard.ProxyConnections/connect", per: "netguard.ProxyConnections/relay", bound: 2, allocs: -1},
	{what: "proxy throughput, time against a bare relay", name: "netguard.ProxyThroughput/connect", per: "netguard.ProxyThroughput/relay", allocs: -1},
}

// line reads one result of `go test -bench`: the name and its figures.
var line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// figures are the values of one unit of one benchmark.
type figures map[string][]float64

func main() {
	count := flag.Int("count", 3, "runs of each benchmark; the median counts")
	time := flag.String("benchtime", "100ms", "time of each run")
	flag.Parse()
	all, err := run(*count, *time)
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
	os.Exit(report(all))
}

// run runs every benchmark, package by package, and keeps all figures by
// "package.Name".
func run(count int, time string) (map[string]figures, error) {
	all := map[string]figures{}
	for _, p := range packages {
		benchtime := time
		if p.time != "" {
			benchtime = p.time
		}
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem",
			"-count", strconv.Itoa(count), "-benchtime", benchtime, "-timeout", "30m", p.path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p.path, err, out)
		}
		base := path.Base(p.path)
		if base == "." {
			base = ""
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		for lines.Scan() {
			m := line.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			name := base + "." + m[1]
			if all[name] == nil {
				all[name] = figures{}
			}
			fields := strings.Fields(m[2])
			for i := 0; i+1 < len(fields); i += 2 {
				v, err := strconv.ParseFloat(fields[i], 64)
				if err != nil {
					return nil, fmt.Errorf("%q: %w", lines.Text(), err)
				}
				all[name][fields[i+1]] = append(all[name][fields[i+1]], v)
			}
		}
	}
	return all, nil
}

// median returns the median of a unit's values, and whether there are any.
func (f figures) median(unit string) (float64, bool) {
	if len(f[unit]) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(f[unit]))
	return sorted[len(sorted)/2], true
}

func report(all map[string]figures) int {
	code := 0
	fmt.Printf("%-52s %14s %14s %7s\n", "what", "figure", "bound", "allocs")
	for _, r := range rows {
		unit := r.unit
		if unit == "" {
			unit = "ns/op"
		}
		value, ok := all[r.name].median(unit)
		show := func(v float64) string { return fmt.Sprintf("%.2f x", v) }
		if ok && r.per != "" {
			var base float64
			base, ok = all[r.per].median("ns/op")
			value /= base
		} else if strings.HasSuffix(unit, "ns") || unit == "ns/op" {
			show = duration
		} else if r.atLeast {
			show = func(v float64) string { return fmt.Sprintf("%.0f", v) }
		}
		if !ok {
			fmt.Printf("%-52s no figure of %s %s\n", r.what, r.name, r.per)
			code = 1
			continue
		}
		allocs, counted := all[r.name].median("allocs/op")
		if r.bound == 0 {
			fmt.Printf("%-52s %14s %14s %7.0f\n", r.what, show(value), "none", allocs)
			continue
		}
		verdict := "ok"
		if r.atLeast != (value >= r.bound) && value != r.bound || r.allocs >= 0 && counted && int(allocs) > r.allocs {
			verdict, code = "MISSED", 1
		}
		fmt.Printf("%-52s %14s %14s %7.0f  %s\n", r.what, show(value), show(r.bound), allocs, verdict)
	}
	return code
}

func duration(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.2f us", v/1e3)
	}
	return fmt.Sprintf("%.1f ns", v)
}
