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
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is one line of the budget: the figure of a benchmark, divided by another's
// if there is one, against its bound.
type row struct {
	what      string
	name, per string
	// bound is the largest ratio, or the longest time in nanoseconds.
	bound float64
	// allocs is the largest number of allocations, -1 for any.
	allocs int
}

// packages hold the benchmarks that the rows name.
var packages = []string{".", "./internal/eval", "./internal/rules"}

var rows = []row{
	{"facts in, verdict out, vector seen before", "BenchmarkOutcomeSeen", "", 500, 0},
	{"… against cedar-go on the same policy", "BenchmarkOutcomeSeen", "BenchmarkCedar", 1, -1},
	{"… vector seen for the first time", "BenchmarkOutcomeUnseen", "", 15_000, -1},
	{"compile and prepare", "BenchmarkNew", "", 25e6, -1},
	{"whole check of a command against one bare parse", "BenchmarkCheckCommand/rules=10", "BenchmarkBareParse", 8, -1},
	{"whole check of a command", "BenchmarkCheckCommand/rules=10", "", 30_000, -1},
	{"whole check of a path against EvalSymlinks", "BenchmarkCheckPath", "BenchmarkEvalSymlinks", 1.5, -1},
	{"10 to 10,000 rules, whole check", "BenchmarkCheckCommand/rules=10000", "BenchmarkCheckCommand/rules=10", 1.1, -1},
	{"open with 10 rules", "BenchmarkOpen/rules=10", "", 60e6, -1},
}

// line reads one result of `go test -bench`.
var line = regexp.MustCompile(`^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(.*)$`)

var allocsColumn = regexp.MustCompile(`(\d+) allocs/op`)

type figure struct {
	ns     []float64
	allocs int
}

func main() {
	count := flag.Int("count", 5, "runs of each benchmark; the median counts")
	time := flag.String("benchtime", "200ms", "time of each run")
	flag.Parse()
	figures, err := run(*count, *time)
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
	os.Exit(report(figures))
}

// run runs every benchmark of every package, package by package, and keeps all
// figures.
func run(count int, time string) (map[string]*figure, error) {
	figures := map[string]*figure{}
	for _, p := range packages {
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem",
			"-count", strconv.Itoa(count), "-benchtime", time, "-timeout", "30m", p)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p, err, out)
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		for lines.Scan() {
			m := line.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			ns, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", lines.Text(), err)
			}
			f := figures[m[1]]
			if f == nil {
				f = &figure{allocs: -1}
				figures[m[1]] = f
			}
			f.ns = append(f.ns, ns)
			if a := allocsColumn.FindStringSubmatch(m[3]); a != nil {
				f.allocs, _ = strconv.Atoi(a[1])
			}
		}
	}
	return figures, nil
}

func (f *figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.ns))
	return sorted[len(sorted)/2]
}

func report(figures map[string]*figure) int {
	code := 0
	fmt.Printf("%-50s %14s %14s %8s  %s\n", "what", "figure", "bound", "allocs", "")
	for _, r := range rows {
		f := figures[r.name]
		if f == nil {
			fmt.Printf("%-50s no benchmark %s\n", r.what, r.name)
			code = 1
			continue
		}
		value, unit := f.median(), "time"
		if r.per != "" {
			base := figures[r.per]
			if base == nil {
				fmt.Printf("%-50s no benchmark %s\n", r.what, r.per)
				code = 1
				continue
			}
			value, unit = value/base.median(), "ratio"
		}
		verdict := "ok"
		if value > r.bound || r.allocs >= 0 && f.allocs > r.allocs {
			verdict, code = "MISSED", 1
		}
		fmt.Printf("%-50s %14s %14s %8d  %s\n", r.what, show(value, unit), show(r.bound, unit), f.allocs, verdict)
	}
	fmt.Println("\nall benchmarks (median):")
	names := make([]string, 0, len(figures))
	for name := range figures {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("  %-60s %14s %6d allocs\n", strings.TrimPrefix(name, "Benchmark"), show(figures[name].median(), "time"), figures[name].allocs)
	}
	return code
}

func show(v float64, unit string) string {
	switch {
	case unit == "ratio":
		return fmt.Sprintf("%.2f x", v)
	case v >= 1e6:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.2f us", v/1e3)
	}
	return fmt.Sprintf("%.1f ns", v)
}
