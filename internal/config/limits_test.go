package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A megabyte is the most that a file may have. Whatever is in it, reading it
// takes a bounded time, and the error a bounded space.
func TestAMegabyteOfMaliceIsReadInTime(t *testing.T) {
	repeat := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.Contains(format, "%") {
				fmt.Fprintf(&b, format, i)
			} else {
				b.WriteString(format)
			}
		}
		return b.String()
	}
	long := strings.Repeat("k", 8000)
	for name, text := range map[string]string{
		"unknown keys":        "{" + repeat(`"x%d":0`, 49_000) + "}",
		"near keys":           "{" + repeat(`"permission%d":0`, 49_000) + "}",
		"long unknown keys":   "{" + repeat(`"`+strings.Repeat("p", 90)+`%d":0`, 10_000) + "}",
		"one endless key":     `{"` + strings.Repeat("k", 1_000_000) + `": 0}`,
		"comments of numbers": `{"$comment": [` + repeat("1", 49_000) + "]}",
		"rules of no kind":    `{"permissions": {"allow": [` + repeat("0", 49_000) + "]}}",
		"broken rules":        `{"permissions": {"deny": [` + repeat(`"("`, 19_000) + "]}}",
		"empty paths":         `{"sandbox": {"denyRead": [` + repeat(`""`, 49_000) + "]}}",
		"hosts":               `{"network": {"allow": [` + repeat(`"*.a%d.example.com"`, 900) + `,"*"]}}`,
		"long names, deep":    strings.Repeat(`{"`+long+`":`, 60) + "[" + repeat("1", 49_000) + "]" + strings.Repeat("}", 60),
		"huge numbers":        `{"limits": {"maxSteps": [` + repeat("1e299", 49_000) + "]}}",
		"formatters":          `{"formatters": {"commands": {` + repeat(`"f%d":true`, 49_000) + "}}}",
		"many lines":          "{" + strings.Repeat("\n", 900_000) + `"zzz": 0}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(text), MaxFileSize)
			start := time.Now()
			_, err := ParseSettings("settings.json", []byte(text))
			took := time.Since(start)
			require.Error(t, err)
			assert.Less(t, len(err.Error()), 600)
			assert.Less(t, took, 30*time.Second)
			t.Log(took.Round(time.Millisecond), err)
		})
	}
}
