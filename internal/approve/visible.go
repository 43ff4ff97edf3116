package approve

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// visible makes a text safe and unambiguous on one line.
func visible(text string) string { return pathguard.Escape(text) }

// visibleLine is visible for a line of a file: tabs become blanks, and the
// carriage return of a Windows line is shown as a mark, since both are harmless.
func visibleLine(text string) string {
	text, cr := strings.CutSuffix(text, "\r")
	if strings.Contains(text, "\t") {
		text = expandTabs(text)
	}
	text = visible(text)
	if cr {
		text += "␍"
	}
	return text
}

func expandTabs(text string) string {
	var b strings.Builder
	column := 0
	for _, r := range text {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		for n := 4 - column%4; n > 0; n-- {
			b.WriteByte(' ')
			column++
		}
	}
	return b.String()
}

// visibleLines is visibleLine for each line of a text.
func visibleLines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, visibleLine(line))
	}
	return out
}

// Hidden returns a warning for each text of the request that holds characters
// which a terminal would not show as they are: control characters, bidirectional
// and zero-width characters, bytes that are no UTF-8, and words that mix letters
// of different scripts so that one looks like another. Empty if there are none.
func Hidden(request *model.Request) []string {
	var out []string
	look := func(where, text string, prose bool) {
		if found := hiddenIn(text, prose); len(found) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", where, strings.Join(found, ", ")))
		}
	}
	look("tool name", request.Tool, false)
	for i := range request.Targets {
		t := &request.Targets[i]
		switch t.Kind {
		case model.KindCommand:
			if t.Command != nil {
				look("command", t.Source, false)
			}
		case model.KindPath:
			look("path", t.Text, false)
		case model.KindURL:
			look("URL", t.URL, false)
		case model.KindInput:
			look("arguments", string(t.JSON), true)
		}
	}
	look("title", request.Title, true)
	look("question", request.Question, true)
	look("preview", request.Preview, true)
	for i := range request.Changes {
		c := &request.Changes[i]
		look("path", c.Path, false)
		old := ""
		if c.Old != nil {
			old = *c.Old
		}
		// What was there before is no news: only new lines are looked at.
		if !c.Delete && c.New != old {
			look("new text of "+visible(c.Path), addedText(c), true)
		}
	}
	return out
}

func addedText(c *model.Change) string {
	var b strings.Builder
	for _, h := range hunksOf(c) {
		for _, line := range h.Lines {
			if line.Kind == '+' {
				b.WriteString(line.Text + "\n")
			}
		}
	}
	return b.String()
}

// maxNamed is how many different characters a warning names.
const maxNamed = 4

// hiddenIn names the hidden characters of a text. In prose, words of mixed
// scripts are left alone.
func hiddenIn(text string, prose bool) []string {
	var found []string
	more := 0
	note := func(s string) {
		switch {
		case slices.Contains(found, s):
		case len(found) < maxNamed:
			found = append(found, s)
		default:
			more++
		}
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\t', r == '\r' && strings.HasPrefix(text[i+1:], "\n"), r == '\r' && i+1 == len(text):
		case r == utf8.RuneError && n == 1:
			note("a byte that is no text")
		case r < 0x80 && r >= ' ' && r != 0x7f:
		default:
			if visible(text[i:i+n]) != text[i:i+n] {
				note(fmt.Sprintf("U+%04X %s", r, charName(r)))
			}
		}
		i += n
	}
	if !prose {
		for _, word := range mixedWords(text) {
			note("letters of two scripts in " + visible(word))
		}
	}
	if more > 0 {
		found = append(found, fmt.Sprintf("and %d more", more))
	}
	return found
}

func charName(r rune) string {
	switch {
	case r == 0x1b:
		return "escape"
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return "control character"
	case r == 0x200e, r == 0x200f, r == 0x061c, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return "changes the reading direction"
	case r >= 0xe0000 && r <= 0xe007f:
		return "invisible tag"
	case r == 0x2028, r == 0x2029:
		return "line separator"
	case unicode.Is(unicode.Zs, r):
		return "unusual blank"
	}
	return "invisible"
}

// mixedWords returns words that mix Latin letters with Greek or Cyrillic ones.
func mixedWords(text string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin, other := false, false
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek)
		}
		if latin && other {
			out = append(out, word)
		}
	}
	return out
}
