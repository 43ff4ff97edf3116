package lictor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lictor-policy/lictor"
)

// benchProject is a project with n rules: prefixes, a few globs, paths, hosts.
func benchProject(b *testing.B, n int) *lictor.Engine {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	root, home := filepath.Join(dir, "root"), filepath.Join(dir, "home")
	deep := filepath.Join(root, "a/b/c/d/e/f")
	for _, d := range []string{deep, filepath.Join(root, ".lictor"), filepath.Join(home, ".lictor")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(deep, "file.go"), nil, 0o600); err != nil {
		b.Fatal(err)
	}
	var allow, deny []string
	for i := range n {
		switch i % 20 {
		case 0, 1, 2:
			deny = append(deny, fmt.Sprintf("Bash(tool%d delete *)", i))
		case 3:
			deny = append(deny, fmt.Sprintf("Bash(*--force-%d*)", i))
		case 4, 5, 6:
			allow = append(allow, fmt.Sprintf("Write(src/mod%d/**)", i))
		case 7, 8:
			allow = append(allow, fmt.Sprintf("Fetch(https://host%d.example.com/*)", i))
		default:
			allow = append(allow, fmt.Sprintf("Bash(tool%d run *)", i))
		}
	}
	allow = append(allow, "Bash(go *)", "Bash(git *)", "Bash(grep *)", "Bash(head *)")
	// The home folder's file needs no consent.
	data, err := json.Marshal(map[string]any{"permissions": map[string]any{"allow": allow, "deny": deny}})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".lictor/permissions.json"), data, 0o600); err != nil {
		b.Fatal(err)
	}
	// The record has figures of its own, in the audit package.
	e, err := lictor.Open(context.Background(), lictor.Options{Root: root, Home: home, NoRecord: true})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// benchCommands are everyday commands without paths.
var benchCommands = []string{
	"go test ./...",
	"git status --short",
	"go vet ./... && go test -race ./...",
	`git commit -m "fix: a && b; c | d"`,
	"git log --oneline | head -20 | grep fix",
}

func commandCall(command string) lictor.Call {
	args, _ := json.Marshal(map[string]string{"command": command})
	return lictor.Call{Tool: "bash", Args: args, Shell: "bash"}
}

func benchCheck(b *testing.B, e *lictor.Engine, calls []lictor.Call) {
	b.ReportAllocs()
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		v, err := e.Check(ctx, calls[i%len(calls)])
		if err != nil || v.Decision == lictor.Deny {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkCheckCommand(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			e := benchProject(b, n)
			var calls []lictor.Call
			for _, c := range benchCommands {
				calls = append(calls, commandCall(c))
			}
			benchCheck(b, e, calls)
		})
	}
}

// BenchmarkBareParse is what one bash parse of the same texts costs.
func BenchmarkBareParse(b *testing.B) {
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for i := 0; b.Loop(); i++ {
		if _, err := p.Parse(strings.NewReader(benchCommands[i%len(benchCommands)]), ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckPath(b *testing.B) {
	e := benchProject(b, 10)
	benchCheck(b, e, []lictor.Call{{Tool: "read_file", Args: []byte(`{"path":"a/b/c/d/e/f/file.go"}`)}})
}

// BenchmarkEvalSymlinks is what the standard library needs to resolve the same
// path.
func BenchmarkEvalSymlinks(b *testing.B) {
	e := benchProject(b, 10)
	path := filepath.Join(e.Root(), "a/b/c/d/e/f/file.go")
	for b.Loop() {
		if _, err := filepath.EvalSymlinks(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			e := benchProject(b, n)
			o := lictor.Options{Root: e.Root(), Home: filepath.Join(filepath.Dir(e.Root()), "home")}
			for b.Loop() {
				if _, err := lictor.Open(context.Background(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
