//go:build race

package eval

// raced says that the race detector is on: it makes the 200,000 vectors, which
// look for no race, twenty times slower. `make test` runs them without it.
const raced = true
