package install

import (
	"fmt"
	"strings"
)

// context is how many unchanged lines surround a hunk.
const context = 3

// maxCells bounds the table of the longest common subsequence; texts that would
// need more are shown as replaced from their first to their last difference.
const maxCells = 4 << 20

// step is one line of a diff: ' ', '-' or '+'.
type step struct {
	op   byte
	text string
}

// unified is a unified diff of two texts.
func unified(from, to, before, after string) string {
	steps := compare(lines(before), lines(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	oldLine, newLine := 1, 1
	for i := 0; i < len(steps); {
		if steps[i].op == ' ' {
			i++
			oldLine++
			newLine++
			continue
		}
		start := max(0, i-context)
		end := hunkEnd(steps, i)
		hunk(&b, steps[start:end], oldLine-(i-start), newLine-(i-start))
		for ; i < end; i++ {
			if steps[i].op != '+' {
				oldLine++
			}
			if steps[i].op != '-' {
				newLine++
			}
		}
	}
	return b.String()
}

// hunkEnd is where the hunk with the change at i ends: behind its context, or
// that of later changes whose contexts touch.
func hunkEnd(steps []step, i int) int {
	last := i
	for j := i; j < len(steps) && j <= last+2*context; j++ {
		if steps[j].op != ' ' {
			last = j
		}
	}
	return min(len(steps), last+1+context)
}

func hunk(b *strings.Builder, steps []step, oldLine, newLine int) {
	var olds, news int
	for _, s := range steps {
		if s.op != '+' {
			olds++
		}
		if s.op != '-' {
			news++
		}
	}
	if olds == 0 {
		oldLine--
	}
	if news == 0 {
		newLine--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldLine, olds, newLine, news)
	for _, s := range steps {
		b.WriteByte(s.op)
		b.WriteString(s.text)
		if !strings.HasSuffix(s.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func lines(text string) []string {
	out := strings.SplitAfter(text, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// compare returns the steps from a to b.
func compare(a, b []string) []step {
	var head, tail []step
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, step{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, step{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

func middle(a, b []string) []step {
	var out []step
	if (len(a)+1)*(len(b)+1) > maxCells {
		for _, text := range a {
			out = append(out, step{'-', text})
		}
		for _, text := range b {
			out = append(out, step{'+', text})
		}
		return out
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, step{' ', a[i]})
			i++
			j++
		case i < len(a) && (j == len(b) || common[(i+1)*width+j] >= common[i*width+j+1]):
			out = append(out, step{'-', a[i]})
			i++
		default:
			out = append(out, step{'+', b[j]})
			j++
		}
	}
	return out
}
