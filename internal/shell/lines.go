package shell

import (
	"slices"
	"strings"
)

// A deny rule such as `curl * | sh` speaks of more than one part. For it the
// pipelines and the whole of every list are spelled canonically, also with
// parts replaced by what they run.

const (
	// maxLines bounds the lines of a text, maxLineChoices those of one pipeline,
	// maxLineBytes all of them together.
	maxLines       = 256
	maxLineChoices = 48
	maxLineBytes   = 256 << 10
)

// piece is a part or an operator of a line.
type piece struct {
	text     string
	part     int // -1 for an operator
	from, to int // its inner commands
}

func (w *walker) op(text string) {
	if n := len(w.a.seq); n == 0 || w.a.seq[n-1].part < 0 {
		return // an operator after nothing
	}
	w.a.seq = append(w.a.seq, piece{text: text, part: -1})
}

func (w *walker) op2(text string, part, from int) {
	w.a.seq = append(w.a.seq, piece{text: text, part: part, from: from, to: from})
}

// wholeLine spells the list that was just read, unless it is one part.
func (w *walker) wholeLine() {
	a := w.a
	seq := a.seq
	for len(seq) > 0 && seq[len(seq)-1].part < 0 {
		seq = seq[:len(seq)-1]
	}
	if a.light || len(seq) < 2 {
		return
	}
	a.line(a.spellLine(seq, func(p *piece) string { return p.text }))
	deep := false
	s := a.spellLine(seq, func(p *piece) string {
		if p.to > p.from {
			deep = true
			return a.parts[p.part].Inner[p.to-1].Canonical
		}
		return p.text
	})
	if deep {
		a.line(s)
	}
}

// pipeline spells the pipeline whose stages start at the given places: each
// stage whole, or one of its parts, or what such a part runs.
func (w *walker) pipeline(stages []int) {
	a := w.a
	if a.light {
		return
	}
	choices := make([][]string, len(stages))
	for i, from := range stages {
		to := len(a.seq)
		if i+1 < len(stages) {
			if to = stages[i+1]; to > from && a.seq[to-1].part < 0 {
				to-- // the operator
			}
		}
		choices[i] = a.stageChoices(a.seq[min(from, to):to])
		if len(choices[i]) == 0 {
			return
		}
	}
	pick := make([]int, len(stages))
	for range maxLineChoices {
		n := 0
		for i := range pick {
			n += len(choices[i][pick[i]]) + 3
		}
		var b strings.Builder
		b.Grow(n)
		for i, k := range pick {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(choices[i][k])
		}
		a.line(b.String())
		i := 0
		for ; i < len(pick); i++ {
			if pick[i]++; pick[i] < len(choices[i]) {
				break
			}
			pick[i] = 0
		}
		if i == len(pick) {
			return
		}
	}
}

// stageChoices lists the spellings of one stage, few of them.
func (a *analysis) stageChoices(seq []piece) []string {
	const most = 6
	var out []string
	add := func(s string) {
		if len(out) < most && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(seq) == 0 {
		return nil
	}
	if len(seq) > 1 {
		add(a.spellLine(seq, func(p *piece) string { return p.text }))
	}
	for i := range seq {
		if seq[i].part >= 0 {
			add(seq[i].text)
		}
	}
	for i := range seq {
		if p := &seq[i]; p.part >= 0 {
			for k := p.to - 1; k >= p.from; k-- {
				add(a.parts[p.part].Inner[k].Canonical)
			}
		}
	}
	return out
}

func (a *analysis) spellLine(seq []piece, spell func(*piece) string) string {
	mark := len(a.buf)
	for i := range seq {
		if seq[i].part < 0 {
			a.buf = append(a.buf, seq[i].text...)
		} else {
			a.buf = append(a.buf, spell(&seq[i])...)
		}
	}
	s := string(a.buf[mark:])
	a.buf = a.buf[:mark]
	return s
}

func (a *analysis) line(s string) {
	c := a.c
	a.lineBytes += len(s)
	if len(c.Lines) < maxLines && a.lineBytes < maxLineBytes && s != c.Source && !slices.Contains(c.Lines, s) {
		c.Lines = append(c.Lines, s)
	}
}
