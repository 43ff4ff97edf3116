package approve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// context is how many unchanged lines stand around a change.
const contextLines = 3

// Hunk is one piece of a file change that can be accepted or refused by itself.
type Hunk struct {
	// Number counts from 1 through all changes of a request.
	Number int `json:"number"`
	// Change is the index of the change, Path its file.
	Change int    `json:"change"`
	Path   string `json:"path"`
	// OldStart and NewStart are line numbers from 1 (0 before the first line of an
	// empty side), OldLines and NewLines how many lines the hunk has on each side.
	OldStart, OldLines, NewStart, NewLines int
	Lines                                  []DiffLine

	edits []edit
}

// DiffLine is one line of a hunk.
type DiffLine struct {
	// Kind is ' ', '+' or '-'.
	Kind byte
	// Text is the line without its newline, as it is in the file.
	Text string
	// NoNewline says that the file ends here without a newline.
	NoNewline bool
}

// Header is the hunk's `@@` line.
func (h *Hunk) Header() string {
	side := func(start, n int) string {
		if n == 1 {
			return fmt.Sprint(start)
		}
		return fmt.Sprintf("%d,%d", start, n)
	}
	return fmt.Sprintf("@@ -%s +%s @@", side(h.OldStart, h.OldLines), side(h.NewStart, h.NewLines))
}

// Hunks returns the hunks of all changes in order. A new file and a deleted one
// are one hunk each; a change that changes nothing has none.
func Hunks(changes []model.Change) []Hunk {
	var out []Hunk
	for i := range changes {
		for _, h := range hunksOf(&changes[i]) {
			h.Number, h.Change, h.Path = len(out)+1, i, changes[i].Path
			out = append(out, h)
		}
	}
	return out
}

func sides(c *model.Change) (a, b []string) {
	if c.Old != nil {
		a = splitLines(*c.Old)
	}
	if !c.Delete {
		b = splitLines(c.New)
	}
	return a, b
}

func hunksOf(c *model.Change) []Hunk {
	a, b := sides(c)
	var edits []edit
	if c.Old == nil || c.Delete {
		edits = []edit{{0, len(a), 0, len(b)}}
	} else {
		edits = diffLines(a, b)
	}
	var out []Hunk
	for i := 0; i < len(edits); {
		end := i + 1
		for end < len(edits) && edits[end].a0-edits[end-1].a1 <= 2*contextLines {
			end++
		}
		out = append(out, makeHunk(a, b, edits[i:end]))
		i = end
	}
	return out
}

func makeHunk(a, b []string, edits []edit) Hunk {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(contextLines, first.a0)
	tail := min(contextLines, len(a)-last.a1)
	h := Hunk{edits: edits}
	from := first.a0 - lead
	h.OldStart, h.OldLines = from+1, last.a1+tail-from
	h.NewStart, h.NewLines = first.b0-lead+1, last.b1+tail-(first.b0-lead)
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	add := func(kind byte, lines []string) {
		for _, line := range lines {
			text, whole := strings.CutSuffix(line, "\n")
			h.Lines = append(h.Lines, DiffLine{Kind: kind, Text: text, NoNewline: !whole})
		}
	}
	at := from
	for _, e := range edits {
		add(' ', a[at:e.a0])
		add('-', a[e.a0:e.a1])
		add('+', b[e.b0:e.b1])
		at = e.a1
	}
	add(' ', a[at:last.a1+tail])
	return h
}

// Apply returns what remains of the changes if only these hunks are accepted: a
// change without an accepted hunk is left out, another one gets the text that
// the accepted hunks alone lead to. Nil accepts everything. The numbers are those
// of Hunks; one that does not exist is an error.
func Apply(changes []model.Change, accepted []int) ([]model.Change, error) {
	if accepted == nil {
		return changes, nil
	}
	hunks := Hunks(changes)
	for _, n := range accepted {
		if n < 1 || n > len(hunks) {
			return nil, fmt.Errorf("there is no hunk %d: the change has %d", n, len(hunks))
		}
	}
	var out []model.Change
	for i := range changes {
		c := changes[i]
		a, b := sides(&c)
		var text strings.Builder
		at, taken, left := 0, 0, 0
		for h := range hunks {
			if hunks[h].Change != i {
				continue
			}
			if !slices.Contains(accepted, hunks[h].Number) {
				left++
				continue
			}
			taken++
			for _, e := range hunks[h].edits {
				write(&text, a[at:e.a0])
				write(&text, b[e.b0:e.b1])
				at = e.a1
			}
		}
		if taken == 0 {
			continue
		}
		if left > 0 {
			write(&text, a[at:])
			c.New = text.String()
		}
		out = append(out, c)
	}
	return out, nil
}

// write joins lines. Where a refused hunk would have taken away or given the
// last newline of the file, the lines before need one all the same.
func write(out *strings.Builder, lines []string) {
	for _, line := range lines {
		if s := out.String(); s != "" && s[len(s)-1] != '\n' {
			out.WriteByte('\n')
		}
		out.WriteString(line)
	}
}

// Unified returns the changes as one unified diff, as it is, without anything
// made visible: for programs. People get Document.
func Unified(changes []model.Change) string {
	var b strings.Builder
	at := -1
	for _, h := range Hunks(changes) {
		if h.Change != at {
			at = h.Change
			from, to := names(&changes[at])
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
		}
		b.WriteString(h.Header() + "\n")
		for _, line := range h.Lines {
			b.WriteByte(line.Kind)
			b.WriteString(line.Text + "\n")
			if line.NoNewline {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

func names(c *model.Change) (from, to string) {
	from, to = "a/"+c.Path, "b/"+c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.Delete {
		to = "/dev/null"
	}
	return from, to
}
