package shell

import (
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// FuzzAnalyze: no text makes Analyze panic or hang, the fields of a command fit
// together, and the canonical spelling of a part reads back as itself.
func FuzzAnalyze(f *testing.F) {
	for _, e := range everyday {
		f.Add(e.text)
	}
	for _, r := range testcase.Lines[corpusRow](f, "testdata/corpus.jsonl") {
		if len(r.Command) < 400 {
			f.Add(r.Command)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, sh := range []model.Shell{model.ShellBash, model.ShellUnknown, model.ShellPOSIX} {
			c := Analyze(text, sh)
			checkCommand(t, text, c)
			if sh == model.ShellBash && !c.Opaque && len(text) < 4096 {
				checkCanonical(t, c)
			}
		}
	})
}

func checkCommand(t *testing.T, text string, c *model.Command) {
	t.Helper()
	if c.Source != text {
		t.Fatal("the source must stay")
	}
	if c.Opaque != (len(c.Reasons) > 0) || c.Opaque == (c.Grade == model.GradeStatic) {
		t.Fatalf("opaque %v, grade %s, reasons %v", c.Opaque, c.Grade, c.Reasons)
	}
	for _, code := range c.Reasons {
		if code == "internal" {
			t.Fatalf("internal error on %q", text)
		}
		if Explain(code) == code {
			t.Fatalf("reason %q has no words", code)
		}
	}
	for _, r := range c.Redirects {
		if r.Part < -1 || r.Part >= len(c.Parts) {
			t.Fatalf("redirect of part %d in %q", r.Part, text)
		}
	}
	for _, u := range c.Files {
		if u.Part < -1 || u.Part >= len(c.Parts) {
			t.Fatalf("file of part %d in %q", u.Part, text)
		}
	}
	Describe(c)
}

func checkCanonical(t *testing.T, c *model.Command) {
	t.Helper()
	for i := range c.Parts {
		canon := c.Parts[i].Canonical
		if !checkText(canon, func(reason) {}) {
			continue // a decoded $'\r' cannot be written as it is
		}
		again := Analyze(canon, model.ShellBash)
		if len(again.Parts) == 0 || again.Parts[0].Canonical != canon {
			t.Fatalf("part %q of %q reads back as %q %v", canon, c.Source, canonicals(again), again.Reasons)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("commit -m 'a b' \"c \\\" d\" e\\ f")
	f.Fuzz(func(t *testing.T, text string) {
		words, err := Words(text)
		if err != nil {
			return
		}
		quoted := make([]string, len(words))
		for i := range words {
			quoted[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
		}
		again, err := Words(strings.Join(quoted, " "))
		if err != nil || len(again) != len(words) {
			t.Fatalf("%q: %q, then %q %v", text, words, again, err)
		}
		for i := range again {
			if again[i] != words[i] {
				t.Fatalf("%q: %q, then %q", text, words, again)
			}
		}
	})
}

func FuzzOptionMatch(f *testing.F) {
	f.Add("rm -rf*", "rm -r -f x")
	f.Add("git push --force*", "git -C r push +x")
	f.Fuzz(func(t *testing.T, pattern, command string) {
		p, ok := OptionMatch(pattern)
		if ok != (p != nil) {
			t.Fatal("a pattern or none")
		}
		if ok {
			p.Covers(strings.Fields(command))
			p.CoversCommand(Analyze(command, model.ShellBash))
		}
	})
}

func FuzzSed(f *testing.F) {
	f.Add("s/a/b/e;1e ls")
	f.Fuzz(func(t *testing.T, script string) {
		Analyze("sed '"+strings.ReplaceAll(script, "'", "")+"' f", model.ShellBash)
	})
}
