package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lictor-policy/lictor"
)

// ANSI colours of the decisions.
var decisionColour = map[lictor.Decision]string{
	lictor.Allow: "\x1b[32m", lictor.Deny: "\x1b[31m", lictor.Ask: "\x1b[33m",
}

// paint colours a text if the writer is a terminal.
func paint(w io.Writer, colour, text string) string {
	if colour == "" || !coloured(w) {
		return text
	}
	return colour + text + "\x1b[0m"
}

// printVerdict prints a verdict for people on one line: decision and reason.
func printVerdict(w io.Writer, v *lictor.Verdict) error {
	word := paint(w, decisionColour[v.Decision], string(v.Decision))
	pad := strings.Repeat(" ", max(0, 6-len(v.Decision)))
	_, err := fmt.Fprintf(w, "%s%s%s\n", word, pad, v.Reason)
	return err
}
