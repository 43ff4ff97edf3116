package approve

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// sgr are the colours of the styles: the sixteen that every terminal has, so that
// the user's own scheme decides what they look like.
var sgr = [...]string{
	StylePlain: "", StyleTitle: "1", StyleHeading: "1", StyleDanger: "1;31", StyleCaution: "33",
	StyleDim: "2", StyleAdded: "32", StyleRemoved: "31", StyleHunk: "36",
	StyleUncovered: "1;4;33", StyleCovered: "32",
}

func paint(style Style, text string, colour bool) string {
	if !colour || text == "" || sgr[style] == "" {
		return text
	}
	return "\x1b[" + sgr[style] + "m" + text + "\x1b[m"
}

// Render fits rows to a width (in columns, at least 10) and joins them into text
// that ends with a newline, with colours or without.
func Render(rows []Row, width int, colour bool) string {
	var b strings.Builder
	for i := range rows {
		for _, line := range fit(&rows[i], width, colour) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fit breaks a row at the width, between words where there are some.
func fit(r *Row, width int, colour bool) []string {
	width = max(width, 10)
	indent := min(r.Indent, width/4)
	var out []string
	var line []Span
	used := 0
	flush := func() {
		var b strings.Builder
		for _, s := range line {
			b.WriteString(paint(s.Style, s.Text, colour))
		}
		out = append(out, b.String())
		line, used = nil, 0
	}
	for _, span := range r.Spans {
		rest := span.Text
		for rest != "" {
			if used == 0 && len(out) > 0 && indent > 0 {
				line, used = append(line, Span{strings.Repeat(" ", indent), StylePlain}), indent
			}
			piece, cols := cut(rest, width-used)
			if piece == "" {
				flush()
				continue
			}
			line, used = append(line, Span{piece, span.Style}), used+cols
			if rest = rest[len(piece):]; rest != "" {
				flush()
			}
		}
	}
	flush()
	return out
}

// cut returns the beginning of the text that fits, at a blank if one is near
// the end, and how many columns it takes.
func cut(text string, width int) (string, int) {
	cols, blank, blankCols := 0, -1, 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		w := 1
		if r >= utf8.RuneSelf {
			w = ansi.StringWidth(text[i : i+n])
		}
		if cols+w > width {
			if blank > 0 && blankCols > cols-12 {
				return text[:blank], blankCols
			}
			return text[:i], cols
		}
		i, cols = i+n, cols+w
		if r == ' ' {
			blank, blankCols = i, cols
		}
	}
	return text, cols
}

// clip cuts a text to a width, with a sign that there is more.
func clip(text string, width int) string { return ansi.Truncate(text, max(width, 1), "…") }
