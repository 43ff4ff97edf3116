package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// everyday are commands as agents run them all day.
var everyday = []struct{ name, text string }{
	{"ls", "ls -la src"},
	{"status", "git status --short && git diff --stat"},
	{"commit", `git commit -m "fix: a && b; c | d (#12)"`},
	{"test", "go test ./... 2>&1 | tail -30"},
	{"pipe", "ps aux | grep '[n]ode' | awk '{print $2}' | sort -n | uniq -c | head -5"},
	{"loop", `for f in *.go; do if [ -f "$f" ]; then gofmt -l "$f"; fi; done`},
	{"cd", "cd /some/path && python3 script.py"},
	{"heredoc", "git commit -m \"$(cat <<'EOF'\nfix(parser): handle things\n\n- one\n- two\nEOF\n)\""},
	{"find", "find . -name '*.go' -newer go.mod -exec grep -l 'context' {} +"},
	{"sudo", "sudo systemctl restart nginx"},
	{"npx", "npx tsc --noEmit 2>&1 | head -40"},
}

func BenchmarkAnalyze(b *testing.B) {
	for _, e := range everyday {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyze(e.text, model.ShellBash)
			}
		})
	}
}

// BenchmarkParseOnly is one bare bash parse of the same texts: the yardstick.
func BenchmarkParseOnly(b *testing.B) {
	for _, e := range everyday {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse(e.text, gBash); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnalyzeUnknownShell(b *testing.B) {
	for _, e := range everyday {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyze(e.text, model.ShellUnknown)
			}
		})
	}
}

func BenchmarkDenyForms(b *testing.B) {
	c := Analyze(everyday[4].text, model.ShellBash)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		DenyForms(c, func(s string, _ int) bool { n += len(s); return true })
	}
}

func BenchmarkCovers(b *testing.B) {
	p, _ := OptionMatch("rm -rf*")
	c := Analyze("cd x && rm -r -f build", model.ShellBash)
	b.ReportAllocs()
	for b.Loop() {
		p.CoversCommand(c)
	}
}

func BenchmarkTooLong(b *testing.B) {
	s := strings.Repeat("echo a; ", 10<<20/8)
	for b.Loop() {
		Analyze(s, model.ShellBash)
	}
}

// TestAnalyzeCost keeps the budget: the analysis of an everyday command costs at
// most 5 bare parses of the same text. The best of many rounds is compared, so
// that other work on the machine does not count.
func TestAnalyzeCost(t *testing.T) {
	best := func(f func()) time.Duration {
		least := time.Hour
		for range 60 {
			start := time.Now()
			for range 20 {
				f()
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	var all, parseAll time.Duration
	for _, e := range everyday {
		a := best(func() { Analyze(e.text, model.ShellBash) })
		p := best(func() { _, _ = parse(e.text, gBash) })
		all, parseAll = all+a, parseAll+p
		t.Logf("%-8s %5.2f × a bare parse (%v)", e.name, float64(a)/float64(p), a/20)
	}
	if ratio := float64(all) / float64(parseAll); ratio > 5 {
		t.Errorf("everyday commands cost %.2f bare parses, more than 5", ratio)
	}
}
