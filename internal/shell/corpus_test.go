package shell

import (
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusRow is a line of testdata/corpus.jsonl and testdata/holes.jsonl.
type corpusRow struct {
	ID        string   `json:"id"`
	Class     string   `json:"class"`
	Note      string   `json:"note"`
	Command   string   `json:"command"`
	Parts     []string `json:"parts"`
	Inner     []string `json:"inner"`
	Dynamic   bool     `json:"dynamic"`
	Reasons   []string `json:"reasons"`
	Writes    []string `json:"writes"`
	CmdWrites []string `json:"cmd_writes"`
	Hosts     []string `json:"hosts"`
	Shell     string   `json:"shell"`
	Platforms string   `json:"platforms"`
}

func canonicals(c *model.Command) []string {
	out := []string{}
	for i := range c.Parts {
		out = append(out, c.Parts[i].Canonical)
	}
	return out
}

// denyForms collects what deny rules are tried on.
func denyForms(c *model.Command) []string {
	var out []string
	DenyForms(c, func(s string, _ int) bool { out = append(out, s); return true })
	return out
}

// runs reports whether a deny rule `program` or `program *` hits.
func runs(c *model.Command, program string) bool {
	for _, f := range denyForms(c) {
		if f == program || strings.HasPrefix(f, program+" ") {
			return true
		}
	}
	return false
}

func TestCorpus(t *testing.T) {
	rows := testcase.Lines[corpusRow](t, "testdata/corpus.jsonl")
	require.GreaterOrEqual(t, len(rows), 403)
	for _, r := range rows {
		t.Run(r.ID, func(t *testing.T) {
			checkRow(t, &r, Analyze(r.Command, model.Shell(r.Shell)))
		})
	}
}

func checkRow(t *testing.T, r *corpusRow, c *model.Command) {
	t.Helper()
	assert.Equal(t, r.Dynamic, c.Opaque, "dynamic of %q: %v", r.Command, c.Reasons)
	if !r.Dynamic {
		assert.Equal(t, r.Parts, canonicals(c), "parts of %q", r.Command)
		assert.Equal(t, r.Writes, c.Writes, "writes of %q", r.Command)
	}
	forms := denyForms(c)
	for _, want := range r.Inner {
		if strings.Contains(r.Platforms, "macOS") && runtime.GOOS == "linux" {
			continue
		}
		assert.Contains(t, forms, want, "inner of %q: %q", r.Command, forms)
	}
	rm := slices.ContainsFunc(append(slices.Clone(r.Parts), r.Inner...), func(s string) bool {
		head, _, _ := strings.Cut(s, " ")
		return path.Base(head) == "rm"
	})
	if rm {
		assert.True(t, runs(c, "rm"), "a deny rule for rm on %q: %q", r.Command, forms)
	}
	for _, h := range r.Hosts {
		assert.Contains(t, c.Hosts, h, "hosts of %q", r.Command)
	}
	for _, f := range r.CmdWrites {
		ok := slices.ContainsFunc(c.Files, func(u model.FileUse) bool {
			return u.Value == f && u.Access.Changes()
		})
		assert.True(t, ok, "%q writes %q: %v", r.Command, f, c.Files)
	}
	if c.Opaque {
		assert.NotEmpty(t, c.Reasons)
		assert.NotEqual(t, model.GradeStatic, c.Grade)
	} else {
		assert.Empty(t, c.Reasons)
		assert.Equal(t, model.GradeStatic, c.Grade)
	}
}

// TestHoles holds what the differential test found, each with its reason: a
// command that ran and was not listed, while the text was not opaque.
func TestHoles(t *testing.T) {
	for _, r := range testcase.Lines[corpusRow](t, "testdata/holes.jsonl") {
		t.Run(r.ID, func(t *testing.T) {
			require.NotEmpty(t, r.Note)
			c := Analyze(r.Command, model.Shell(r.Shell))
			checkRow(t, &r, c)
			for _, code := range r.Reasons {
				assert.Contains(t, c.Reasons, code)
			}
		})
	}
}
