package approve

import (
	"fmt"

	"github.com/lictor-policy/lictor/internal/model"
)

func (d *document) changes() {
	hunks := Hunks(d.request.Changes)
	for i := range d.request.Changes {
		c := &d.request.Changes[i]
		d.blank()
		d.add(changeHead(c, hunks, i))
		for h := range hunks {
			if hunks[h].Change == i {
				d.hunk(&hunks[h])
			}
		}
	}
}

func changeHead(c *model.Change, hunks []Hunk, at int) Row {
	added, removed := 0, 0
	for h := range hunks {
		if hunks[h].Change != at {
			continue
		}
		for _, line := range hunks[h].Lines {
			switch line.Kind {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	what, style := "change", StylePlain
	switch {
	case c.Delete:
		what, style = "DELETE", StyleDanger
	case c.Old == nil:
		what = "new file"
	case added+removed == 0:
		what = "no change in"
	}
	return indented(Span{what + " ", style}, Span{visible(c.Path), StyleHeading},
		Span{fmt.Sprintf("  +%d -%d", added, removed), StyleDim})
}

func (d *document) hunk(h *Hunk) {
	d.add(Row{Spans: []Span{{h.Header(), StyleHunk}}, Hunk: h.Number, Head: true})
	for i := range h.Lines {
		line := &h.Lines[i]
		style := StylePlain
		switch line.Kind {
		case '+':
			style = StyleAdded
		case '-':
			style = StyleRemoved
		}
		text := string(line.Kind) + visibleLine(line.Text)
		d.add(Row{Spans: []Span{{text, style}}, Indent: 1, Hunk: h.Number})
		if line.NoNewline {
			d.add(Row{Spans: []Span{{`\ no newline at the end`, StyleDim}}, Hunk: h.Number})
		}
	}
}

// hunkRows returns the index of the first row of each hunk, in order.
func hunkRows(rows []Row) []int {
	var out []int
	for i := range rows {
		if rows[i].Head {
			out = append(out, i)
		}
	}
	return out
}
