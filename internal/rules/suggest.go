package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Suggest returns ` (did you mean "x"?)` for the nearest candidate, or "".
func Suggest(word string, candidates []string) string {
	if len(word) > 100 {
		return ""
	}
	reach := 1
	if len(word) > 3 {
		reach = max(2, len(word)/3)
	}
	best, bestDistance := "", reach+1
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + strconv.Quote(best) + "?)"
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour to turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// MisspeltKey says what a key of a permission file was meant to be, as Suggest
// does, or "". inside says that it stands in the object "permissions". Other keys
// are other programs' business, but rules under a misspelt one would be lost.
func MisspeltKey(key string, inside bool) string {
	known := []string{"permissions"}
	if inside {
		known = []string{string(model.EffectAllow), string(model.EffectAsk), string(model.EffectDeny)}
	}
	if slices.Contains(known, key) {
		return ""
	}
	return Suggest(key, known)
}
