package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// maxLine is the longest line of a preview or notice in bytes, maxEntriesShown
// how many entries of a list are shown. What is left out is counted.
const (
	maxLine         = 300
	maxEntriesShown = 200
)

// preview writes the question.
func preview(request ConsentRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The files of %s want to loosen safety:\n", visible(request.Root))
	for _, file := range request.Risk.files() {
		fmt.Fprintf(&b, "  %s\n", visible(file))
		for _, item := range request.Risk {
			if item.File == file {
				writeItem(&b, item)
			}
		}
	}
	if len(request.Changed) > 0 {
		fmt.Fprintf(&b, "changed since you accepted it: %s\n", visible(strings.Join(request.Changed, ", ")))
	}
	return b.String()
}

// visible writes control, bidi and zero-width characters as escapes: a
// repository's text must not move the cursor or hide a part of itself.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// writeItem writes one key: on one line if it fits, else an entry a line.
func writeItem(b *strings.Builder, item RiskItem) {
	line := visible(item.String())
	var entries []json.RawMessage
	if len(line) <= maxLine || json.Unmarshal(item.Value, &entries) != nil {
		fmt.Fprintf(b, "    %s\n", cut(line, maxLine))
		return
	}
	fmt.Fprintf(b, "    %s: %d entries\n", visible(item.Key), len(entries))
	for _, entry := range entries[:min(len(entries), maxEntriesShown)] {
		fmt.Fprintf(b, "      %s\n", cut(visible(compact(entry)), maxLine))
	}
	if more := len(entries) - maxEntriesShown; more > 0 {
		fmt.Fprintf(b, "      … and %d more: read the file before you accept it\n", more)
	}
}

// cut shortens a visible text and says by how much.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s… (%d more bytes)", head, len(text)-len(head))
}
