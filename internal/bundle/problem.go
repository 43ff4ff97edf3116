package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one reason why a bundle is refused.
type Problem struct {
	// File is the file in the bundle, Line its line from 1, or 0 if the problem
	// has none.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Rule is the rule that the problem stands in ("deny", "_helper"), or empty.
	Rule string `json:"rule,omitempty"`
	// Text says what is wrong and what to do.
	Text string `json:"text"`
}

// String is "file:line: rule deny: text", without what is not known.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.File != "" {
		b.WriteString(": ")
	}
	if p.Rule != "" {
		fmt.Fprintf(&b, "rule %s: ", p.Rule)
	}
	b.WriteString(p.Text)
	return b.String()
}

// Refused is the error of a bundle that must not be used. Every problem is
// named, not just the first.
type Refused struct {
	// Source is the folder or archive, or the name of an embedded bundle.
	Source   string
	Problems []Problem
}

// Error names the bundle and each problem, one a line.
func (e *Refused) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	if len(lines) == 1 {
		return fmt.Sprintf("bundle %s: %s", e.Source, lines[0])
	}
	return fmt.Sprintf("bundle %s:\n  %s", e.Source, strings.Join(lines, "\n  "))
}

// refusal collects problems.
type refusal struct{ problems []Problem }

func (r *refusal) add(file string, line int, rule, format string, args ...any) {
	p := Problem{File: file, Line: line, Rule: rule, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(r.problems, p) && len(r.problems) < maxProblems {
		r.problems = append(r.problems, p)
	}
}

// err returns a *[Refused] with everything that was collected, by file and line,
// or nil.
func (r *refusal) err(source string) error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return &Refused{Source: source, Problems: r.problems}
}

// maxProblems is how many problems are told; a bundle that has more is not
// written by a person who reads them.
const maxProblems = 50

// refuse makes a *[Refused] of one problem. An error that is one already stays.
func refuse(source, file string, err error) error {
	if known, ok := errors.AsType[*Refused](err); ok {
		return known
	}
	return &Refused{Source: source, Problems: []Problem{{File: file, Text: err.Error()}}}
}
