package approve

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/lictor-policy/lictor/internal/model"
)

// wrap fits the document to the width; the heads of hunks show what is selected.
func (s *screen) wrap() {
	s.lines, s.heads = s.lines[:0], s.heads[:0]
	for i := range s.rows {
		r := s.rows[i]
		if r.Head {
			s.heads = append(s.heads, len(s.lines))
			r = s.head(r)
		}
		for _, text := range fit(&r, s.width, s.colour) {
			s.lines = append(s.lines, screenLine{text, i})
		}
	}
}

func (s *screen) head(r Row) Row {
	if s.hunks < 2 {
		return r
	}
	box, style := "[x] ", StyleCovered
	if !s.accepted[r.Hunk-1] {
		box, style = "[ ] ", StyleDanger
	}
	cursor := "  "
	if r.Hunk == s.hunk {
		cursor = "> "
	}
	spans := []Span{{cursor + box, style}, {fmt.Sprintf("hunk %d of %d ", r.Hunk, s.hunks), StyleHeading}}
	r.Spans = append(spans, r.Spans...)
	return r
}

// body is how many lines of the document fit between banner and footer.
func (s *screen) body() int { return max(s.height-1-len(s.footer()), 1) }

func (s *screen) view() string {
	if s.width == 0 {
		return ""
	}
	out := make([]string, 0, s.height)
	out = append(out, s.banner())
	body := s.body()
	for i := s.offset; i < s.offset+body; i++ {
		if i < len(s.lines) {
			out = append(out, s.lines[i].text)
		} else {
			out = append(out, "")
		}
	}
	out = append(out, s.footer()...)
	if len(out) > s.height {
		out = append(out[:1], out[len(out)-s.height+1:]...)
	}
	return strings.Join(out, "\n")
}

// banner is the first line: dangerous questions look different from afar.
func (s *screen) banner() string {
	var words []string
	for _, d := range s.dangers {
		// Without a sandbox every command would be one: nobody would look twice.
		if d.Class != DangerUnconfined {
			words = append(words, d.Text)
		}
	}
	text, code := " lictor asks", "7"
	switch {
	case HighDanger(s.dangers):
		text, code = " DANGER: "+strings.Join(words, ", "), "1;97;41"
	case len(words) > 0:
		text, code = " CAUTION: "+strings.Join(words, ", "), "30;43"
	}
	text = clip(text, s.width)
	text += strings.Repeat(" ", max(s.width-ansi.StringWidth(text), 0))
	if !s.colour {
		code = "7"
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

// footer is what stands below the document: how much more there is, the choices
// and the keys.
func (s *screen) footer() []string {
	rest := s.below()
	if room := max(s.height-4, 1); len(rest) > room {
		rest = rest[:room]
	}
	return append([]string{s.rule(s.height - 2 - len(rest))}, rest...)
}

func (s *screen) below() []string {
	var out []string
	switch {
	case s.confirm != "":
		out = s.confirmLines()
	case s.height >= 2*len(s.choices)+6:
		for _, answer := range s.choices {
			out = append(out, s.choice(answer))
		}
	default:
		out = s.compact()
	}
	if hint := s.hints(); hint != "" {
		out = append(out, hint)
	}
	return out
}

// rule is the line between document and choices; it says how much of the
// document is out of sight.
func (s *screen) rule(body int) string {
	text := "─"
	below := len(s.lines) - s.offset - body
	switch {
	case below > 0 && s.offset > 0:
		text = fmt.Sprintf("─ ▲ %d above, ▼ %d more below ", s.offset, below)
	case below > 0:
		text = fmt.Sprintf("─ ▼ %d more below ", below)
	case s.offset > 0:
		text = fmt.Sprintf("─ ▲ %d above, the end ", s.offset)
	}
	text = clip(text, s.width)
	text += strings.Repeat("─", max(s.width-ansi.StringWidth(text), 0))
	if below > 0 {
		return paint(StyleCaution, text, s.colour)
	}
	return paint(StyleDim, text, s.colour)
}

func (s *screen) choice(answer model.Answer) string {
	text := " " + keys[answer] + "  " + Label(s.request, answer)
	if rules := Adds(s.request, answer); len(rules) > 0 {
		text += ": " + visible(strings.Join(rules, ", "))
	}
	return s.dimmed(answer, clip(text, s.width))
}

// dimmed paints a choice: faint while keys do not count.
func (s *screen) dimmed(answer model.Answer, text string) string {
	switch {
	case !s.ready():
		return paint(StyleDim, text, s.colour)
	case answer.Allows() && HighDanger(s.dangers):
		return paint(StyleDanger, text, s.colour)
	case answer == model.AnswerDeny:
		return paint(StyleHeading, text, s.colour)
	}
	return text
}

// compact is the choices for a low window: as many in a line as fit.
func (s *screen) compact() []string {
	out := []string{""}
	for _, answer := range s.choices {
		word := keys[answer] + "=" + string(answer)
		last := &out[len(out)-1]
		switch {
		case *last == "":
			*last = " " + word
		case len(*last)+2+len(word) <= s.width:
			*last += "  " + word
		default:
			out = append(out, " "+word)
		}
	}
	for i := range out {
		out[i] = s.dimmed("", clip(out[i], s.width))
	}
	return out
}

// confirmLines ask for the second key and show every rule that it would add, as
// far as half of the window goes.
func (s *screen) confirmLines() []string {
	rows := []Row{row(StyleHeading, " "+Label(s.request, s.confirm)+"?")}
	if s.confirm.Allows() {
		for _, d := range s.dangers {
			if d.High {
				rows = append(rows, indented(Span{"  ! " + d.Text, StyleDanger}))
			}
		}
	}
	for _, rule := range Adds(s.request, s.confirm) {
		rows = append(rows, indented(Span{"  + " + visible(rule), StyleUncovered}))
	}
	last := row(StyleHeading, " Enter = yes, do it   Esc = back   n = no")
	if !s.ready() {
		last = row(StyleDim, last.Spans[0].Text)
	}
	room := max(s.height/2-1, 2)
	var out []string
	for i := range rows {
		out = append(out, fit(&rows[i], s.width, s.colour)...)
	}
	end := fit(&last, s.width, s.colour)
	if len(out)+len(end) > room {
		keep := max(room-len(end)-1, 1)
		hidden := len(out) - keep
		out = append(out[:keep:keep], paint(StyleCaution, clip(fmt.Sprintf("  … %d more: see the end of the text", hidden), s.width), s.colour))
	}
	return append(out, end...)
}

// hints is the last line: what the last key did wrong, or which keys there are.
func (s *screen) hints() string {
	if s.hint != "" {
		return paint(StyleCaution, clip(" "+s.hint, s.width), s.colour)
	}
	var words []string
	if !s.deadline.IsZero() {
		words = append(words, left(s.deadline.Sub(s.now())))
	}
	if s.hunks > 1 {
		words = append(words, fmt.Sprintf("%d/%d hunks", s.selected(), s.hunks), "tab next", "space select")
	}
	if len(s.lines) > s.height/2 {
		words = append(words, "↑↓ pgup pgdn scroll")
	}
	if len(words) == 0 {
		return ""
	}
	return paint(StyleDim, clip(" "+strings.Join(words, " · "), s.width), s.colour)
}

func (s *screen) selected() int {
	n := 0
	for _, ok := range s.accepted {
		if ok {
			n++
		}
	}
	return n
}

func left(d time.Duration) string {
	d = max(d.Round(time.Second), 0)
	if d >= 2*time.Minute {
		return fmt.Sprintf("%d min left", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s left", int(d.Seconds()))
}

// Keys returns which key stands for which answer of the request, for help texts.
func Keys(request *model.Request) map[string]model.Answer {
	out := map[string]model.Answer{}
	for _, answer := range Choices(request) {
		out[keys[answer]] = answer
	}
	return out
}
