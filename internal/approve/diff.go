package approve

import (
	"slices"
	"strings"
)

// Limits that keep a diff cheap whatever the texts are: what would cost more is
// shown as replaced from its first to its last change.
const (
	maxDiffLines = 400_000
	maxEdits     = 800
	maxDepth     = 24
)

// edit says that the lines a[a0:a1] become b[b0:b1].
type edit struct{ a0, a1, b0, b1 int }

// splitLines cuts a text after each newline; an empty text has no lines.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// diffLines returns the edits that turn a into b, in order, none empty, none
// touching another.
func diffLines(a, b []string) []edit {
	d := differ{a: make([]int32, len(a)), b: make([]int32, len(b))}
	if len(a)+len(b) > maxDiffLines {
		d.depth = maxDepth
	}
	ids := make(map[string]int32, len(a)+len(b))
	number := func(lines []string, out []int32) {
		for i, line := range lines {
			id, ok := ids[line]
			if !ok {
				id = int32(len(ids))
				ids[line] = id
			}
			out[i] = id
		}
	}
	number(a, d.a)
	number(b, d.b)
	d.old, d.new = make([]int32, len(ids)), make([]int32, len(ids))
	d.at = make([]int32, len(ids))
	d.between(0, len(a), 0, len(b))
	return d.edits
}

// differ holds the lines as numbers. Lines that stand once on either side are
// the anchors (patience); between anchors it looks for the shortest edit (Myers).
type differ struct {
	a, b  []int32
	edits []edit
	depth int
	// old and new count a line in the section at hand, at is its place in a.
	old, new, at []int32
}

func (d *differ) add(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	if n := len(d.edits); n > 0 && d.edits[n-1].a1 == a0 && d.edits[n-1].b1 == b0 {
		d.edits[n-1].a1, d.edits[n-1].b1 = a1, b1
		return
	}
	d.edits = append(d.edits, edit{a0, a1, b0, b1})
}

func (d *differ) between(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 || d.depth >= maxDepth {
		d.add(a0, a1, b0, b1)
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		d.shortest(a0, a1, b0, b1)
		return
	}
	for _, p := range anchors {
		d.between(a0, p[0], b0, p[1])
		a0, b0 = p[0]+1, p[1]+1
	}
	d.between(a0, a1, b0, b1)
}

// anchors returns the longest rising sequence of lines that stand exactly once
// in both sections, as pairs of indexes.
func (d *differ) anchors(a0, a1, b0, b1 int) [][2]int {
	for i := a0; i < a1; i++ {
		d.old[d.a[i]]++
		d.at[d.a[i]] = int32(i)
	}
	for i := b0; i < b1; i++ {
		d.new[d.b[i]]++
	}
	var pairs [][2]int
	for i := b0; i < b1; i++ {
		if id := d.b[i]; d.old[id] == 1 && d.new[id] == 1 {
			pairs = append(pairs, [2]int{int(d.at[id]), i})
		}
	}
	for i := a0; i < a1; i++ {
		d.old[d.a[i]] = 0
	}
	for i := b0; i < b1; i++ {
		d.new[d.b[i]] = 0
	}
	return rising(pairs)
}

// rising returns the longest subsequence whose first numbers rise.
func rising(pairs [][2]int) [][2]int {
	tails, before := []int{}, make([]int, len(pairs))
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(tails, p[0], func(t, want int) int { return pairs[t][0] - want })
		before[i] = -1
		if at > 0 {
			before[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	out := make([][2]int, len(tails))
	for i, at := len(tails)-1, -1; i >= 0; i-- {
		if at < 0 {
			at = tails[i]
		}
		out[i] = pairs[at]
		at = before[at]
	}
	return out
}

// shortest adds the shortest edit of the sections, or one edit over all of them
// if it takes too many steps.
func (d *differ) shortest(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	limit := min(n+m, maxEdits)
	// reach[k] is how far in a the diagonal k (a minus b) has come.
	reach := make([]int32, 2*limit+3)
	off := limit + 1
	var history [][]int32
	for step := 0; step <= limit; step++ {
		for k := -step; k <= step; k += 2 {
			x := int(reach[off+k-1]) + 1
			if k == -step || k != step && reach[off+k-1] < reach[off+k+1] {
				x = int(reach[off+k+1])
			}
			for x < n && x-k >= 0 && x-k < m && d.a[a0+x] == d.b[b0+x-k] {
				x++
			}
			reach[off+k] = int32(x)
			if x >= n && x-k >= m {
				d.trace(a0, b0, n, m, history)
				return
			}
		}
		history = append(history, slices.Clone(reach[off-step:off+step+1]))
	}
	d.add(a0, a1, b0, b1)
}

// trace walks the steps back and adds the edits in order.
func (d *differ) trace(a0, b0, n, m int, history [][]int32) {
	var steps []edit
	x, y := n, m
	for step := len(history); step > 0; step-- {
		reach := history[step-1]
		at := func(k int) int32 {
			if k < -(step-1) || k > step-1 {
				return -1
			}
			return reach[k+step-1]
		}
		k := x - y
		if k == -step || k != step && at(k-1) < at(k+1) {
			px := int(at(k + 1))
			py := px - k - 1
			steps = append(steps, edit{px, px, py, py + 1})
			x, y = px, py
		} else {
			px := int(at(k - 1))
			py := px - k + 1
			steps = append(steps, edit{px, px + 1, py, py})
			x, y = px, py
		}
	}
	for _, s := range slices.Backward(steps) {
		d.add(a0+s.a0, a0+s.a1, b0+s.b0, b0+s.b1)
	}
}
