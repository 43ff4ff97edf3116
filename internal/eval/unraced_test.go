//go:build !race

package eval

// raced says that the race detector is on.
const raced = false
