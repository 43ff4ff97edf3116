// Testsum reads `go test -json` from standard input and prints what a person
// wants to know: the output of every failed test, one line per package, every
// skipped test by name, and a closing count. It exits 1 if anything failed, if
// nothing ran, or if a test was skipped that the file named by -allow-skips does
// not list (one "package test" pair a line, '#' starts a comment).
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	allowFile := flag.String("allow-skips", "", "file with the tests that may be skipped; empty allows every skip, loudly")
	flag.Parse()
	os.Exit(run(*allowFile))
}

func run(allowFile string) int {
	allowed, err := readAllowed(allowFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		return 1
	}
	var (
		output                  = map[string][]string{}
		failed, skipped, broken []string
		passed                  int
		packages                = map[string]bool{}
	)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<20), 1<<26)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text())
			continue
		}
		name := strings.TrimSpace(e.Package + " " + e.Test)
		switch e.Action {
		case "output":
			output[name] = append(output[name], e.Output)
		case "build-output":
			fmt.Print(e.Output)
		case "build-fail":
			broken = append(broken, e.ImportPath)
		case "pass", "fail", "skip":
			if e.Test == "" {
				packages[e.Package] = true
				fmt.Printf("%-5s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
				if e.Action == "fail" {
					fmt.Print(strings.Join(output[name], ""))
					broken = append(broken, e.Package)
				}
				continue
			}
			switch e.Action {
			case "pass":
				passed++
			case "fail":
				failed = append(failed, name)
				fmt.Printf("--- FAIL %s\n%s", name, strings.Join(output[name], ""))
			case "skip":
				skipped = append(skipped, name)
				fmt.Printf("--- SKIP %s: %s\n", name, skipReason(output[name]))
			}
			delete(output, name)
		}
	}
	code := 0
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "testsum: reading the test output:", err)
		code = 1
	}
	sort.Strings(skipped)
	if allowFile != "" {
		for _, s := range skipped {
			if !slices.Contains(allowed, s) {
				fmt.Printf("skipped, but not listed in %s: %s\n", allowFile, s)
				code = 1
			}
		}
	}
	for _, f := range failed {
		fmt.Println("failed:", f)
	}
	for _, b := range broken {
		fmt.Println("failed package:", b)
	}
	if len(failed) > 0 || len(broken) > 0 || passed == 0 {
		code = 1
	}
	fmt.Printf("%d packages\n%d passed, %d failed, %d skipped\n", len(packages), passed, max(len(failed), min(len(broken), 1)), len(skipped))
	return code
}

func skipReason(lines []string) string {
	var keep []string
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "=== ") || strings.HasPrefix(l, "--- ") {
			continue
		}
		keep = append(keep, l)
	}
	return strings.Join(keep, " ")
}

func readAllowed(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return out, nil
}
