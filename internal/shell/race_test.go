//go:build race

package shell

const raceDetector = true
