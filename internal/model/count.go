package model

import "strconv"

// Count says a number with its noun, which takes an s unless the number is 1:
// "1 rule", "2 rules".
func Count[N int | int64 | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatUint(uint64(n), 10) + " " + noun
}
