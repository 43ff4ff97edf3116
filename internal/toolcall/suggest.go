package toolcall

import (
	"slices"
	"strconv"
	"strings"
)

// didYouMean names the known name nearest to a misspelt one, as a question to
// put behind an error, or "".
func didYouMean(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

// nearest returns the known name with the smallest edit distance to name, at
// most a third of its length, or "".
func nearest(name string, known []string) string {
	if len(name) > maxKeyShown {
		return ""
	}
	known = slices.Sorted(slices.Values(known))
	best, limit := "", max(1, len(name)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k), limit); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b, or limit if it is not less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
