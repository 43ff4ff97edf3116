package rules

import "unsafe"

// view returns the bytes as a string without a copy. The string is good until
// the buffer is written again: it is compared and dropped, never kept.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
